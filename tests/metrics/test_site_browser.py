"""The site in a real Chromium: Debian's, driven by Playwright."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from html_pages import HOSTILE

from symshift.metrics.result import Result, System
from symshift.metrics.scoring import Scored, rows_path, write_result
from symshift.metrics.site import write_site

playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright")
CHROMIUM = shutil.which("chromium")
if CHROMIUM is None:
    pytest.skip("needs a chromium on the path", allow_module_level=True)

Make = Callable[..., Result]
FLAGS = [
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
]
TIMEOUT_MS = 10_000
SHARES = {"b": 0.5, "a" + HOSTILE: 0.9, "c": 0.05}


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with playwright.sync_playwright() as driver:
        started = driver.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield started
        started.close()


@pytest.fixture
def open_page(browser: Any) -> Iterator[Callable[..., Any]]:
    """Open pages; at the end nothing may have complained or asked anybody for anything."""
    contexts, complaints, asked = [], [], []

    def visit(path: Path, **context: Any) -> Any:
        contexts.append(browser.new_context(**context))
        contexts[-1].set_default_timeout(TIMEOUT_MS)
        page = contexts[-1].new_page()
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("dialog", lambda dialog: complaints.append("a dialog"))
        page.on("request", lambda request: asked.append(request.url))
        page.goto(path.as_uri())
        return page

    yield visit
    for context in contexts:
        context.close()
    assert complaints == []
    assert all(url.startswith("file:///") for url in asked)


@pytest.fixture
def site(tmp_path: Path, make: Make) -> Path:
    results = [make(name, share, task="ltl") for name, share in SHARES.items()]
    write_site(results, tmp_path / "some where" / "site")
    return tmp_path / "some where" / "site"


@pytest.fixture
def scored_site(tmp_path: Path, score_toy: Callable[..., Scored], rows: Any) -> Path:
    """Return a site of two systems with rows, grids and a trained region."""
    paths, found = [], []
    for name, solved in (("x", 3), ("y", 1)):
        trained_on = {"num_symbols": "1-2", "size": "1-3"}
        system = System(name=name, trained_on=trained_on, command=HOSTILE)
        answers = {row["id"]: row["target"] for row in rows[:solved]}
        found.append(score_toy(rows, answers, systems=[system]))
        paths.append(tmp_path / f"{name}.json")
        write_result(found[-1], paths[-1])
    row_files = [rows_path(path) for path in paths]
    write_site([scored.result for scored in found], tmp_path / "site", row_files=row_files)
    return tmp_path / "site"


def firsts(page: Any) -> str:
    """Return the first letters of the systems that are shown, in order."""
    table = page.locator("table[data-sortable]").first
    return "".join(name[0] for name in table.locator("tbody .name:visible").all_inner_texts())


def test_headings_sort_both_ways_and_cells_without_a_value_come_last(
    site: Path, open_page: Callable[..., Any]
) -> None:
    page = open_page(site / "task-ltl.html")
    table = page.locator("table[data-sortable]").first

    # "t" is the best constant, which is correct for a tenth of the rows and has no rank.
    for heading, orders in (
        ("System", ("abct", "tcba")),
        ("Correct", ("abtc", "ctba")),
        ("Rank", ("abct", "cbat")),
    ):
        button = table.get_by_role("button", name=heading, exact=True)
        for order, way in zip(orders, ("first", "second"), strict=True):
            button.click()
            assert firsts(page) == order, (heading, way)
    assert table.locator("th[aria-sort]").get_attribute("aria-sort") == "descending"
    assert "Sorted by Rank, descending" in page.get_by_role("status").inner_text()


def test_headings_sort_by_keyboard(site: Path, open_page: Callable[..., Any]) -> None:
    page = open_page(site / "task-ltl.html")
    button = page.get_by_role("button", name="Correct", exact=True)
    button.focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Space")

    assert firsts(page) == "ctba"
    page.reload()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "To the content"


def test_the_filter_keeps_the_rows_with_all_words(
    site: Path, open_page: Callable[..., Any]
) -> None:
    page = open_page(site / "task-ltl.html")
    box = page.get_by_role("searchbox").first
    for words, shown in (("TRIVIAL answer", "t"), ("0.50", "b"), ("no such row", ""), ("", "abct")):
        box.fill(words)
        assert firsts(page) == shown
    box.fill("alert(1)")
    assert firsts(page) == "a"
    assert page.get_by_role("status").inner_text() == "1 of 4 rows."


@pytest.mark.parametrize(("scheme", "width"), [("light", 360), ("dark", 1280)])
def test_no_page_is_wider_than_its_window(
    site: Path, scored_site: Path, open_page: Callable[..., Any], scheme: str, width: int
) -> None:
    for folder in (site, scored_site):
        for path in sorted(folder.glob("*.html")):
            size = {"width": width, "height": 800}
            page = open_page(path, color_scheme=scheme, viewport=size)
            assert page.evaluate("document.documentElement.scrollWidth") <= width, path.name


def test_light_and_dark_differ_and_text_stands_out(
    site: Path, open_page: Callable[..., Any]
) -> None:
    papers = []
    for scheme in ("light", "dark"):
        page = open_page(site / "index.html", color_scheme=scheme)
        style = "getComputedStyle(document.body)"
        found = page.evaluate(f"[{style}.backgroundColor, {style}.color]")
        paper, ink = (luminance(colour) for colour in found)
        papers.append(paper)
        # The contrast that WCAG 2.2 asks for at level AAA.
        assert (max(paper, ink) + 0.05) / (min(paper, ink) + 0.05) >= 7
    assert papers[0] > 0.5 > papers[1]


def luminance(colour: str) -> float:
    """Return the relative luminance of `rgb(r, g, b)` (WCAG 2.2)."""
    parts = [int(part) / 255 for part in colour.removeprefix("rgb(").rstrip(")").split(",")]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return sum(weight * p for weight, p in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def test_grid_curve_and_pairs_are_there_for_everybody(
    scored_site: Path, open_page: Callable[..., Any]
) -> None:
    page = open_page(next(scored_site.glob("entry-x-*.html")))

    assert page.get_by_role("img", name="Correctness by size and number of symbols").count() == 1
    assert page.locator("svg.grid .trained").count() == 1
    titles = page.locator("svg.grid title").all_text_contents()
    assert "3 symbols, size 3: 1.00 (0.21 to 1.00), n 1" in titles
    page.get_by_text("The grid as a table").click()
    assert page.get_by_role("cell", name="1.00 (0.21 to 1.00), n 1").first.is_visible()
    assert page.get_by_role("heading", name="Against other systems").is_visible()


def test_links_lead_from_page_to_page_and_to_the_result_file(
    scored_site: Path, open_page: Callable[..., Any]
) -> None:
    page = open_page(scored_site / "index.html")
    page.get_by_role("link", name="reversal", exact=True).click()
    assert page.url.endswith("/task-reversal.html")
    page.get_by_role("rowheader").get_by_role("link", name="x", exact=True).first.click()
    assert page.locator("h1").inner_text() == "x"
    page.get_by_role("link", name="result file").first.click()
    assert '"schema_version"' in page.content()
