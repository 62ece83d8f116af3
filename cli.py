"""The command line: parses, calls one function, prints."""

import sys
from pathlib import Path
from typing import Any

import click

from symshift import __version__
from symshift.data import console
from symshift.data.console import CONTEXT, Parsed, common, path_type, show
from symshift.data.plugins import load_task, plugin_names
from symshift.data.vocabulary import Window


@click.group(cls=console.Group, context_settings=CONTEXT)
@click.version_option(__version__, prog_name="symshift")
def cli() -> None:
    """Does a model reason over symbols, or over the names it was trained on?

    Generates checked data, trains reference models, scores predictions, publishes leaderboards.

    Example: symshift run smoke runs/smoke
    """


class _TaskGroup(console.Group):
    """One sub-command for each task, with the options that the task declares."""

    kind = "task"

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(plugin_names("tasks"))

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        task = load_task(cmd_name)
        return click.Command(
            cmd_name,
            params=[*_generate_task.params, *console.option_params(task.options)],
            callback=lambda **given: _generate_task.callback(task.name, **given),  # type: ignore[misc]
            help=f"Write a data set of task {task.name}: {task.summary}.",
            short_help=task.summary,
            epilog=f"Example: symshift generate {task.name} data/{task.name} --train 1000",
            context_settings=CONTEXT,
        )


@cli.group(cls=_TaskGroup, context_settings=CONTEXT)
def generate() -> None:
    """Write a data set of a task; the same command again resumes an interrupted one.

    Traces of ltl are infinite words (lassos); there is no LTLf here.

    Example: symshift generate ltl data/ltl --train 20000 --test 1000 --symbols 5
    """


@click.command()
@click.argument("out", type=path_type())
@click.option("--train", type=click.IntRange(0), help="rows of the training split")
@click.option("--validation", type=click.IntRange(0), help="rows of the validation split")
@click.option("--test", type=click.IntRange(0), help="rows of the test split")
@click.option("--per-cell", type=int, help="rows of each cell (num_symbols, size)")
@click.option("--hard-share", type=float, help="least share of rows that no shortcut solves")
@click.option("--symbols", type=int, help="use the first K names  [default: 5]")
@click.option("--names", type=Parsed(Window), help="use the names from position A to B, from 0")
@click.option("--perturb", help="how symbols get their names  [default: none]")
@click.option("--seed", type=int, help="the seed  [default: 0]")
@click.option("--preset", help="start from a published set (symshift list presets)")
@click.option("--workers", type=click.IntRange(1), help="processes  [default: one a CPU]")
@click.option("--engine", default="local", help="local processes, or a ray cluster")
@click.option("--part", metavar="I/N", help="make one part, to be merged with the others")
@click.option("--overwrite", is_flag=True, help="replace a data set that is in OUT")
@common
def _generate_task(
    task_name: str,
    out: Path,
    preset: str | None,
    workers: int | None,
    engine: str,
    part: str | None,
    overwrite: bool,
    as_json: bool,
    **given: Any,
) -> int:
    from symshift.generators.generation import generate_dataset, with_preset

    wishes = with_preset(preset, task_name, console.typed_only(given))
    report = generate_dataset(
        task_name,
        out,
        wishes,
        num_workers=workers,
        overwrite=overwrite,
        engine=engine,
        part=part,
    )
    show(report.to_json(), as_json, report.to_text())
    return 1 if report.missing else 0


@cli.command(context_settings=CONTEXT)
@click.argument("parts", type=path_type(), nargs=-1, required=True)
@click.argument("out", type=path_type())
@click.option("--overwrite", is_flag=True, help="replace a data set that is in OUT")
@common
def merge(parts: tuple[Path, ...], out: Path, overwrite: bool, as_json: bool) -> int:
    """Join the parts of a data set; the result has the bytes of a single run.

    Example: symshift merge part1 part2 part3 data/ltl
    """
    from symshift.generators.generation import merge_parts

    report = merge_parts(parts, out, overwrite=overwrite)
    show(report.to_json(), as_json, report.to_text())
    return 1 if report.missing else 0


