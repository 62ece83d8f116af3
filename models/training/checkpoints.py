"""A run on disk: config.json, model.safetensors, checkpoints/, and where its log is.

Only safetensors and JSON: nothing that is read can run. A checkpoint is a folder that is whole or
absent: it is written under a hidden name, synced, then renamed. One whose files do not have the
hashes in its state.json is passed over. Weights to evaluate lie beside the checkpoints, as files.
"""

import json
import os
import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, cast

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from symshift.data.errors import DataError, SymshiftError, UsageError
from symshift.data.files import read_json, sha256_of, whole_file, write_json
from symshift.models.configuration import RunConfig

CONFIG, WEIGHTS, LOG = "config.json", "model.safetensors", "log.jsonl"
BEST, LAST = "best", "last"
OPTIMIZER, STATE = "optimizer.safetensors", "state.json"
_PREFIX, _KEPT, _NOTE = "step-", ".safetensors", "found"
_State = dict[nn.Parameter, dict[str, Tensor]]


@dataclass(frozen=True, kw_only=True)
class Checkpoint:
    """Everything that training goes on from."""

    step: int
    """The last step that was done."""
    weights: Mapping[str, Tensor]
    """The model's state."""
    optimizer: Mapping[str, Tensor]
    """The optimiser's state, "moment/parameter" to tensor."""
    progress: Mapping[str, Any]
    """Plain values: sums since the last line of the log, and the best validation so far."""


class Weights(NamedTuple):
    """The weights of a step."""

    tensors: dict[str, Tensor]
    """By name."""
    file: str
    """The file they are in, from the run's folder."""
    step: int
    """The step."""


class RunFolder:
    """The folder of one run."""

    def __init__(self, path: Path) -> None:
        self.path = path
        """The folder."""
        self.log_path = path / LOG
        """JSON lines."""
        self._checkpoints = path / "checkpoints"

    def is_empty(self) -> bool:
        """Tell whether there is nothing in the folder, or no folder."""
        return not self.path.exists() or all(e.name.startswith(".") for e in self.path.iterdir())

    def read_config(self) -> RunConfig:
        """Return the run's configuration.

        Raises:
            DataError: If the folder holds no run.
        """
        if not (self.path / CONFIG).is_file():
            raise DataError(f"{self.path}: no {CONFIG}, so no run; `symshift train` writes one")
        return RunConfig.from_json(read_json(self.path / CONFIG), str(self.path / CONFIG))

    def write_config(self, plain: Mapping[str, Any]) -> None:
        """Write the run's configuration (RunConfig.to_json, and what is only reported)."""
        write_json(self.path / CONFIG, plain)

    def write_final(self, step: int, weights: Mapping[str, Tensor]) -> None:
        """Write the weights of the finished run, which are those of its last step."""
        _save(self.path / WEIGHTS, weights, {_NOTE: json.dumps({"step": step})})

    def is_finished(self) -> bool:
        """Tell whether the final weights are there."""
        return (self.path / WEIGHTS).is_file()

    def weights(self, which: int | str | None = None) -> "Weights":
        """Return the weights of a step.

        Args:
            which: One of `steps`; BEST for those that did best in validation; LAST for the newest
                there are. The final weights if not given.

        Raises:
            UsageError: If there is no such checkpoint; those that exist are named.
            DataError: If the run is not finished, or the file is broken.
        """
        path = self._path_of(which)
        if path.is_file():
            if path.name == WEIGHTS and path.parent != self.path:
                self._require_as_written(path)
            return Weights(_load(path), str(path.relative_to(self.path)), _step_of(path))
        if which is not None:
            found = [*map(str, self.steps()), *([BEST] if self._best.is_file() else [])]
            names = ", ".join([*found, *([LAST] if self.is_finished() else [])])
            raise UsageError(f"{self.path}: no checkpoint {which}; there are: {names or 'none'}")
        raise DataError(
            f"{self.path}: the run is not finished; `symshift train ... --resume` goes on with "
            "it, or give --checkpoint STEP, best or last"
        )

    def _path_of(self, which: int | str | None) -> Path:
        if which == LAST and not self.is_finished():
            which = max(self.steps(), default=LAST)
        if which in (None, LAST):
            return self.path / WEIGHTS
        if which == BEST:
            return self._best
        # Kept ones first: a checkpoint of the same step comes and goes.
        step = int(which)
        if self._kept(step).is_file():
            return self._kept(step)
        folder, final = self._folder(step), self.path / WEIGHTS
        is_final = not folder.is_dir() and final.is_file() and _step_of(final) == step
        return final if is_final else folder / WEIGHTS

    def _require_as_written(self, path: Path) -> None:
        """Refuse the weights of a checkpoint that are not those that were written."""
        try:
            is_same = read_json(path.with_name(STATE))["sha256"][WEIGHTS] == sha256_of(path)
        except (KeyError, TypeError):
            is_same = False
        if not is_same:
            raise DataError(f"{path}: not as it was written; give another --checkpoint")

    def steps(self) -> list[int]:
        """Return the steps whose weights are there, in order."""
        return sorted({*self._steps_named(""), *self._steps_named(_KEPT)})

    def keep_weights(self, step: int, weights: Mapping[str, Tensor]) -> None:
        """Write the weights of a step, which stay for as long as the run does."""
        _save(self._kept(step), weights)

    def keep_best(self, weights: Mapping[str, Tensor], found: Mapping[str, Any]) -> None:
        """Write the weights that did best in validation so far, with what was found."""
        # One note: the order of several in the file is not fixed.
        _save(self._best, weights, {_NOTE: json.dumps(found, sort_keys=True)})

    @property
    def _best(self) -> Path:
        return self._checkpoints / f"{BEST}{_KEPT}"

    def save(self, checkpoint: Checkpoint, keep: int) -> None:
        """Write a checkpoint, then remove the oldest beyond the last `keep` (0: none)."""
        folder = self._folder(checkpoint.step)
        hidden = folder.with_name(f".{folder.name}.tmp")
        shutil.rmtree(hidden, ignore_errors=True)
        hidden.mkdir(parents=True)
        _save(hidden / WEIGHTS, checkpoint.weights)
        _save(hidden / OPTIMIZER, checkpoint.optimizer)
        hashes = {name: sha256_of(hidden / name) for name in (WEIGHTS, OPTIMIZER)}
        state = {"step": checkpoint.step, "progress": checkpoint.progress, "sha256": hashes}
        write_json(hidden / STATE, state)
        shutil.rmtree(folder, ignore_errors=True)
        hidden.rename(folder)
        for step in self._steps_named("")[:-keep] if keep else []:
            shutil.rmtree(self._folder(step))

    def write_batch(self, step: int, plain: Mapping[str, Any]) -> Path:
        """Write the rows of a step that failed, and return the file."""
        path = self.path / f"non-finite-{step:08d}.json"
        write_json(path, {"step": step, **plain})
        return path

    def tidy(self) -> None:
        """Remove what a run that was killed had begun to write; for its only writer."""
        for entry in self._checkpoints.glob(".*.tmp") if self._checkpoints.is_dir() else ():
            shutil.rmtree(entry) if entry.is_dir() else entry.unlink()

    def latest_step(self) -> tuple[int | None, list[int]]:
        """Return the step of the last checkpoint that is whole, or None; and damaged later ones."""
        steps = self._steps_named("")
        whole = next((step for step in reversed(steps) if self.checkpoint(step)), None)
        return whole, [step for step in steps if step > (whole or 0)]

    def checkpoint(self, step: int) -> Checkpoint | None:
        """Return the checkpoint of a step, or None if it is not there or not whole."""
        folder = self._folder(step)
        try:
            state = read_json(folder / STATE)
            hashes = {name: sha256_of(folder / name) for name in (WEIGHTS, OPTIMIZER)}
            if state["sha256"] != hashes or not _is_progress(state["progress"]):
                return None
            return Checkpoint(
                step=step,
                weights=_load(folder / WEIGHTS),
                optimizer=_load(folder / OPTIMIZER),
                progress=state["progress"],
            )
        except (DataError, OSError, KeyError, TypeError, AttributeError):
            return None

    def _steps_named(self, suffix: str) -> list[int]:
        if not self._checkpoints.is_dir():
            return []
        pattern = re.compile(rf"{_PREFIX}([0-9]{{8,}}){re.escape(suffix)}")
        found = (pattern.fullmatch(entry.name) for entry in self._checkpoints.iterdir())
        return sorted(int(match[1]) for match in found if match)

    def _folder(self, step: int) -> Path:
        return self._checkpoints / f"{_PREFIX}{step:08d}"

    def _kept(self, step: int) -> Path:
        return self._checkpoints / f"{_PREFIX}{step:08d}{_KEPT}"


