"""The commands that make, check and change data sets."""

from pathlib import Path
from typing import Any

import click

from symshift.data import console
from symshift.data.console import CONTEXT, Parsed, common, path_type, show
from symshift.data.plugins import load_task, plugin_names
from symshift.data.vocabulary import Window


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


@click.group(cls=_TaskGroup, context_settings=CONTEXT)
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


@click.command(context_settings=CONTEXT)
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


@click.command(context_settings=CONTEXT)
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


@click.command(context_settings=CONTEXT)
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


@click.command(context_settings=CONTEXT)
@click.argument("datasets", type=path_type(), nargs=-1, required=True)
@click.option("--task", help="the task of files that have no manifest")
@click.option("--input-column", default="input", help="where other files hold the problem")
@click.option("--target-column", help="where they hold the answer  [default: target, if any]")
@click.option("-o", "--output", type=path_type(), help="the certificate *.json; *.md is beside it")
@common
def audit(
    datasets: tuple[Path, ...],
    task: str | None,
    input_column: str,
    target_column: str | None,
    output: Path | None,
    as_json: bool,
) -> int:
    """Find duplicates and leaks within and between data sets, by the task's own equivalence.

    Reads data sets of symshift, and anybody's Parquet, JSON lines and DeepLTL text.

    Example: symshift audit data/ltl published/ltl-35 --task ltl -o certificate.json
    """
    from symshift.data.records import Columns
    from symshift.generators.exchange.audit_report import to_plain, to_text
    from symshift.generators.exchange.certificate import certify

    columns = Columns(input=input_column, target=target_column)
    found = certify(datasets, output, task=task, columns=columns)
    show(to_plain(found), as_json, to_text(found))
    return 0 if found.is_clean else 1


@click.command(name="import", context_settings=CONTEXT)
@click.argument("format", metavar="deepltl|jsonl")
@click.argument("source", type=path_type())
@click.argument("out", type=path_type())
@click.option("--task", default="ltl", help="the task")
@click.option("--input-column", default="input", help="where JSON lines hold the problem")
@click.option("--target-column", default="target", help="where they hold the answer")
@click.option("--split-by-content", is_flag=True, help="split by content, not as the files say")
@click.option("--workers", type=click.IntRange(1), help="processes  [default: one a CPU]")
@click.option("--overwrite", is_flag=True, help="replace a data set that is in OUT")
@common
def import_(
    format: str,
    source: Path,
    out: Path,
    task: str,
    input_column: str,
    target_column: str,
    split_by_content: bool,
    workers: int | None,
    overwrite: bool,
    as_json: bool,
) -> int:
    """Make a data set of somebody's files, every label checked.

    SOURCE is a file, or a folder of files named for their splits (train, val, test).

    Example: symshift import deepltl published/prop-35 data/prop-35 --task prop
    """
    from symshift.data.records import Columns
    from symshift.generators.exchange.importing import import_dataset

    report = import_dataset(
        format,
        source,
        out,
        task=task,
        columns=Columns(input=input_column, target=target_column),
        by_content=split_by_content,
        num_workers=workers,
        overwrite=overwrite,
    )
    show(report.to_json(), as_json, report.to_text())
    return 1 if report.num_faults else 0


@click.command(context_settings=CONTEXT)
@click.argument("format", metavar="deepltl|jsonl|prompts|lm-eval|hub")
@click.argument("dataset", type=path_type())
@click.argument("out", type=path_type())
@click.option("--split", default="test", help="prompts, lm-eval: the rows to ask about")
@click.option("--shots", type=click.IntRange(0), default=0, help="solved examples in each prompt")
@click.option("--shots-split", default="train", help="where examples are drawn from")
@click.option("--seed", type=int, default=0, help="the seed of that draw")
@click.option("--overwrite", is_flag=True, help="replace files of this format that are in OUT")
@common
def export(
    format: str, dataset: Path, out: Path, overwrite: bool, as_json: bool, **given: Any
) -> None:
    """Write a data set for other people's tools.

    deepltl and jsonl are text, a file a split; prompts are a file of JSON lines to ask any
    language model; lm-eval is a task of lm-evaluation-harness; hub is a folder to upload.

    Example: symshift export prompts data/ltl prompts.jsonl --shots 3
    """
    from symshift.data.dataset import open_dataset
    from symshift.generators.exchange.exporting import export_dataset

    asked = console.typed_only(given)
    report = export_dataset(format, open_dataset(dataset), out, overwrite=overwrite, **asked)
    show(report.to_json(), as_json, report.to_text())


COMMANDS = (generate, merge, verify, audit, rename, import_, export)
