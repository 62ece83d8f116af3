import html
import json
import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from html_pages import HOSTILE, Page, pages_of

from symshift.data import errata
from symshift.data.errors import DataError, UsageError
from symshift.data.verdict import Estimate
from symshift.metrics import differences, pages
from symshift.metrics.intervals import holm, mcnemar
from symshift.metrics.links import slug_of
from symshift.metrics.result import Result, System
from symshift.metrics.scoring import Scored, rows_path, write_result
from symshift.metrics.site import LIST_NAME, write_site

Make = Callable[..., Result]
Score = Callable[..., Scored]
Row = dict[str, Any]


def files_of(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


@pytest.fixture
def many(make_row: Callable[..., Row]) -> list[Row]:
    return [make_row("a b", number) for number in range(40)]


@pytest.fixture
def write_solved(tmp_path: Path, score_toy: Score, many: list[Row]) -> Callable[..., Path]:
    """Write the result of a system that solves the rows of some numbers, with its row table."""

    def write(name: str, numbers: range, **info: Any) -> Path:
        answers = {f"r{number}": "b a" for number in numbers}
        found = score_toy(many, answers, systems=[System(name=name)], **info)
        write_result(found, tmp_path / f"{name}.json")
        return tmp_path / f"{name}.json"

    return write


def build(out: Path, paths: list[Path]) -> dict[str, Page]:
    from symshift.metrics.result_file import read_result

    write_site([read_result(p) for p in paths], out, row_files=[rows_path(p) for p in paths])
    return pages_of(out)


def test_the_same_results_in_any_order_give_the_same_bytes(
    tmp_path: Path, write_solved: Callable[..., Path]
) -> None:
    paths = [write_solved(name, range(n)) for name, n in (("a", 30), ("b", 20), ("c", 5))]
    build(tmp_path / "x", paths)
    build(tmp_path / "y", paths[::-1])

    assert files_of(tmp_path / "x") == files_of(tmp_path / "y")


def test_there_is_a_page_for_each_task_and_each_entry(
    tmp_path: Path, experiment: list[Result]
) -> None:
    write_site(experiment, tmp_path)

    found = pages_of(tmp_path)
    assert {"index.html", "task-reversal.html"} < set(found)
    assert len(found) == 2 + len(experiment)
    assert len(list((tmp_path / "results").glob("*.json"))) == len(experiment)


def test_every_link_leads_somewhere_within_the_site(
    tmp_path: Path, experiment: list[Result]
) -> None:
    write_site([*experiment, experiment[0]], tmp_path)

    found = pages_of(tmp_path)
    for name, page in found.items():
        for link in page.links:
            file, _, place = link.partition("#")
            assert not file or (tmp_path / file).is_file(), (name, link)
            assert not place or place in found[file or name].ids, (name, link)


def test_every_figure_links_to_the_file_that_holds_it(
    tmp_path: Path, experiment: list[Result]
) -> None:
    write_site(experiment, tmp_path)

    for name, page in pages_of(tmp_path).items():
        values = [a for a in page.all("a") if a.get("class") == "value"]
        assert values, name
        assert all((a["href"] or "").startswith("results/") for a in values)
        assert not [s for s in page.all("span") if s.get("class") == "value"]
    for path in (tmp_path / "results").iterdir():
        assert json.loads(path.read_text("utf-8"))["schema_version"] == 1


def test_pages_of_an_earlier_site_do_not_stay_but_other_files_do(
    tmp_path: Path, make: Make
) -> None:
    write_site([make("old", 0.5, task="a"), make("kept", 0.4, task="b")], tmp_path)
    (tmp_path / "entry-mine.html").write_text("mine")
    (tmp_path / "results" / "mine.json").write_text("{}")
    write_site([make("kept", 0.4, task="b")], tmp_path)

    names = set(files_of(tmp_path))
    assert not any("old" in name or "task-a" in name for name in names)
    assert {"entry-mine.html", "results/mine.json", "task-b.html"} <= names


def test_only_names_of_a_site_are_ever_removed(tmp_path: Path, make: Make) -> None:
    outside = tmp_path / "thesis.html"
    outside.write_text("years of work")
    (tmp_path / "site").mkdir()
    listed = "../thesis.html\n/etc/passwd\nresults/../../thesis.html\nnotes.txt\n"
    (tmp_path / "site" / LIST_NAME).write_text(listed)
    (tmp_path / "site" / "notes.txt").write_text("notes")
    write_site([make("a", 0.5)], tmp_path / "site")

    assert outside.is_file()
    assert (tmp_path / "site" / "notes.txt").is_file()


def test_a_site_needs_a_result(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="at least one result"):
        write_site([], tmp_path)


def test_systems_are_compared_pair_by_pair_with_adjusted_p(
    tmp_path: Path, write_solved: Callable[..., Path]
) -> None:
    paths = [write_solved(name, range(n)) for name, n in (("a", 30), ("b", 20), ("c", 19))]
    page = build(tmp_path / "site", paths)["task-reversal.html"]

    p_values = [mcnemar(10, 0), mcnemar(11, 0), mcnemar(1, 0)]
    adjusted = [td["data-value"] for td in page.all("td") if td.get("data-label") == "p, adjusted"]
    assert [float(p or -1) for p in adjusted] == pytest.approx(holm(p_values))
    readings = [td["data-value"] for td in page.all("td") if td.get("data-label") == "Reading"]
    assert readings == ["1", "1", "0"]
    assert "for the 3 pairs" in page.text


def test_an_entry_is_the_first_of_its_own_pairs(
    tmp_path: Path, write_solved: Callable[..., Path]
) -> None:
    paths = [write_solved(name, range(n)) for name, n in (("a", 30), ("b", 20))]
    found = build(tmp_path / "site", paths)

    values = [
        next(td["data-value"] for td in page.all("td") if td.get("data-label") == "Difference")
        for name, page in sorted(found.items())
        if name.startswith("entry-")
    ]
    assert values == ["0.25", "-0.25"]


def test_missing_rows_are_said_and_wrong_rows_refused(
    tmp_path: Path, write_solved: Callable[..., Path]
) -> None:
    paths = [write_solved(name, range(n)) for name, n in (("a", 30), ("b", 20), ("c", 5))]
    rows_path(paths[2]).unlink()
    text = build(tmp_path / "site", paths)["task-reversal.html"].text

    assert "no table of rows beside the result file" in text
    assert "for the 1 pair of" in text
    shutil.copy(rows_path(paths[0]), rows_path(paths[1]))
    with pytest.raises(DataError, match="score it again"):
        build(tmp_path / "site", paths)


def test_too_many_systems_to_compare_are_said(
    tmp_path: Path, write_solved: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (differences, pages):
        monkeypatch.setattr(module, "MAX_COMPARED", 2)
    paths = [write_solved(name, range(n)) for name, n in (("a", 30), ("b", 20), ("c", 5))]
    text = build(tmp_path / "site", paths)["task-reversal.html"].text

    assert "The first 2 systems are compared with one another, 1 are not" in text


def test_pages_read_without_scripts(tmp_path: Path, score_toy: Score, rows: list[Row]) -> None:
    system = System(
        name="net",
        method="hyper",
        seed=3,
        command="symshift predict run data",
        parameters=12345,
        trained_on={"num_symbols": "1-2", "size": "1-2"},
    )
    scored = score_toy(rows, {"r0": "a", "r1": "a b"}, systems=[system])
    write_site([scored.result], tmp_path)

    found = pages_of(tmp_path)
    text = " ".join(page.text for page in found.values())
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
        "correct, inside trained region",
        "3 symbols, size 3: 0.00 (0.00 to 0.79), n 1",
        "The frame is what training covered: 1-2 symbols, size 1-2.",
    ):
        assert shown in text
    assert not any(page.all("button") + page.all("input") for page in found.values())


def test_an_entry_tells_of_renamings_unless_there_is_one_by_design(
    tmp_path: Path, score_toy: Callable[..., Scored], make_row: Callable[..., Row]
) -> None:
    for cap, is_told in ((120, True), (1, False)):
        rows = [
            make_row(name, at, base_id=name, renaming=[{"name": "a", "renamed": name}])
            for at, name in enumerate("bc")
        ]
        scored = score_toy([{**row, "shortcuts": []} for row in rows], {}, max_renamings=cap)
        write_site([scored.result], tmp_path / str(cap))

        text = " ".join(page.text for page in pages_of(tmp_path / str(cap)).values())
        assert ("problems have only one" in text) is is_told


def test_an_unknown_trained_region_is_said_to_be_unknown(
    tmp_path: Path, score_toy: Score, rows: list[Row]
) -> None:
    write_site([score_toy(rows, {}).result], tmp_path)

    text = " ".join(page.text for page in pages_of(tmp_path).values())
    assert "Trained region: not stated" in text
    assert "so nothing is framed" in text


def test_a_figure_without_rows_is_said_to_be_unmeasured(tmp_path: Path, make: Make) -> None:
    plain = make("a", 0.5)
    nothing = Estimate(None, None, None, 0, "wilson")
    bare = replace(plain, estimates={**plain.estimates, "correct_hard": nothing})
    write_site([bare], tmp_path)

    assert "not measured" in pages_of(tmp_path)["task-reversal.html"].text
    assert "| 0.500 (0.469 to 0.531) |  |" in (tmp_path / "leaderboard.md").read_text("utf-8")


def test_published_figures_stand_apart_with_their_source(tmp_path: Path, make: Make) -> None:
    write_site([make("a", 0.5, task="ltl"), make("b", 0.5, "other")], tmp_path)

    found = pages_of(tmp_path)
    page = found["task-ltl.html"]
    assert "98.23 %" in page.text
    assert "arXiv 2410.17161v3" in page.text
    assert page.text.count("published") > 5
    assert "98.23" not in found["task-reversal.html"].text
    assert "98.23" not in (tmp_path / "leaderboard.csv").read_text("utf-8")
    assert json.loads((tmp_path / "leaderboard.json").read_text("utf-8"))["published"]
    # Tables that sort hold measured figures alone.
    sortable = [a for a in page.all("table") if "data-sortable" in a]
    assert len(sortable) < len(page.all("table"))


def test_errata_of_a_data_set_are_shown(
    tmp_path: Path, make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = (errata.Erratum(id="E1", fingerprint="f" * 64, text="Row 3 is wrong."),)
    monkeypatch.setattr(errata, "ERRATA", known)
    write_site([make("a", 0.5, fingerprint="f" * 64), make("b", 0.5, "other")], tmp_path)

    found = pages_of(tmp_path)
    shown = [name for name, page in found.items() if "Erratum E1. Row 3 is wrong." in page.text]
    assert len(shown) == 2
    assert not any(name.startswith("entry-b") for name in shown)


def test_tables_say_what_their_cells_are(
    tmp_path: Path, experiment: list[Result], result: Result
) -> None:
    write_site([*experiment, result], tmp_path)

    for name, page in pages_of(tmp_path).items():
        assert len(page.all("caption")) == len(page.all("table")) > 0, name
        assert {th.get("scope") for th in page.all("th")} == {"col", "row"}
        assert all(td.get("data-label") for td in page.all("td"))
        assert page.all("html")[0]["lang"] == "en"
        for svg in page.all("svg"):
            assert svg.get("aria-hidden") == "true" or svg.get("aria-label")
        assert len(page.all("h1")) == len(page.all("main")) == 1
        assert len(page.ids) == len(set(page.ids))


def test_pages_ask_nobody_for_anything(
    tmp_path: Path, experiment: list[Result], result: Result
) -> None:
    write_site([*experiment, result], tmp_path)

    for path in tmp_path.glob("*.html"):
        text = path.read_text("utf-8")
        page = Page(text)
        assert not {"src", "srcset", "style", "onclick"} & {key for _, a in page.tags for key in a}
        assert not re.search(r"https?:|url\((?!#few\))|@import", text)
        policy = next(m["content"] for m in page.all("meta") if "http-equiv" in m)
        assert policy is not None
        assert policy.startswith("default-src 'none';")
        assert "unsafe" not in policy


def test_hostile_names_are_inert(tmp_path: Path, make: Make) -> None:
    plain = {HOSTILE: {HOSTILE: HOSTILE}}
    system = {
        "method": HOSTILE,
        "command": HOSTILE,
        "parameters": {HOSTILE: HOSTILE},
        "settings": plain,
        "trained_on": plain,
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
    write_site(results, tmp_path, title=HOSTILE)

    assert all(re.fullmatch(r"[a-z0-9./-]+", name) for name in files_of(tmp_path))
    for path in tmp_path.glob("*.html"):
        text = path.read_text("utf-8")
        page = Page(text)
        assert text.count("<script") == text.count("</style>") == 1
        assert not page.all("img")
        assert "{{7*7}}" in html.unescape(text)
        assert HOSTILE in " ".join(page.texts)
    stored = json.loads((tmp_path / "leaderboard.json").read_text("utf-8"))
    assert stored["title"] == HOSTILE
    markdown = (tmp_path / "leaderboard.md").read_text("utf-8")
    assert not re.search(r"(?<!\\)[<>]", markdown)


@pytest.mark.parametrize("name", ["../../x", "a" * 500, "", ".", "CON", "é", "a/b", "\0", "Ltl"])
def test_names_of_files_are_short_and_plain(name: str) -> None:
    for slug in (slug_of(name), slug_of(name, "identity")):
        assert re.fullmatch(r"[a-z0-9]([a-z0-9-]{0,109}[a-z0-9])?", slug)
    assert slug_of(name) != slug_of(name + "!")
    assert slug_of(name, "1") != slug_of(name, "2")


def test_a_plain_name_is_its_own_slug() -> None:
    assert slug_of("ltl") == "ltl"
    assert slug_of("LTL") != slug_of("ltl")