@cli.command(context_settings=CONTEXT)
@click.argument("dataset", type=path_type())
@common
def verify(dataset: Path, as_json: bool) -> int:
    """Check a data set: checksums, schema, and every label with an independent checker.

    Example: symshift verify data/ltl
    """
    from symshift.data.dataset import open_dataset
    from symshift.generators.verification import first_problems

    problems = first_problems(open_dataset(dataset))
    text = "\n".join(problems) or f"{dataset}: sound, every label checked"
    show({"problems": problems}, as_json, text)
    return 1 if problems else 0


@cli.command(context_settings=CONTEXT)
@click.argument("dataset", type=path_type())
@click.argument("out", type=path_type())
@click.option(
    "--max-renamings",
    type=click.IntRange(1),
    help="variants of a row at most  [default: 120, with --into 1]",
)
@click.option("--into", type=Parsed(Window), help="rename into the names from position A to B")
@click.option("--only", help="rename one symbol alone: query (horn)")
@click.option("--overwrite", is_flag=True, help="replace a data set that is in OUT")
@common
def rename(
    dataset: Path,
    out: Path,
    max_renamings: int | None,
    into: Window | None,
    only: str | None,
    overwrite: bool,
    as_json: bool,
) -> None:
    """Write renamed variants of every row, for alpha-covariance or into held-out names.

    Example: symshift rename data/ltl data/ltl-held-out --into 5-9
    """
    from symshift.data.dataset import open_dataset
    from symshift.generators.renaming import write_renamed

    report = write_renamed(
        open_dataset(dataset),
        out,
        into=into,
        max_renamings=max_renamings,
        only=only,
        overwrite=overwrite,
    )
    show(report.to_json(), as_json, report.to_text())


@cli.command(context_settings=CONTEXT)
@click.argument("dataset", type=path_type())
@click.argument("run", type=path_type())
@click.option("--method", required=True, help="the embedding method (symshift list methods)")
@click.option("--set", "settings", multiple=True, metavar="KEY=VALUE", help="a setting")
@click.option("--device", default="auto", help="auto, cpu, cuda or mps")
@click.option("--seed", type=int, default=0, help="the training seed")
@click.option("--resume", is_flag=True, help="go on with an interrupted run")
@common
def train(
    dataset: Path,
    run: Path,
    method: str,
    settings: tuple[str, ...],
    device: str,
    seed: int,
    resume: bool,
    as_json: bool,
) -> None:
    """Train a reference model with an embedding method.

    Example: symshift train data/ltl runs/ltl --method interchangeable --set steps=2000
    """
    from symshift.models.training import train

    config = train(
        dataset,
        run,
        method,
        settings=console.settings_of(settings),
        device=device,
        seed=seed,
        resume=resume,
    )
    show(config.to_json(), as_json, f"{run}: trained")


@cli.command(context_settings=CONTEXT)
@click.argument("run", type=path_type())
@click.argument("dataset", type=path_type())
@click.argument("predictions", type=path_type())
@click.option("--split", default="test", help="the rows to answer")
@click.option("--beam", type=click.IntRange(1), default=1, help="answers kept at each step")
@click.option("--table-seed", type=int, default=0, help="the seed of the random table")
@click.option("--checkpoint", type=int, help="the step of a checkpoint  [default: the last]")
@click.option("--batch-size", type=click.IntRange(1), default=256, help="rows in a batch")
@click.option("--device", default="auto", help="auto, cpu, cuda or mps")
@common
def predict(
    run: Path,
    dataset: Path,
    predictions: Path,
    split: str,
    beam: int,
    table_seed: int,
    checkpoint: int | None,
    batch_size: int,
    device: str,
    as_json: bool,
) -> None:
    """Answer the rows of a data set with a trained model.

    Example: symshift predict runs/ltl data/ltl answers.jsonl
    """
    from symshift.models.prediction import predict

    meta = predict(
        run,
        dataset,
        predictions,
        split=split,
        beam=beam,
        table_seed=table_seed,
        checkpoint=checkpoint,
        batch_size=batch_size,
        device=device,
        command=console.typed(),
    )
    show(meta, as_json, f"{predictions}: written")


