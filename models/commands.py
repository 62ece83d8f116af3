"""The commands that train models and run experiments."""

import os
from pathlib import Path
from typing import Any

import click

from symshift.data import console
from symshift.data.console import CONTEXT, Parsed, common, path_type, show
from symshift.data.errors import UsageError
from symshift.data.options import Range

_HUB = "hf:"
_FOR_RUNS = ("beam", "constrained", "table_seed", "checkpoint", "redraw_unseen")
_FOR_HUB = ("shots", "shots_split", "seed", "max_new_tokens", "dtype")


@click.command(context_settings=CONTEXT)
@click.argument("dataset", type=path_type())
@click.argument("run", type=path_type())
@click.option("--method", required=True, help="the embedding method (symshift list methods)")
@click.option("--set", "settings", multiple=True, metavar="KEY=VALUE", help="a setting")
@click.option("--device", default="auto", help="auto, cpu, cuda or mps")
@click.option("--seed", type=int, default=0, help="the training seed")
@click.option("--resume", is_flag=True, help="go on with an interrupted run")
@click.option("--csv", type=path_type(), help="a file for a copy of the log: step, measure, value")
@click.option("--tensorboard", type=path_type(), help="a folder for event files with the log")
@common
def train(
    dataset: Path,
    run: Path,
    method: str,
    settings: tuple[str, ...],
    device: str,
    seed: int,
    resume: bool,
    csv: Path | None,
    tensorboard: Path | None,
    as_json: bool,
) -> None:
    """Train a reference model with an embedding method.

    On several GPUs: torchrun --nproc-per-node 8 --no-python symshift train ...

    Example: symshift train data/ltl runs/ltl --method interchangeable --set steps=2000
    """
    from symshift.models.training.run import train

    config = train(
        dataset,
        run,
        method,
        settings=console.settings_of(settings),
        device=device,
        seed=seed,
        resume=resume,
        csv=csv,
        tensorboard=tensorboard,
    )
    if os.environ.get("RANK", "0") == "0":
        show(config.to_json(), as_json, f"{run}: trained")


class Which(click.ParamType[int | str]):
    """A checkpoint: its step, best or last."""

    name = "STEP|best|last"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> int | str:
        """Return the step as a number."""
        if str(value).isdecimal():
            return int(value)
        if value not in ("best", "last"):
            raise UsageError(f"--checkpoint {value}: give a step, best or last")
        return str(value)


@click.command(context_settings=CONTEXT)
@click.argument("run", metavar="RUN|hf:NAME_OR_PATH")
@click.argument("dataset", type=path_type())
@click.argument("predictions", type=path_type())
@click.option("--split", default="test", help="the rows to answer")
@click.option("--beam", type=click.IntRange(1), default=1, help="RUN: answers kept at each step")
@click.option(
    "--constrained",
    is_flag=True,
    help="RUN: write only well-formed answers (those of the task's grammar); another system",
)
@click.option("--table-seed", type=int, default=0, help="RUN: the seed of the random table")
@click.option(
    "--checkpoint",
    type=Which(),
    help="RUN: the step of a checkpoint, best in validation, or last  [default: the final one]",
)
@click.option(
    "--redraw-unseen",
    default="none",
    metavar="none|init|matched",
    help="RUN: fresh values for rows that were never trained, from the first distribution or as "
    "the trained rows are; drawn by --table-seed",
)
@click.option("--shots", type=click.IntRange(0), default=0, help="hf: solved examples in a prompt")
@click.option("--shots-split", default="train", help="hf: where examples are drawn from")
@click.option("--seed", type=int, default=0, help="hf: the seed of that draw")
@click.option("--max-new-tokens", type=click.IntRange(1), help="hf: of an answer  [default: 512]")
@click.option("--dtype", default="auto", help="hf: auto, float32, bfloat16 or float16")
@click.option(
    "--batch-size", type=click.IntRange(1), help="rows in a batch  [default: 256, for hf 16]"
)
@click.option("--device", default="auto", help="auto, cpu, cuda or mps")
@common
def predict(run: str, dataset: Path, predictions: Path, as_json: bool, **given: Any) -> None:
    """Answer the rows of a data set with a trained model.

    RUN is the folder of a run. hf:NAME_OR_PATH prompts a Hugging Face causal language model; no
    code of its own is run. If it is killed, the same command goes on.

    Example: symshift predict runs/ltl data/ltl answers.jsonl
    """
    asked = {**console.typed_only(given), "command": console.typed()}
    is_hub = run.startswith(_HUB)
    for option in _FOR_RUNS if is_hub else _FOR_HUB:
        if option in asked:
            kind = "a run" if is_hub else "hf:NAME_OR_PATH"
            raise UsageError(f"--{option.replace('_', '-')}: is for {kind}, not for {run}")
    if is_hub:
        from symshift.models.hub.hub_prediction import predict_by_prompting

        meta = predict_by_prompting(run.removeprefix(_HUB), dataset, predictions, **asked)
    else:
        from symshift.models.prediction import predict

        meta = predict(Path(run), dataset, predictions, **asked)
    show(meta, as_json, f"{predictions}: written")


