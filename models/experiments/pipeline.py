"""Runs an experiment, stage by stage: data, training, answers, scores, page.

Each stage is written whole, and says itself whether it is there already; so a rerun keeps the
finished ones and goes on with the rest.
"""

import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from symshift.data.dataset import Dataset, open_dataset
from symshift.data.errors import RunInterrupted, SymshiftError, UsageError
from symshift.data.files import locked_folder, read_json
from symshift.data.plugins import load_task
from symshift.data.vocabulary import Window
from symshift.generators import writer
from symshift.generators.generation import generate_dataset
from symshift.generators.renaming import write_renamed
from symshift.metrics.result_file import read_result
from symshift.metrics.scoring import rows_path, write_result
from symshift.metrics.site import write_site
from symshift.metrics.submission import score_files
from symshift.metrics.table import format_results
from symshift.models.embedding import load_method
from symshift.models.experiments.crew import Job, work_side_by_side
from symshift.models.experiments.experiment import SHOWN, Experiment, Group, drawn, folder_name
from symshift.models.experiments.rehearsal import rehearse
from symshift.models.prediction import meta_path, predict
from symshift.models.training.checkpoints import RunFolder
from symshift.models.training.run import train
from symshift.models.variants import Variant, variants_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What came out of an experiment."""

    page: Path
    """The page to open in a browser."""
    table: str
    """The results as a table of text."""

    def to_plain(self) -> dict[str, str]:
        """Return the places of what was written."""
        folder = self.page.parent
        return {"page": str(self.page), "results": str(folder / "leaderboard.json")}

    def to_text(self) -> str:
        """Return the table and the path of the page."""
        return f"{self.table}\n\nThe page: {self.page}"


def run_experiment(
    experiment: Experiment, out: Path, *, device: str = "auto", workers: int = 1
) -> Report:
    """Run an experiment, or what is left of it.

    Args:
        experiment: What to do.
        out: The folder: data/, runs/, predictions/, results/ and site/ are written in it.
        device: Where models are trained and answer.
        workers: How many models are trained and answer at a time. Each of several has a process
            of its own, which writes what it has to say to a file in messages/.

    Raises:
        SymshiftError: Whatever a stage raises; what was finished before it is kept.
    """
    with locked_folder(out):
        for name, wish in experiment.data.items():
            _make_data(name, wish, out)
        runs = [
            run
            for name, group in experiment.train.items()
            for run in _runs(name, group, out, device)
        ]
        for run in runs:
            run.rehearse()
        if workers > 1:
            work_side_by_side([run.job() for run in runs], workers)
        paths = [path for run in runs for path in run.results(experiment)]
        results = [read_result(path) for path in paths]
        row_files = [rows_path(path) for path in paths]
        page = write_site(results, out / "site", title=experiment.summary, row_files=row_files)
    return Report(page=page, table=format_results(results))


def _make_data(name: str, wish: Mapping[str, Any], out: Path) -> None:
    folder = out / "data" / name
    report = _rename(wish, folder, out) if "rename" in wish else _generate(wish, folder)
    if report.missing:
        raise SymshiftError(f"data.{name}: {report.message}")


def _rename(wish: Mapping[str, Any], folder: Path, out: Path) -> writer.Report:
    return write_renamed(
        open_dataset(out / "data" / wish["rename"]),
        folder,
        into=Window.parse(wish["into"]) if "into" in wish else None,
        only=wish.get("only"),
        max_renamings=wish.get("max_renamings"),
    )


def _generate(wish: Mapping[str, Any], folder: Path) -> writer.Report:
    return generate_dataset(wish["task"], folder, drawn(wish))


def _runs(name: str, group: Group, out: Path, device: str) -> Iterator["_Run"]:
    for system in group.systems:
        for seed in group.seeds:
            yield _Run(name, group, system, seed, out, device)


@dataclass(frozen=True, slots=True)
class _Run:
    """One model of a group: trained once, tried in each of its variants on every test set."""

    group_name: str
    group: Group
    system: str
    seed: int
    out: Path
    device: str

    @property
    def name(self) -> str:
        return f"{folder_name(self.system)}-{self.seed}"

    @property
    def method(self) -> str:
        return self.group.method(self.system)

    @property
    def folder(self) -> Path:
        return self.out / "runs" / self.group_name / self.name

    def _table_seeds(self, variant: Variant) -> tuple[int, ...]:
        """Return the seeds to try; where each name has a row that is not drawn, there is one."""
        is_drawn = variant.redraw_unseen != "none" or not load_method(self.method).named_rows
        return self.group.table_seeds if is_drawn else self.group.table_seeds[:1]

    def rehearse(self) -> None:
        """Refuse what the model or its tests cannot be, before anything is trained."""
        if self.seed != self.group.seeds[0] or RunFolder(self.folder).is_finished():
            return
        tests = [open_dataset(self.out / "data" / test) for test in self.group.tests]
        data = open_dataset(self.out / "data" / self.group.data)
        try:
            rehearse(data, tests, self.method, self.group.settings(self.system))
        except UsageError as error:
            raise UsageError(f"train.{self.group_name}: {self.system}: {error}") from None

    def job(self) -> Job:
        """Return the part of the work that takes long: training and answers."""
        return Job(
            name=f"{self.system}, seed {self.seed}",
            function=self.answers,
            messages=self.out / "messages" / self.group_name / f"{self.name}.txt",
        )

    def results(self, experiment: Experiment) -> Iterator[Path]:
        """Train the model, and yield the files of its results on each test set."""
        for dataset, variant, paths in self.answers():
            wish = experiment.data[dataset.path.name]
            shown = {key: wish.get(key, "") for key in SHOWN}
            yield self._score(dataset, paths, shown, f"{self.name}{variant.suffix}.json")

    def answers(self) -> list[tuple[Dataset, Variant, list[Path]]]:
        """Train the model, and return the files of its answers: one for each random table."""
        try:
            config = train(
                self.out / "data" / self.group.data,
                self.folder,
                self.method,
                settings=self.group.settings(self.system),
                device=self.device,
                seed=self.seed,
                resume=True,
            )
        except RunInterrupted:
            raise RunInterrupted(
                f"{self.folder}: stopped and saved; the same command goes on"
            ) from None
        tests = [open_dataset(self.out / "data" / test) for test in self.group.tests]
        return [
            (test, variant, [self._answer(test, variant, s) for s in self._table_seeds(variant)])
            for test in tests
            for variant in variants_of(config, test.window, self.group.redraw)
        ]

    def _answer(self, dataset: Dataset, variant: Variant, table_seed: int) -> Path:
        name = f"{self.name}{variant.suffix}-table{table_seed}.jsonl"
        path = self.out / "predictions" / self.group_name / dataset.name / name
        beside = meta_path(path)
        made_for = read_json(beside)["dataset"] if beside.is_file() and path.is_file() else {}
        if made_for.get("fingerprint") == dataset.fingerprint:
            return path
        path.parent.mkdir(parents=True, exist_ok=True)
        predict(
            self.folder,
            dataset.path,
            path,
            table_seed=table_seed,
            checkpoint=variant.checkpoint,
            redraw_unseen=variant.redraw_unseen,
            device=self.device,
            name=self.system,
            command=self._command(dataset, variant, table_seed),
        )
        return path

    def _command(self, dataset: Dataset, variant: Variant, table_seed: int) -> str:
        """Return the two commands that make a file of answers, from the experiment's folder."""
        run = f"runs/{self.group_name}/{self.name}"
        words = ["symshift", "train", f"data/{self.group.data}", run, "--method", self.method]
        for key, value in self.group.settings(self.system).items():
            words += ["--set", f"{key}={value}"]
        words += ["--seed", str(self.seed)]
        answer = ["symshift", "predict", run, f"data/{dataset.name}", "answers.jsonl"]
        answer += ["--table-seed", str(table_seed), *variant.flags]
        return f"{shlex.join(words)} && {shlex.join(answer)}"

    def _score(
        self, dataset: Dataset, paths: list[Path], shown: Mapping[str, str], file_name: str
    ) -> Path:
        scored = score_files(
            dataset,
            paths,
            load_task(dataset.task_name),
            title=shown["title"],
            description=shown["description"],
            regime=shown["regime"],
        )
        folder = self.out / "results" / self.group_name / dataset.name
        folder.mkdir(parents=True, exist_ok=True)
        write_result(scored, folder / file_name)
        return folder / file_name
