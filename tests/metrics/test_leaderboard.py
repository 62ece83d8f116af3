import csv
import io
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from html_pages import pages_of

from symshift.data.verdict import Estimate
from symshift.metrics.exports import as_csv, as_markdown
from symshift.metrics.findings import as_text, findings_of
from symshift.metrics.intervals import wilson
from symshift.metrics.leaderboard import given_twice, natural_key, sections_of
from symshift.metrics.overview import overviews_of
from symshift.metrics.result import Repeats, Result, Spread
from symshift.metrics.site import write_site
from symshift.metrics.table import format_share

Make = Callable[..., Result]
HOSTILE = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)></style>\u202e|`{{7*7}}"


def said(results: list[Result]) -> list[str]:
    return [as_text(sentence) for sentence in findings_of(sections_of(results))]


def ranks(results: list[Result]) -> dict[str, str]:
    return {
        entry.result.system.name: entry.rank.replace("\N{EN DASH}", "-")
        for section in sections_of(results)
        for entry in section.entries
    }


def test_overlapping_intervals_are_ties(make: Make) -> None:
    results = [make("a", 0.86), make("b", 0.85), make("c", 0.5), make("d", 0.05)]

    assert ranks(results) == {"a": "1-2", "b": "1-2", "c": "3", "d": "4"}


def test_a_chain_of_overlaps_ranks_only_what_is_apart(make: Make) -> None:
    results = [make("a", 0.90), make("b", 0.87), make("c", 0.84)]

    # a and c are apart, b is apart from neither.
    assert ranks(results) == {"a": "1-2", "b": "1-3", "c": "2-3"}


def test_sections_are_in_an_order_that_a_reader_expects(make: Make) -> None:
    data = [("12 names", "more-symbols"), ("8 names", "more-symbols"), ("5 names", "seen")]
    results = [make("a", 0.5, name, regime=regime) for name, regime in data]
    results.append(make("a", 0.5, "1 all renamings", regime="seen", max_renamings=120))

    names = [section.dataset.name for section in sections_of(results)]
    assert names == ["5 names", "1 all renamings", "8 names", "12 names"]
    assert natural_key("8 a") < natural_key("12 a") < natural_key("12 b") < natural_key("a")


def test_equal_results_are_shown_once(make: Make) -> None:
    assert len(sections_of([make("a", 0.5), make("a", 0.5)])[0].entries) == 1


def test_training_seeds_give_mean_and_range_in_a_column_of_their_own(make: Make) -> None:
    shares = {1: 0.8, 2: 0.9, 3: 0.85}
    results = [make("a", share, system={"seed": seed}) for seed, share in shares.items()]
    results.append(make("b", 0.8, system={"seed": 1}))

    by_name = {
        (e.result.system.name, e.result.system.seed): e for e in sections_of(results)[0].entries
    }
    spread = by_name["a", 2].over_seeds
    assert spread is not None
    assert (spread.mean, spread.min, spread.max) == (0.85, 0.8, 0.9)
    assert by_name["a", 2].correct == wilson(900, 1000)
    assert by_name["b", 1].over_seeds is None


def drawn(make: Make, data: str = "toy", scale: float = 1.0, **more: object) -> list[Result]:
    """Return one method's results for two training seeds, of which one has three tables."""
    shares = {(0, 0): 0.6, (0, 1): 0.7, (0, 2): 0.8, (1, 0): 0.9}
    return [
        make("a", scale * share, data, system={"seed": seed, "table_seed": table}, **more)
        for (seed, table), share in shares.items()
    ]


def test_seeds_count_once_each_and_tables_are_a_spread_of_their_own(make: Make) -> None:
    (section,) = sections_of(drawn(make))
    by_seeds = {(e.result.system.seed, e.result.system.table_seed): e for e in section.entries}

    for entry in section.entries:
        assert entry.over_seeds == Spread(mean=0.75, min=0.6, max=0.9, values=(0.6, 0.9))
    tables = Spread(mean=0.7, min=0.6, max=0.8, values=(0.6, 0.7, 0.8))
    assert [by_seeds[0, table].repeats for table in range(3)] == [tables] * 3
    assert by_seeds[0, 1].repeats_over == "table_seed"
    assert by_seeds[1, 0].repeats is None


def test_methods_by_data_sets_use_one_figure_a_seed(make: Make) -> None:
    results = [*drawn(make, "a", regime="seen"), *drawn(make, "b", 0.1, regime="all-unseen")]

    figure = overviews_of(sections_of(results))[0].figures[0][0]
    assert figure is not None
    assert (figure.value, figure.num_seeds) == (pytest.approx(0.75), 2)
    assert "means over up to 2 seeds" in said(results)[0]


def test_tables_without_a_training_seed_are_no_seeds(make: Make) -> None:
    results = [make("a", 0.5 + table / 10, system={"table_seed": table}) for table in range(3)]

    assert [e.over_seeds for e in sections_of(results)[0].entries] == [None] * 3
    pairs = [replace(r, dataset=replace(r.dataset, name="b")) for r in results]
    figure = overviews_of(sections_of([*results, *pairs]))[0].figures[0][0]
    assert figure is not None
    assert (figure.value, figure.num_seeds) == (0.5, 1)


def test_a_result_that_differs_in_its_command_alone_counts_once(make: Make) -> None:
    twice = [make("a", 0.8, system={"seed": 0, "command": command}) for command in ("y", "x")]
    results = [*twice, make("a", 0.9, system={"seed": 1})]

    (section,) = sections_of(results)
    assert [e.result.system.command for e in section.entries] == ["", "x"]
    assert section.entries[0].over_seeds == Spread(mean=0.85, min=0.8, max=0.9, values=(0.8, 0.9))
    assert given_twice(results, ["y.json", "x.json", "z.json"]) == [
        "x.json: the same result as y.json, commands aside; counted once"
    ]


def test_nobody_speaks_for_others_about_a_data_set(make: Make) -> None:
    own = {"fingerprint": "0123456789abcdef", "description": "Mine.", "regime": "seen"}
    mine = make("a", 0.5, "mine", example=("a", "b"), **own)
    (alone,) = sections_of([mine])
    assert (alone.dataset.name, alone.description) == ("mine", "Mine.")
    other = make("b", 0.4, "another", fingerprint=own["fingerprint"], description="Mine.")

    (section,) = sections_of([mine, other])
    data = section.dataset
    assert (data.name, data.description) == ("reversal 01234567", "Mine.")
    assert (data.regime, data.example) == ("", ())


def test_the_page_says_who_breaks_down_and_who_does_not(experiment: list[Result]) -> None:
    found = said(experiment)

    assert found[0] == (
        "lost loses more than half of its correctness in the one test beyond its training. "
        "held never loses that much."
    )
    assert found[1] == (
        "On other names, against names: lost falls from 0.83 [0.81, 0.85] to 0.05 [0.04, 0.07]; "
        "held (0.86 to 0.85) shows no clear change."
    )
    assert found[2].startswith("Some problems can be solved without reading them: ")


def test_what_the_page_says_follows_from_the_numbers(make: Make) -> None:
    rising = [make("m", 0.5, "a", regime="seen"), make("m", 0.7, "b", regime="all-unseen")]
    falling = [make("m", 0.9, "a", regime="seen"), make("m", 0.6, "b", regime="all-unseen")]
    weak = [make("m", 0.11, "a", regime="seen"), make("m", 0.01, "b", regime="all-unseen")]

    kept = "m never loses more than half of its correctness beyond its training."
    assert said(rising)[0] == said(falling)[0] == kept
    assert "m rises from 0.50" in said(rising)[1]
    assert said(falling)[1].startswith("On b, against a: m falls from 0.90")
    assert said(weak)[0] == "m is not clearly better than a trivial answer to begin with."


def test_methods_that_break_down_alike_share_a_sentence(make: Make) -> None:
    shares = {"x": (0.9, 0.1), "y": (0.8, 0.0), "z": (0.9, 0.9)}
    results = [
        make(name, share, data, regime=regime)
        for name, pair in shares.items()
        for share, data, regime in zip(pair, ("a", "b"), ("seen", "all-unseen"), strict=True)
    ]

    assert said(results)[0] == (
        "x and y lose more than half of their correctness in the one test beyond their training. "
        "z never loses that much."
    )


def test_a_result_without_rows_is_no_reason_to_fail(tmp_path: Path, make: Make) -> None:
    nothing = Estimate(None, None, None, 0, "wilson")
    for regime in ("seen", "all-unseen"):
        plain = make("a", 0.5, regime, regime=regime)
        empty = replace(
            plain,
            dataset=replace(plain.dataset, rows=0),
            counts={},
            estimates=dict.fromkeys(plain.estimates, nothing),
        )
        assert said([empty])[0] == f"On {regime} a leads with no figure."
        write_site([empty, make("a", 0.5, "other", regime="seen")], tmp_path)


def test_shares_are_not_rounded_to_none_or_all() -> None:
    shown = [format_share(value) for value in (0, 1, 0.5, 0.994, 0.998, 0.9999, 0.004, 0.0001)]

    assert shown == ["0.00", "1.00", "0.50", "0.99", "0.998", ">0.999", "0.004", "<0.001"]


def test_without_a_reference_the_page_names_the_leaders(make: Make) -> None:
    found = said([make("a", 0.86), make("b", 0.85), make("c", 0.2)])

    assert found[0] == (
        "On toy a and b lead with 0.86 [0.84, 0.88] (a tie: their intervals overlap)."
    )


def test_a_data_set_of_the_same_regime_as_the_reference_is_no_test_beyond_training(
    make: Make,
) -> None:
    results = [make("m", 0.9, "a", regime="seen"), make("m", 0.1, "b", regime="seen")]

    assert not any("falls" in sentence for sentence in said(results))
    assert overviews_of(sections_of(results))[0].figures[0][1].change == "lower"  # type: ignore[union-attr]


def test_seeds_are_one_figure_whose_interval_covers_all(make: Make) -> None:
    results = [
        make("m", share, data, regime=regime, system={"seed": seed})
        for data, regime, shares in (("a", "seen", (0.8, 0.9)), ("b", "all-unseen", (0.1, 0.3)))
        for seed, share in enumerate(shares)
    ]

    figures = overviews_of(sections_of(results))[0].figures[0]
    assert figures[0] is not None
    assert figures[0].value == pytest.approx(0.85)
    assert figures[0].low == wilson(800, 1000).low
    assert figures[0].high == wilson(900, 1000).high
    assert "means over up to 2 seeds" in said(results)[0]


@pytest.mark.parametrize("start", ["=1+1", "+1", "-1", "@x", "\t=1", "\r=1", " =1", "\n-1", "\0=1"])
def test_no_cell_of_the_csv_is_a_formula(make: Make, start: str) -> None:
    table = as_csv(sections_of([make(start, 0.5, start, system={"command": start})]))

    row = next(csv.DictReader(io.StringIO(table, newline="")))
    for column in ("system", "dataset", "command"):
        assert row[column] == "'" + re.sub(r"[\t\r\n\0]", " ", start)


def test_phases_redrawn_rows_and_outputs_are_told_apart(make: Make, tmp_path: Path) -> None:
    asked = [
        {"phase": "reset+0", "redraw_unseen": "none", "output": "tied"},
        {"phase": "reset+9", "redraw_unseen": "none", "output": "tied"},
        {"phase": "reset+9", "redraw_unseen": "matched", "output": "dense"},
    ]
    results = [
        make("net", share, system={"settings": settings})
        for share, settings in zip((0.9, 0.5, 0.1), asked)
    ]
    table = csv.DictReader(io.StringIO(as_csv(sections_of(results))))
    write_site(results, tmp_path)
    text = pages_of(tmp_path)["task-reversal.html"].text

    assert [{key: row[key] for key in asked[0]} for row in table] == asked
    for shown in ("dense output", "reset+9", "matched"):
        assert shown in text


def test_the_csv_has_every_figure_with_its_ends(make: Make) -> None:
    plain = make("a", 0.5, system={"seed": 1})
    spread = Spread(mean=0.4, min=0.3, max=0.5, values=(0.5, 0.3))
    repeats = Repeats(over="table_seed", labels=("0", "1"), estimates={"correct": spread})
    alpha = Estimate(0.9, 0.8, 1.0, 20, "bootstrap-2000")
    full = replace(plain, repeats=repeats, estimates={**plain.estimates, "alpha_covariance": alpha})

    row = next(csv.DictReader(io.StringIO(as_csv(sections_of([full])))))
    assert (row["correct"], row["alpha_covariance_low"], row["trivial"]) == ("0.5", "0.8", "0.1")
    assert (row["repeats_mean"], row["repeats_min"], row["seeds_mean"]) == ("0.4", "0.3", "")
    assert (row["rank"], row["n"], row["seed"]) == ("1", "1000", "1")


def test_markdown_tables_keep_their_columns(make: Make) -> None:
    text = as_markdown("t", sections_of([make("a|b", 0.5, "x|y\nz")]))

    table = [line for line in text.splitlines() if line.startswith("|")]
    assert len({len(re.findall(r"(?<!\\)\|", line)) for line in table}) == 1
    assert "## x\\|y z" in text


@pytest.mark.parametrize(
    "text",
    [
        "https://example.org/x",
        "see www.example.org now",
        "WWW.example.org",
        "@someone",
        "me@example.org",
        "`www.a.b|@c\\@d<https://e>",
    ],
)
def test_markdown_makes_no_links_and_mentions_nobody(make: Make, text: str) -> None:
    markdown = as_markdown(text, sections_of([make(text, 0.5, text, description=text)]))

    # Outside code, which is what stands between plain backticks, nothing is left to link.
    for line in markdown.splitlines():
        outside = re.split(r"(?<!\\)(?:\\\\)*`[^`]*`", line)
        assert not re.search(r"://|www\.|@", " ".join(outside), re.IGNORECASE), line
