"""A run on disk: config.json, model.safetensors, log.jsonl, checkpoints/.

Only safetensors and JSON: nothing that is read can run. A checkpoint is a folder that is whole or
absent: it is written under a hidden name, synced, then renamed. One whose files do not have the
hashes in its state.json is passed over. Weights to evaluate lie beside the checkpoints, as files.
"""

import json
import re
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from symshift.data.errors import DataError, UsageError
from symshift.data.files import read_json, sha256_of, whole_file, write_json
from symshift.models.configuration import RunConfig

CONFIG, WEIGHTS, LOG = "config.json", "model.safetensors", "log.jsonl"
OPTIMIZER, STATE = "optimizer.safetensors", "state.json"
_PREFIX, _KEPT = "step-", ".safetensors"
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
    """Plain values: what was summed up since the last line of the log."""


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

    def write_final(self, weights: Mapping[str, Tensor]) -> None:
        """Write the weights of the finished run."""
        _save(self.path / WEIGHTS, weights)

    def is_finished(self) -> bool:
        """Tell whether the final weights are there."""
        return (self.path / WEIGHTS).is_file()

    def weights(self, step: int | None = None) -> tuple[dict[str, Tensor], str]:
        """Return weights and the name of the file they are in.

        Args:
            step: One of `steps`; the final weights if not given.

        Raises:
            UsageError: If there is no such checkpoint; those that exist are named.
            DataError: If the run is not finished, or the file is broken.
        """
        path = self.path / WEIGHTS
        if step is not None:
            # Kept ones first: a checkpoint of the same step comes and goes.
            path = self._kept(step)
            if not path.is_file():
                path = self._folder(step) / WEIGHTS
            if not path.is_file():
                steps = ", ".join(map(str, self.steps())) or "none"
                raise UsageError(f"{self.path}: no checkpoint of step {step}; there are: {steps}")
        elif not path.is_file():
            raise DataError(
                f"{self.path}: the run is not finished; `symshift train ... --resume` goes on with "
                "it, or give --checkpoint STEP"
            )
        return _load(path), str(path.relative_to(self.path))

    def steps(self) -> list[int]:
        """Return the steps whose weights are there, in order."""
        return sorted({*self._steps_named(""), *self._steps_named(_KEPT)})

    def keep_weights(self, step: int, weights: Mapping[str, Tensor]) -> None:
        """Write the weights of a step, which stay for as long as the run does."""
        _save(self._kept(step), weights)

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

    def latest(self) -> Checkpoint | None:
        """Return the last checkpoint that is whole, or None."""
        for step in reversed(self._steps_named("")):
            if (checkpoint := self._read(step)) is not None:
                return checkpoint
        return None

    def _read(self, step: int) -> Checkpoint | None:
        folder = self._folder(step)
        try:
            state = read_json(folder / STATE)
            if any(sha256_of(folder / name) != digest for name, digest in state["sha256"].items()):
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


class RunLog:
    """The log of a run: JSON lines without times, so the same run has the same log."""

    def __init__(self, path: Path, after_step: int | None) -> None:
        """Open the log.

        Args:
            path: The file.
            after_step: Go on behind this step's lines and drop later ones; None starts anew.
        """
        kept = [] if after_step is None else _lines_until(path, after_step)
        with whole_file(path) as hidden:
            hidden.write_bytes(b"".join(kept))
        self._file = path.open("a", encoding="utf-8", newline="\n")

    def write(self, step: int, **values: Any) -> None:
        """Append a line; values must be finite."""
        line = json.dumps({"step": step, **values}, sort_keys=True, allow_nan=False)
        self._file.write(line + "\n")
        self._file.flush()

    def __enter__(self) -> "RunLog":
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()


def read_log(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the lines of a run's log.

    Raises:
        DataError: If it is missing or broken.
    """
    try:
        with path.open(encoding="utf-8") as file:
            for number, text in enumerate(file, 1):
                line = json.loads(text)
                if not isinstance(line, dict) or type(line.get("step")) is not int:
                    raise DataError(f"{path}: line {number} is none of a run's log")
                yield line
    except (OSError, UnicodeDecodeError, json.JSONDecodeError) as error:
        raise DataError(f"{path}: no log of a run ({error})") from None


def _lines_until(path: Path, step: int) -> list[bytes]:
    kept = []
    for line in path.read_bytes().splitlines(keepends=True) if path.is_file() else []:
        try:
            if json.loads(line)["step"] > step:
                break
        except (json.JSONDecodeError, UnicodeDecodeError, KeyError, TypeError):
            break
        kept.append(line)
    return kept


def _save(path: Path, tensors: Mapping[str, Tensor]) -> None:
    plain = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    with whole_file(path) as hidden:
        save_file(plain, hidden)


def _load(path: Path) -> dict[str, Tensor]:
    try:
        return load_file(path)
    except (SafetensorError, OSError) as error:
        raise DataError(f"{path}: broken or truncated ({error})") from None


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
