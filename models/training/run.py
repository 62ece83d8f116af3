"""Training a reference model on a data set: from a user's wishes to a finished run."""

import dataclasses
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from pathlib import Path

from symshift.data.dataset import Dataset, open_dataset
from symshift.data.errors import DataError, UsageError
from symshift.data.files import locked_folder
from symshift.data.plugins import load_task
from symshift.data.task import Task
from symshift.models.building import needs_paths, parameter_counts, table_shape
from symshift.models.configuration import RunConfig, split_settings
from symshift.models.decoding.answering import Answerer
from symshift.models.encoding import encode_rows
from symshift.models.memory import memory_explained
from symshift.models.resolution import resolve
from symshift.models.streams import (
    cpu_threads,
    deterministic_operations,
    own_global_stream,
    pick_device,
)
from symshift.models.token_cache import encoded_split
from symshift.models.training.checkpoints import Checkpoint, RunFolder
from symshift.models.training.journal import Journal, say, show_shares
from symshift.models.training.loop import Loop, NonFiniteError
from symshift.models.training.monitor import Monitor
from symshift.models.training.run_log import CsvCopy, LogCopy, RunLog, TensorBoardCopy
from symshift.models.training.team import joined_team, place_in_team
from symshift.models.training.trainer import Trainer
from symshift.models.training.validation import Validation, chance_levels, validation_sample

_FINISHED, _FRESH = -1, 0


def train(
    dataset_path: Path,
    run_path: Path,
    method: str,
    *,
    settings: Mapping[str, str] | None = None,
    device: str = "auto",
    seed: int = 0,
    resume: bool = False,
    csv: Path | None = None,
    tensorboard: Path | None = None,
) -> RunConfig:
    """Train a reference model, or go on with a run; one that is finished is left as it is.

    Several processes that `torchrun` started train one model together, on the same folders.

    Args:
        dataset_path: The data set.
        run_path: The folder of the run.
        method: The embedding method.
        settings: Texts of `--set key=value`, for the training and for the method.
        device: One of streams.DEVICES.
        seed: The seed of first values, order of rows, tables and dropout.
        resume: Go on with the run that is in the folder, if there is one.
        csv: A file for a copy of the log.
        tensorboard: A folder for another one.

    Returns:
        The run's configuration.

    Raises:
        UsageError: For anything unknown or impossible, or a folder that holds another run.
        DataError: If the data set or the run is broken.
        NonFiniteError: If the loss or a gradient is no number; that step's rows are written.
        RunInterrupted: After Ctrl-C or SIGTERM; a checkpoint has been written.
    """
    options, shared = split_settings(method, settings or {})
    where = pick_device(device, place_in_team())
    dataset = open_dataset(dataset_path)
    task = load_task(dataset.task_name)
    config = resolve(dataset, method, options, shared, seed)
    _require_outside(run_path, (csv, tensorboard))
    copies: list[LogCopy] = [CsvCopy(csv)] if csv else []
    copies += [TensorBoardCopy(tensorboard)] if tensorboard else []
    folder = RunFolder(run_path)
    with joined_team(where) as team, ExitStack() as held:
        at = _FRESH
        if team.is_first:
            _require_fit(folder, config, resume=resume)
            if folder.is_finished():
                say(f"{run_path}: finished before, nothing to do")
                at = _FINISHED
            else:
                held.enter_context(locked_folder(run_path))
                at = _begin_at(folder)
        if (at := team.of_first(at)) == _FINISHED:
            return config
        held.enter_context(own_global_stream(where))
        held.enter_context(cpu_threads(config.train.threads))
        held.enter_context(deterministic_operations(config.train.deterministic))
        with_paths = needs_paths(config)
        encoded = encoded_split(dataset, "train", task, config.codec, with_paths=with_paths)
        with memory_explained(
            f"while the model of width={config.train.width} was built: give a smaller --set width, "
            "ff_width, vocabulary or fewer layers"
        ):
            trainer = Trainer(config, encoded, where, team)
        # Before anything is written: what is refused leaves no folder to clean up.
        trainer.require_table()
        _require_all_phases(trainer)
        _Training(trainer, folder, dataset, task, copies).run(at)
    return config


def _begin_at(folder: RunFolder) -> int:
    """Return the step to go on behind."""
    folder.tidy()
    step, damaged = folder.latest_step()
    for each in damaged:
        say(f"the checkpoint of step {each} is damaged, and passed over")
    return step or _FRESH


