"""The leaderboard as a static site that needs nothing but a browser.

`index.html` says what was found, each task and each entry has a page, and the result files lie
beside them. Pages ask nobody for anything, work from any folder, and read without scripts.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from symshift.data.errors import UsageError
from symshift.data.files import require_output, require_outputs, write_text
from symshift.metrics.differences import differences_of
from symshift.metrics.exports import as_csv, as_json, as_markdown
from symshift.metrics.leaderboard import Section, identity_of, sections_of
from symshift.metrics.links import Links
from symshift.metrics.pages import Site, TaskView, entry_page, index_page, task_page
from symshift.metrics.result import Result

LIST_NAME = ".symshift-site"
"""Names the pages and result files of a site, so that its next version can take them away."""
_REMOVABLE = re.compile(r"(?:task|entry)-[a-z0-9-]+\.html|results/[a-z0-9-]+\.json")


def write_site(
    results: Iterable[Result],
    out: Path,
    *,
    title: str = "symshift leaderboard",
    row_files: Sequence[Path] = (),
    inputs: Sequence[Path] = (),
) -> Path:
    """Write a leaderboard: index.html, a page for each task and entry, and the data of all.

    The same results give the same bytes, in whatever order they come.

    Args:
        results: What to show, at least one.
        out: The folder; it is made if need be. Pages of an earlier leaderboard there that are no
            longer part of it are removed; files that are none of its stay.
        title: The site's title.
        row_files: Where the row table of each result lies, in the order of the results. Results
            whose table is not there are shown without paired differences, which is said.
        inputs: The files that the results were read from; none of them is changed.

    Returns:
        The path of index.html.

    Raises:
        UsageError: If there are no results, or a file would be replaced that is an input, or that
            is there and of no leaderboard.
        DataError: If a row table is broken, or is not that of its result.
    """
    require_output(out)
    given = list(results)
    sections = sections_of(given)
    if not sections:
        raise UsageError("a leaderboard needs at least one result")
    site = _site(sections, title, _rows_of(sections, given, row_files))
    files = dict(_files(site))
    listed = _listed(out)
    earlier = {name for name in listed if _REMOVABLE.fullmatch(name)}
    _require_own(out, files, listed, [*inputs, *row_files])
    # First what there may be, so that files of an interrupted run are known to the next.
    _write_list(out, earlier | files.keys())
    for name, text in files.items():
        write_text(out / name, text)
    for name in earlier - files.keys():
        (out / name).unlink(missing_ok=True)
    _write_list(out, files.keys())
    return out / "index.html"


def _rows_of(
    sections: Sequence[Section], given: Sequence[Result], row_files: Sequence[Path]
) -> dict[int, Path]:
    """Return the row table of each result that has one, by the result's `id()`."""
    if not row_files:
        return {}
    pairs = [(r, path) for r, path in zip(given, row_files, strict=True) if path.is_file()]
    entries = [entry for section in sections for entry in section.entries]
    shown = {id(entry.result): entry.result for entry in entries}
    found = {id(result): path for result, path in pairs if id(result) in shown}
    # A result that was given twice is shown once; its rows may lie beside the other.
    again = {identity_of(r): path for r, path in pairs if id(r) not in shown}
    if not again:
        return found
    same_as = {key: identity_of(result) for key, result in shown.items() if key not in found}
    others = {key: again[same] for key, same in same_as.items() if same in again}
    return {**others, **found}


def _site(sections: Sequence[Section], title: str, row_files: Mapping[int, Path]) -> Site:
    tasks = []
    for name in sorted({section.dataset.task for section in sections}):
        own = tuple(section for section in sections if section.dataset.task == name)
        differences = tuple(differences_of(own, row_files))
        tasks.append(TaskView(name=name, sections=own, differences=differences))
    return Site(title=title, tasks=tuple(tasks), links=Links(sections))


def _files(site: Site) -> Iterator[tuple[str, str]]:
    """Yield each file's name and text."""
    yield "leaderboard.json", as_json(site.title, site.sections)
    yield "leaderboard.csv", as_csv(site.sections)
    yield "leaderboard.md", as_markdown(site.title, site.sections)
    for task in site.tasks:
        yield site.links.task(task.name), task_page(site, task)
        for section, differences in zip(task.sections, task.differences, strict=True):
            for entry in section.entries:
                yield site.links.entry(entry.result), entry_page(site, section, entry, differences)
                yield site.links.file(entry.result), entry.text
    yield "index.html", index_page(site)


def _require_own(
    out: Path, files: Mapping[str, str], listed: set[str], inputs: Sequence[Path]
) -> None:
    """Refuse to replace, or to take away, an input or a file that no leaderboard wrote."""
    changed = [name for name, text in files.items() if not _holds(out / name, text)]
    removed = [name for name in listed - files.keys() if _REMOVABLE.fullmatch(name)]
    require_outputs([out / name for name in (*changed, *removed, LIST_NAME)], inputs)
    for name in changed:
        if name not in listed and (out / name).exists():
            raise UsageError(f"{out / name}: is no file of a leaderboard; choose another folder")


def _holds(path: Path, text: str) -> bool:
    return path.is_file() and path.read_bytes() == text.encode()


def _listed(out: Path) -> set[str]:
    """Return the names of the files that an earlier run wrote."""
    path = out / LIST_NAME
    return set(path.read_text("utf-8").splitlines()) if path.is_file() else set()


def _write_list(out: Path, names: Iterable[str]) -> None:
    write_text(out / LIST_NAME, "".join(f"{name}\n" for name in sorted(names)))
