import csv
import html
import io
import json
import re
import shutil
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from symshift.data.errors import UsageError
from symshift.data.verdict import Estimate
from symshift.metrics.exports import as_csv, as_markdown
from symshift.metrics.findings import as_text, findings_of
from symshift.metrics.intervals import wilson
from symshift.metrics.leaderboard import natural_key, sections_of
from symshift.metrics.overview import overviews_of
from symshift.metrics.result import DatasetInfo, Repeats, Result, Spread, System
from symshift.metrics.scoring import Scored
from symshift.metrics.site import write_site
from symshift.metrics.table import format_share

Make = Callable[..., Result]
HOSTILE = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)></style>\u202e|`{{7*7}}"
CHROMIUM = shutil.which("chromium")


@pytest.fixture
def make() -> Make:
    """Return a maker of results: a share of right answers for a system on a data set."""

    def result(
        name: str, share: float, data: str = "toy", trivial: float = 0.1, n: int = 1000, **more: Any
    ) -> Result:
        right = round(share * n)
        estimate = wilson(right, n)
        trivial_estimate = wilson(round(trivial * n), n)
        return Result(
            system=System(name=name, **more.pop("system", {})),
            dataset=DatasetInfo(
                name=data, task=more.pop("task", "reversal"), split="test", rows=n, **more
            ),
            counts={"correct": right, "incorrect": n - right},
            num_foreign=0,
            estimates={
                **dict.fromkeys(("correct", "exact", "correct_hard"), estimate),
                "trivial": trivial_estimate,
                "trivial:constant": trivial_estimate,
            },
        )

    return result


@pytest.fixture
def experiment(make: Make) -> list[Result]:
    """Return two methods within and beyond training: one keeps its correctness, one does not."""
    shares = {"held": (0.86, 0.85), "lost": (0.83, 0.05)}
    return [
        make(name, share, data, regime=regime)
        for name, both in shares.items()
        for share, data, regime in zip(
            both, ("names", "other names"), ("seen", "all-unseen"), strict=True
        )
    ]


def said(results: list[Result]) -> list[str]:
    return [as_text(sentence) for sentence in findings_of(sections_of(results))]


def ranks(results: list[Result]) -> dict[str, str]:
    return {
        entry.result.system.name: entry.rank.replace("\N{EN DASH}", "-")
        for section in sections_of(results)
        for entry in section.entries
    }


class Page(HTMLParser):
    """The tags and texts of a page, as a browser would see them."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, Mapping[str, str | None]]] = []
        self.open: list[str] = []
        self.texts: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.texts.append(data)

    def all(self, tag: str) -> list[Mapping[str, str | None]]:
        return [attributes for name, attributes in self.tags if name == tag]


def page_of(folder: Path, results: list[Result], **more: Any) -> str:
    return write_site(results, folder, **more).read_text("utf-8")


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

    assert "m never loses that much." in said(rising)[0]
    assert "m rises from 0.50" in said(rising)[1]
    assert said(falling)[0] == "m never loses that much."
    assert said(falling)[1].startswith("On b, against a: m falls from 0.90")
    assert said(weak)[0] == "m is not clearly better than a trivial answer even within training."


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


def test_the_same_results_in_any_order_give_the_same_bytes(
    tmp_path: Path, experiment: list[Result]
) -> None:
    write_site(experiment, tmp_path / "a")
    write_site(experiment[::-1], tmp_path / "b")

    files = sorted(path.name for path in (tmp_path / "a").iterdir())
    assert files == ["index.html", "leaderboard.csv", "leaderboard.json", "leaderboard.md"]
    for name in files:
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


def test_a_page_needs_a_result(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="at least one result"):
        write_site([], tmp_path)


def test_the_page_reads_without_scripts(tmp_path: Path, score_toy: Any, rows: Any) -> None:
    system = System(
        name="net", method="hyper", seed=3, command="symshift predict run data", parameters=12345
    )
    scored: Scored = score_toy(rows, {"r0": "a", "r1": "a b"}, systems=[system])
    page = Page(page_of(tmp_path, [scored.result]))

    text = " ".join(" ".join(page.texts).split())
    for shown in (
        "symshift predict run data",
        "training seed 3",
        "12 345 parameters",
        "0.40",
        "0.12",
        "0.77",
        "trivial answer",
        "Reverse a string",
        "Scored by symshift",
    ):
        assert shown in text
    assert "button" not in {tag for tag, _ in page.tags}


def test_a_figure_without_rows_is_said_to_be_unmeasured(tmp_path: Path, make: Make) -> None:
    plain = make("a", 0.5)
    nothing = Estimate(None, None, None, 0, "wilson")
    bare = replace(plain, estimates={**plain.estimates, "correct_hard": nothing})

    assert "not measured" in page_of(tmp_path, [bare])
    assert "| 0.500 (0.469 to 0.531) |  |" in (tmp_path / "leaderboard.md").read_text("utf-8")


def test_tables_say_what_their_cells_are(tmp_path: Path, experiment: list[Result]) -> None:
    page = Page(page_of(tmp_path, experiment))

    assert len(page.all("caption")) == len(page.all("table"))
    assert {th.get("scope") for th in page.all("th")} == {"col", "row"}
    assert all(td.get("data-label") for td in page.all("td"))
    assert page.all("html")[0]["lang"] == "en"
    assert all(svg.get("aria-hidden") == "true" for svg in page.all("svg"))
    ids = [attributes["id"] for _, attributes in page.tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    links = [a["href"] or "" for a in page.all("a")]
    assert all(link[1:] in ids for link in links if link.startswith("#"))


def test_the_page_asks_nobody_for_anything(tmp_path: Path, experiment: list[Result]) -> None:
    text = page_of(tmp_path, experiment)
    page = Page(text)

    assert not {"src", "srcset", "style", "onclick"} & {key for _, a in page.tags for key in a}
    assert not re.search(r"https?:|url\(|@import", text)
    policy = next(m["content"] for m in page.all("meta") if "http-equiv" in m)
    assert policy is not None
    assert policy.startswith("default-src 'none';")
    assert "unsafe" not in policy


def test_hostile_names_are_inert(tmp_path: Path, make: Make) -> None:
    system = {
        "method": HOSTILE,
        "command": HOSTILE,
        "parameters": {HOSTILE: HOSTILE},
        "settings": {HOSTILE: {HOSTILE: HOSTILE}},
    }
    described = {"description": HOSTILE, "regime": HOSTILE, "task": HOSTILE, "window": HOSTILE}
    results = [
        make(
            HOSTILE,
            share,
            f"{HOSTILE}{share}",
            example=(HOSTILE, HOSTILE),
            constant=HOSTILE,
            system=system,
            **described,
        )
        for share in (0.5, 0.6)
    ]
    text = page_of(tmp_path, results, title=HOSTILE)
    page = Page(text)

    assert text.count("<script") == text.count("</style>") == 1
    assert not page.all("img")
    assert "{{7*7}}" in html.unescape(text)
    assert HOSTILE in " ".join(page.texts)
    plain = json.loads((tmp_path / "leaderboard.json").read_text("utf-8"))
    assert plain["title"] == HOSTILE
    markdown = (tmp_path / "leaderboard.md").read_text("utf-8")
    assert not re.search(r"(?<!\\)[<>]", markdown)


@pytest.mark.parametrize("start", ["=1+1", "+1", "-1", "@x", "\t=1", "\r=1", " =1", "\n-1", "\0=1"])
def test_no_cell_of_the_csv_is_a_formula(make: Make, start: str) -> None:
    table = as_csv(sections_of([make(start, 0.5, start, system={"command": start})]))

    row = next(csv.DictReader(io.StringIO(table, newline="")))
    for column in ("system", "dataset", "command"):
        assert row[column] == "'" + re.sub(r"[\t\r\n\0]", " ", start)


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


def dump_dom(page: Path, folder: Path) -> tuple[str, str]:
    assert CHROMIUM is not None
    flags = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"]
    flags += ["--disable-background-networking", "--disable-component-update", "--disable-sync"]
    flags += ["--enable-logging=stderr", f"--user-data-dir={folder / 'profile'}", "--dump-dom"]
    done = subprocess.run(
        [CHROMIUM, *flags, page.as_uri()], capture_output=True, text=True, timeout=60, check=True
    )
    return done.stdout, "\n".join(line for line in done.stderr.splitlines() if "CONSOLE" in line)


@pytest.mark.skipif(CHROMIUM is None, reason="needs a chromium on the path")
def test_in_a_browser_headings_sort_and_nothing_complains(tmp_path: Path, make: Make) -> None:
    shares = {"b": 0.5, "a" + HOSTILE: 0.9, "c": 0.05}
    page = write_site([make(name, share) for name, share in shares.items()], tmp_path)
    dom, complaints = dump_dom(page, tmp_path)

    assert complaints == ""
    assert dom.count('<button type="button">') == 6
    # The same page with its policy loosened, and clicks on "System", twice on "Correct", and
    # twice on "Rank", which trivial answers do not have.
    clicks = "const b = document.querySelectorAll('thead button');"
    order = "[...document.querySelectorAll('tbody .name')].map((n) => n.textContent[0]).join('')"
    script = f"<script>{clicks}b[1].click(); document.title = {order};"
    for at in (2, 0):
        script += f"b[{at}].click(); b[{at}].click(); document.title += {order};"
    script += "</script>"
    text = re.sub(r'<meta http-equiv="Content.*?>', "", page.read_text("utf-8"))
    page.write_text(text.replace("</body>", script + "</body>"), "utf-8")
    dom, complaints = dump_dom(page, tmp_path)
    assert complaints == ""
    assert "<title>abctctbacbat</title>" in dom
    assert 'aria-sort="descending"' in dom