def _require_outside(run_path: Path, copies: Iterable[Path | None]) -> None:
    """Refuse copies of the log in the run's own folder."""
    for path in filter(None, copies):
        if run_path.resolve() in (path.resolve(), *path.resolve().parents):
            raise UsageError(f"{path}: lies in the run {run_path}; choose another place")


def _require_fit(folder: RunFolder, config: RunConfig, *, resume: bool) -> None:
    """Refuse a folder that holds anything but the same run, to be resumed."""
    if folder.is_empty():
        return
    there = folder.read_config()
    if changed := there.differences(config):
        raise UsageError(f"{folder.path} holds another run ({changed}); name another folder")
    if not resume and not folder.is_finished():
        raise UsageError(f"{folder.path} holds an unfinished run: add --resume to go on with it")


def _require_all_phases(trainer: Trainer) -> None:
    """Refuse to end early what has to be evaluated at stated steps."""
    if trainer.kept_steps and trainer.config.train.patience:
        raise UsageError(
            f"method {trainer.config.method} is evaluated behind steps "
            f"{', '.join(map(str, sorted(trainer.kept_steps)))}: leave out --set patience"
        )


@dataclasses.dataclass(frozen=True, slots=True)
class _Training:
    """A run whose model is built: what is left of it is done here."""

    trainer: Trainer
    folder: RunFolder
    dataset: Dataset
    task: Task
    copies: list[LogCopy]

    def run(self, at: int) -> None:
        """Go on behind the checkpoint of a step, or begin at 0, and write the weights."""
        trainer, folder = self.trainer, self.folder
        checkpoint = self._checkpoint(at) if at else None
        if checkpoint:
            trainer.restore(checkpoint)
        if not trainer.team.is_first:
            Loop(trainer, None).run()
            return
        validation = self._validation()
        if trainer.config.train.patience and not validation:
            raise UsageError("patience needs validation rows: leave it out, or generate some")
        counts = parameter_counts(trainer.config, trainer.model)
        plain = {**trainer.config.to_json(), "parameters": counts, "processes": trainer.team.size}
        folder.write_config(plain)
        progress = checkpoint.progress if checkpoint else {}
        with RunLog(folder.log_path, at if at else None, self.copies) as log:
            if log.is_cut:
                say(
                    f"{folder.log_path}: lines before step {at} are missing or broken, and left out"
                )
            if at:
                say(f"going on behind step {at} of {trainer.config.train.steps}")
            if validation:
                self._tell_chance(validation, None if at else log)
            batch = validation.first_batch() if validation else None
            monitor = Monitor(shape=table_shape(trainer.config), batch=batch)
            try:
                Loop(trainer, Journal(trainer, folder, log, validation, monitor, progress)).run()
            except NonFiniteError as error:
                raise self._with_batch(error) from None
        folder.write_final(trainer.step_done, trainer.model.state_dict())

    def _checkpoint(self, at: int) -> Checkpoint:
        if checkpoint := self.folder.checkpoint(at):
            return checkpoint
        raise DataError(
            f"{self.folder.path}: process {self.trainer.team.rank} finds no checkpoint of step "
            f"{at}; the run has to lie where all processes read it"
        )

    def _tell_chance(self, validation: Validation, log: RunLog | None) -> None:
        targets = self.dataset.columns("train", ["target"])["target"]
        chance = chance_levels(self.task, targets, validation.sample)
        say(f"chance level, {len(validation.sample)} validation rows: {show_shares(chance)}")
        if log:
            log.write(0, chance=chance)

    def _validation(self) -> Validation | None:
        trainer, config = self.trainer, self.trainer.config
        sample = validation_sample(self.dataset, config.train.validation_rows)
        if not sample:
            say("no validation rows: the model is not tried on any")
            return None
        encoded = encode_rows(self.task, config.codec, sample, with_paths=needs_paths(config))
        answerer = Answerer(
            model=trainer.model, task=self.task, codec=config.codec, dtype=trainer.dtype
        )
        answerer.require(encoded)
        return Validation(answerer=answerer, sample=sample, encoded=encoded.to(trainer.device))

    def _with_batch(self, error: NonFiniteError) -> NonFiniteError:
        """Write the rows of the step that is to blame, and name the file."""
        numbers = sorted(self.trainer.batch_rows(error.step).tolist())
        chosen = set(numbers)
        rows = [
            {"row": number, "id": row.id, "input": row.input, "target": row.target}
            for number, row in enumerate(self.dataset.rows("train"))
            if number in chosen
        ]
        path = self.folder.write_batch(error.step, {"split": "train", "rows": rows})
        return NonFiniteError(error.step, f"{error}; its {len(rows)} rows are in {path}")