def _save(
    path: Path, tensors: Mapping[str, Tensor], notes: Mapping[str, str] | None = None
) -> None:
    plain = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    with whole_file(path) as hidden:
        try:
            save_file(plain, hidden, dict(notes) if notes else None)
        except SafetensorError as error:
            raise SymshiftError(f"{path}: cannot be written ({error})") from error
        # The library lets its owner alone read it; other files are as the user's mask says.
        mask = os.umask(0)
        os.umask(mask)
        hidden.chmod(0o666 & ~mask)


def _load(path: Path) -> dict[str, Tensor]:
    try:
        return load_file(path)
    except (SafetensorError, OSError) as error:
        raise DataError(f"{path}: broken or truncated ({error})") from None


def _is_progress(plain: Any) -> bool:
    """Tell whether a checkpoint's progress has what training goes on from."""
    best, sums = plain["best"], plain["loss_sums"]
    return (
        all(type(plain[name]) is int for name in ("num_summed", "num_worse"))
        and (not best or {"step", "correct", "loss"} <= best.keys())
        and all(isinstance(value, float) for value in sums)
    )


def _step_of(path: Path) -> int:
    """Return the step that the name of a file or folder, or a note in the file tells."""
    if found := re.search(rf"{_PREFIX}([0-9]+)", f"{path.parent.name}/{path.name}"):
        return int(found[1])
    try:
        with safe_open(path, "pt") as file:
            return int(json.loads(file.metadata()[_NOTE])["step"])
    except (SafetensorError, OSError, TypeError, KeyError, ValueError):
        raise DataError(f"{path}: does not say which step it is of; train again") from None


def optimizer_state(
    optimizer: torch.optim.Optimizer, names: Mapping[nn.Parameter, str]
) -> dict[str, Tensor]:
    """Return an optimiser's state as named tensors."""
    return {
        f"{kind}/{names[parameter]}": value
        for parameter, state in cast(_State, optimizer.state).items()
        for kind, value in state.items()
    }


def load_optimizer_state(
    optimizer: torch.optim.Optimizer,
    names: Mapping[nn.Parameter, str],
    stored: Mapping[str, Tensor],
) -> None:
    """Give an optimiser the state that `optimizer_state` returned."""
    parameters = [p for group in optimizer.param_groups for p in group["params"]]
    numbers = {names[parameter]: number for number, parameter in enumerate(parameters)}
    state: dict[int, dict[str, Tensor]] = {}
    for key, value in stored.items():
        kind, _, name = key.partition("/")
        state.setdefault(numbers[name], {})[kind] = value
    optimizer.load_state_dict(
        {"state": state, "param_groups": optimizer.state_dict()["param_groups"]}
    )