@click.command(context_settings=CONTEXT)
@click.argument("experiment")
@click.argument("out", type=path_type())
@click.option("--device", default="auto", help="auto, cpu, cuda or mps")
@click.option(
    "--workers",
    type=click.IntRange(min=1),
    default=1,
    help="models trained at a time; several have a process each, and write to OUT/messages",
)
@common
def run(experiment: str, out: Path, device: str, workers: int, as_json: bool) -> None:
    """Run a whole experiment: a bundled one by its name, or a TOML file.

    Example: symshift run smoke runs/smoke
    """
    from symshift.models.experiments.experiment import load_experiment
    from symshift.models.experiments.pipeline import run_experiment

    report = run_experiment(load_experiment(experiment), out, device=device, workers=workers)
    show(report.to_plain(), as_json, report.to_text())


@click.command(context_settings=CONTEXT)
@click.argument("file", type=path_type())
@click.option("--tensor", help="the embedding matrix, such as embed_tokens.weight")
@click.option("--rows", type=Parsed(Range), help="the rows A-B in question")
@click.option("--against", type=Parsed(Range), help="rows to compare with  [default: all others]")
@click.option(
    "-o",
    "--output",
    type=path_type(),
    default="collapse.json",
    show_default=True,
    help="the report to write, its picture beside it as .png; of a log the picture alone",
)
@common
def collapse(
    file: Path,
    tensor: str | None,
    rows: Range | None,
    against: Range | None,
    output: Path,
    as_json: bool,
) -> None:
    """Tell whether rows of an embedding matrix have collapsed onto one another.

    FILE is a .safetensors file, the index of a sharded checkpoint, or the folder of either; or the
    log.jsonl of a run, whose measures are drawn over its steps, without --tensor and --rows.

    Example: symshift collapse model.safetensors --tensor embed_tokens.weight --rows 6-104
    """
    from symshift.models.collapse import draw_log, report_collapse

    if file.suffix == ".jsonl":
        if any(given is not None for given in (tensor, rows, against)):
            raise click.UsageError("--tensor, --rows and --against are for a matrix, not for a log")
        picture = draw_log(file, output)
        show({"picture": str(picture)}, as_json, f"The picture: {picture}")
        return
    if tensor is None or rows is None:
        raise click.UsageError("give --tensor and --rows, or the log.jsonl of a run as FILE")
    report = report_collapse(file, tensor, rows, output, against=against)
    show(report.to_plain(), as_json, report.to_text())


@click.command(context_settings=CONTEXT)
@common
def doctor(as_json: bool) -> None:
    """Say what is installed, what is missing, and the line that mends it.

    Example: symshift doctor
    """
    from symshift.models.doctor import diagnose, format_findings

    findings = diagnose()
    plain = {finding.name: finding.found or None for finding in findings}
    show(plain, as_json, format_findings(findings))


COMMANDS = (train, predict, run, collapse, doctor)
