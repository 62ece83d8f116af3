"""The commands that train models and run experiments."""

from pathlib import Path

import click

from symshift.data import console
from symshift.data.console import CONTEXT, Parsed, common, path_type, show
from symshift.data.options import Range


@click.command(context_settings=CONTEXT)
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


@click.command(context_settings=CONTEXT)
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


@click.command(context_settings=CONTEXT)
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


@click.command(context_settings=CONTEXT)
@click.argument("file", type=path_type())
@click.option("--tensor", required=True, help="the embedding matrix, such as embed_tokens.weight")
@click.option("--rows", type=Parsed(Range), required=True, help="the rows A-B in question")
@click.option("--against", type=Parsed(Range), help="rows to compare with  [default: all others]")
@click.option(
    "-o",
    "--output",
    type=path_type(),
    default="collapse.json",
    show_default=True,
    help="the report to write; its picture lies beside it as .png",
)
@common
def collapse(
    file: Path, tensor: str, rows: Range, against: Range | None, output: Path, as_json: bool
) -> None:
    """Tell whether rows of an embedding matrix have collapsed onto one another.

    FILE is a .safetensors file, the index of a sharded checkpoint, or the folder of either.

    Example: symshift collapse model.safetensors --tensor embed_tokens.weight --rows 6-104
    """
    from symshift.models.collapse import report_collapse

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
