"""The commands that score, compare and publish."""

from pathlib import Path

import click

from symshift.data.console import CONTEXT, common, path_type, show
from symshift.data.errors import UsageError
from symshift.data.plugins import load_task
from symshift.data.terminal import printable, printable_json


@click.command(context_settings=CONTEXT)
@click.argument("dataset", type=path_type())
@click.argument("predictions", type=path_type(), nargs=-1, required=True)
@click.option("-o", "--output", type=path_type(), help="the RESULT.json to write")
@click.option("--grid", type=path_type(), help="a picture of the grid to write: .svg or .png")
@click.option("--split", default="test", help="the rows that were answered")
@click.option("--name", help="what to call the system  [default: its own name]")
@click.option("--format", help="what the predictions are in  [default: as the file shows]")
@click.option("--filter", help="which filter's answers of an lm-eval log to read")
@click.option("--notation", default="native", help="of the answers: native or polish (ltl, prop)")
@click.option("--problems", type=path_type(), help="where to list all that is wrong with a file")
@click.option("--explain", metavar="ID", help="say why one row got its verdict")
@common
def score(
    dataset: Path,
    predictions: tuple[Path, ...],
    output: Path | None,
    grid: Path | None,
    split: str,
    name: str | None,
    format: str | None,
    filter: str | None,
    notation: str,
    problems: Path | None,
    explain: str | None,
    as_json: bool,
) -> None:
    """Score a system's predictions: verdicts, estimates, intervals.

    Several files are one system's, with other random tables; they give mean and range.

    Formats: jsonl, csv, parquet, lm-eval (samples_*.jsonl), inspect (JSON logs), deepltl.

    Example: symshift score data/ltl answers.jsonl -o result.json
    """
    from symshift.data.dataset import open_dataset
    from symshift.data.errata import errata_of
    from symshift.metrics.explanation import explain_row
    from symshift.metrics.grid import require_format, write_grid
    from symshift.metrics.record import Reading
    from symshift.metrics.scoring import write_result
    from symshift.metrics.submission import score_files
    from symshift.metrics.table import format_table

    opened = open_dataset(dataset)
    task = load_task(opened.task_name)
    if explain is not None and (output or grid):
        raise UsageError("--explain prints and writes no result: leave -o and --grid out")
    _require_places(predictions, output, grid, problems)
    if grid is not None:
        require_format(grid)
    reading = Reading(format=format, filter=filter, notation=notation)
    if explain is not None:
        found = explain_row(opened, split, predictions[0], task, explain, reading, problems)
        show(found.to_plain(), as_json, found.to_text())
        return
    scored = score_files(
        opened, predictions, task, split=split, name=name, reading=reading, listing=problems
    )
    if output is not None:
        write_result(scored, output)
    if grid is not None:
        write_grid(scored.result, grid)
    for erratum in errata_of(opened.fingerprint):
        click.echo(f"erratum {erratum.id} of this data set: {erratum.text}", err=True)
    if as_json:
        click.echo(printable_json(scored.result.to_json()), nl=False)
    else:
        click.echo(format_table(scored.result))


def _require_places(
    predictions: tuple[Path, ...], output: Path | None, grid: Path | None, problems: Path | None
) -> None:
    """Refuse to write over what is read, or one thing over another."""
    from symshift.data.files import require_outputs, require_regular
    from symshift.metrics.scoring import rows_path
    from symshift.metrics.systems import meta_paths

    for path in predictions:
        require_regular(path)
    found = filter(Path.is_file, predictions)
    inputs = [file for path in found for file in (path, *meta_paths(path))]
    results = (output, rows_path(output)) if output is not None else ()
    require_outputs([p for p in (*results, grid, problems) if p is not None], inputs)


@click.command(context_settings=CONTEXT)
@click.argument("first", type=path_type())
@click.argument("second", type=path_type())
@common
def compare(first: Path, second: Path, as_json: bool) -> None:
    """Compare two results on the same rows: difference, interval, exact test.

    Example: symshift compare learned.json interchangeable.json
    """
    from symshift.data.files import require_regular
    from symshift.metrics.comparison import compare_files, format_comparison

    for path in (first, second):
        require_regular(path)
    comparison = compare_files(first, second)
    show(comparison.to_plain(), as_json, format_comparison(comparison))


@click.command(context_settings=CONTEXT)
@click.argument("results", type=path_type(), nargs=-1, required=True)
@click.option("-o", "--output", type=path_type(), required=True, help="the folder to write")
@common
def leaderboard(results: tuple[Path, ...], output: Path, as_json: bool) -> None:
    """Write a static site of results: what was found, a page for each task and each entry.

    JSON, CSV and Markdown lie beside it. Systems are compared with one another where the row table
    that `symshift score` writes lies beside each result file.

    Example: symshift leaderboard results/*.json -o site
    """
    from symshift.metrics.leaderboard import given_twice
    from symshift.metrics.region import require_region
    from symshift.metrics.result_file import read_result
    from symshift.metrics.scoring import rows_path
    from symshift.metrics.site import write_site

    row_files = [rows_path(path) for path in results]
    found = [read_result(path) for path in results]
    for path, result in zip(results, found, strict=True):
        require_region(result.system.trained_on, path)
    for line in given_twice(found, list(map(str, results))):
        click.echo(printable(line), err=True)
    page = write_site(found, output, row_files=row_files, inputs=results)
    show({"page": str(page)}, as_json, str(page))


@click.command(context_settings=CONTEXT)
@click.argument("result", type=path_type())
@click.argument("dataset", type=path_type())
@click.argument("predictions", type=path_type(), nargs=-1, required=True)
@common
def submit(result: Path, dataset: Path, predictions: tuple[Path, ...], as_json: bool) -> int:
    """Check an entry: rescoring gives the stated numbers on the stated data set, or it is refused.

    Example: symshift submit result.json data/ltl answers.jsonl
    """
    from symshift.data.dataset import open_dataset
    from symshift.metrics.result_file import read_result
    from symshift.metrics.scoring import rows_path
    from symshift.metrics.submission import check_entry

    opened, stated, beside = open_dataset(dataset), read_result(result), rows_path(result)
    row_file = beside if beside.is_file() else None
    if row_file is None:
        click.echo(printable(f"{beside}: not there, so no rows are compared"), err=True)
    faults = check_entry(stated, opened, predictions, load_task(opened.task_name), row_file)
    text = "\n".join(map(printable, faults)) or f"{result}: rescoring gives the stated numbers"
    show({"faults": faults}, as_json, text)
    return 1 if faults else 0


COMMANDS = (score, compare, leaderboard, submit)
