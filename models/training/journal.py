"""What a run leaves behind as it goes: lines of the log, measured rows, checkpoints, the best one.

Only the first process of a team has a journal.
"""

import dataclasses
import sys
from collections.abc import Mapping
from typing import Any

from tqdm import tqdm

from symshift.data.terminal import printable
from symshift.models.training.checkpoints import Checkpoint, RunFolder
from symshift.models.training.monitor import Monitor
from symshift.models.training.run_log import RunLog
from symshift.models.training.trainer import Trainer
from symshift.models.training.validation import Validation


def say(text: str) -> None:
    """Print a line to stderr, above any progress bar; what it quotes cannot steer a terminal."""
    tqdm.write(printable(text), file=sys.stderr)


def show_shares(shares: Mapping[str, float]) -> str:
    """Return shares as readable text, the greatest first."""
    ordered = sorted(shares.items(), key=lambda item: -item[1])
    return ", ".join(f"{name} {share:.3f}" for name, share in ordered)


class Journal:
    """Writes a run's files; what it is told must be finite."""

    def __init__(
        self,
        trainer: Trainer,
        folder: RunFolder,
        log: RunLog,
        validation: Validation | None,
        monitor: Monitor,
        progress: Mapping[str, Any],
    ) -> None:
        """Begin, or go on.

        Args:
            trainer: The model in training.
            folder: The run.
            log: Its log, open.
            validation: The rows to try the model on, if there are any.
            monitor: Looks at the rows of symbols.
            progress: What the last checkpoint says; empty at the start.
        """
        self._trainer, self._folder, self._log = trainer, folder, log
        self._validation, self._monitor = validation, monitor
        self._best: dict[str, Any] = progress.get("best", {})
        self._num_worse: int = progress.get("num_worse", 0)

    def write_summary(self, values: Mapping[str, float]) -> None:
        """Log what a stretch of steps came to."""
        self._log.write(self._trainer.step_done, **values)

    def look(self) -> None:
        """Log what the rows of symbols look like."""
        found = self._monitor.measure(self._trainer.model, self._trainer.validation_table())
        if found:
            self._log.write(self._trainer.step_done, collapse=found)

    def validate(self) -> dict[str, float]:
        """Try the model on the validation rows; return what was found, nothing without rows."""
        if self._validation is None:
            return {}
        return self._validation.measure(self._trainer.validation_table())

    def write_validation(self, found: Mapping[str, float]) -> None:
        """Log what was found, and keep the weights if they are the best so far.

        The best solve most rows, or as many with the least loss.
        """
        step = self._trainer.step_done
        self._log.write(step, validation=found, **self._trainer.phase())
        say(f"step {step}: validation {found['correct']:.3f} solved, loss {found['loss']:.3f}")
        self._num_worse += 1
        if not self._best or _rank(found) > _rank(self._best):
            self._best, self._num_worse = {"step": step, **found}, 0
            self._folder.keep_best(self._trainer.model.state_dict(), self._best)

    def is_stuck(self, patience: int) -> bool:
        """Tell whether so many validations in a row were no better; 0 is never enough."""
        return 0 < patience <= self._num_worse

    def write_end(self, patience: int) -> None:
        """Log that the training ends before its last step."""
        step, best = self._trainer.step_done, self._best["step"]
        self._log.write(step, stopped=f"patience={patience}", best_step=best)
        say(f"step {step}: no better since step {best}, so this is the last step")

    def keep_weights(self) -> None:
        """Keep the weights, which are to be evaluated."""
        self._folder.keep_weights(self._trainer.step_done, self._trainer.model.state_dict())

    def save(self, checkpoint: Checkpoint, keep: int) -> None:
        """Write a checkpoint, then remove the oldest beyond the last `keep` (0: none)."""
        self._log.sync()
        progress = {**checkpoint.progress, "best": self._best, "num_worse": self._num_worse}
        self._folder.save(dataclasses.replace(checkpoint, progress=progress), keep)


def _rank(found: Mapping[str, float]) -> tuple[float, float]:
    return found["correct"], -found["loss"]