@cli.command(context_settings=CONTEXT)
@click.argument("dataset", type=path_type())
@click.argument("predictions", type=path_type(), nargs=-1, required=True)
@click.option("-o", "--output", type=path_type(), help="the RESULT.json to write")
@click.option("--split", default="test", help="the rows that were answered")
@click.option("--name", help="what to call the system  [default: its own name]")
@click.option("--explain", metavar="ID", help="say why one row got its verdict")
@common
def score(
    dataset: Path,
    predictions: tuple[Path, ...],
    output: Path | None,
    split: str,
    name: str | None,
    explain: str | None,
    as_json: bool,
) -> None:
    """Score a system's predictions: verdicts, estimates, intervals.

    Several files are one system's, with other random tables; they give mean and range.

    Example: symshift score data/ltl answers.jsonl -o result.json
    """
    from symshift.data.dataset import open_dataset
    from symshift.metrics.explanation import explain_row
    from symshift.metrics.scoring import write_result
    from symshift.metrics.submission import score_files
    from symshift.metrics.table import format_table

    opened = open_dataset(dataset)
    task = load_task(opened.task_name)
    if explain is not None:
        found = explain_row(opened, split, predictions[0], task, explain)
        show(found.to_plain(), as_json, found.to_text())
        return
    scored = score_files(opened, predictions, task, split=split, name=name)
    if output is not None:
        write_result(scored, output)
    click.echo(scored.result.to_json() if as_json else format_table(scored.result), nl=not as_json)


@cli.command(context_settings=CONTEXT)
@click.argument("first", type=path_type())
@click.argument("second", type=path_type())
@common
def compare(first: Path, second: Path, as_json: bool) -> None:
    """Compare two results on the same rows: difference, interval, exact test.

    Example: symshift compare learned.json interchangeable.json
    """
    from symshift.metrics.comparison import compare_files, format_comparison

    comparison = compare_files(first, second)
    show(comparison.to_plain(), as_json, format_comparison(comparison))


@cli.command(context_settings=CONTEXT)
@click.argument("results", type=path_type(), nargs=-1, required=True)
@click.option("-o", "--output", type=path_type(), required=True, help="the folder to write")
@common
def leaderboard(results: tuple[Path, ...], output: Path, as_json: bool) -> None:
    """Write a static page of results, with JSON, CSV and Markdown beside it.

    Example: symshift leaderboard results/*.json -o site
    """
    from symshift.metrics.result import read_result
    from symshift.metrics.site import write_site

    page = write_site([read_result(path) for path in results], output)
    show({"page": str(page)}, as_json, str(page))


@cli.command(context_settings=CONTEXT)
@click.argument("experiment")
@click.argument("out", type=path_type())
@click.option("--device", default="auto", help="auto, cpu, cuda or mps")
@common
def run(experiment: str, out: Path, device: str, as_json: bool) -> None:
    """Run a whole experiment: a bundled one by its name, or a TOML file.

    Example: symshift run smoke runs/smoke
    """
    from symshift.models.experiment import load_experiment
    from symshift.models.pipeline import run_experiment

    report = run_experiment(load_experiment(experiment), out, device=device)
    show(report.to_plain(), as_json, report.to_text())


@cli.command(context_settings=CONTEXT)
@common
def doctor(as_json: bool) -> None:
    """Say what is installed, what is missing, and the line that mends it.

    Example: symshift doctor
    """
    from symshift.models.doctor import diagnose, format_findings

    findings = diagnose()
    plain = {finding.name: finding.found or None for finding in findings}
    show(plain, as_json, format_findings(findings))


@cli.command(name="list", context_settings=CONTEXT)
@click.argument("what", metavar="tasks|methods|presets|experiments")
@common
def list_(what: str, as_json: bool) -> None:
    """List what there is, a line each.

    Example: symshift list methods
    """
    from symshift.data.catalogue import catalogue

    entries = catalogue(what)
    width = max(map(len, entries), default=0)
    lines = (f"{name:{width}}  {summary}" for name, summary in entries.items())
    show(entries, as_json, "\n".join(lines))


def main() -> None:
    """Run the command line and exit with the contract's codes: 0, 1, 2 or 130."""
    sys.exit(console.run(cli, sys.argv[1:]))


if __name__ == "__main__":
    main()
