"""The training loop: steps, and between them the log, validation, checkpoints and stopping."""

import math
import sys
from collections.abc import Mapping
from typing import Never

from tqdm import tqdm

from symshift.data.errors import RunInterrupted, SymshiftError
from symshift.models.training.checkpoints import RunFolder, RunLog
from symshift.models.training.interruption import stop_requests
from symshift.models.training.monitor import Monitor, is_monitored
from symshift.models.training.trainer import Trainer
from symshift.models.training.validation import Validation


def say(text: str) -> None:
    """Print a line to stderr, above any progress bar."""
    tqdm.write(text, file=sys.stderr)


def show_shares(shares: Mapping[str, float]) -> str:
    """Return shares as readable text, the greatest first."""
    ordered = sorted(shares.items(), key=lambda item: -item[1])
    return ", ".join(f"{name} {share:.3f}" for name, share in ordered)


class Loop:
    """Does the steps that are left of a run."""

    def __init__(
        self,
        trainer: Trainer,
        folder: RunFolder,
        log: RunLog,
        validation: Validation | None,
        monitor: Monitor,
    ) -> None:
        self._trainer = trainer
        self._folder = folder
        self._log = log
        self._validation = validation
        self._monitor = monitor
        self._config = trainer.config.train

    def run(self) -> None:
        """Do the steps that are left.

        Raises:
            RunInterrupted: If SIGINT or SIGTERM asked to stop; a checkpoint has been written.
            SymshiftError: If the loss is no longer a number.
        """
        steps, done = self._config.steps, self._trainer.step_done
        if not done:
            self._look()
        with (
            stop_requests() as request,
            tqdm(total=steps, initial=done, unit="step", disable=None) as bar,
        ):
            while self._trainer.step_done < steps:
                self._trainer.step()
                self._after_step(bar)
                bar.update()
                if request.is_made:
                    self._stop()

    def _after_step(self, bar: "tqdm[Never]") -> None:
        config, step = self._config, self._trainer.step_done
        is_last = step == config.steps
        if step % config.log_every == 0 or is_last:
            self._summarise(bar)
        if is_monitored(step) or is_last:
            self._look()
        if self._validation and (step % config.validate_every == 0 or is_last):
            measured = self._validation.measure(self._trainer.validation_table())
            self._require_finite(measured)
            self._log.write(step, validation=measured, **self._trainer.phase())
            solved, loss = measured["correct"], measured["loss"]
            say(f"step {step}: validation {solved:.3f} solved, loss {loss:.3f}")
        # Before the checkpoint, so that a run that goes on from it has all earlier ones.
        if step in self._trainer.kept_steps and not is_last:
            self._folder.keep_weights(step, self._trainer.model.state_dict())
        if step % config.checkpoint_every == 0 and not is_last:
            self._save()

    def _look(self) -> None:
        found = self._monitor.measure(self._trainer.model, self._trainer.validation_table())
        if found:
            self._log.write(self._trainer.step_done, collapse=found)

    def _summarise(self, bar: "tqdm[Never]") -> None:
        summary = self._trainer.summary()
        self._require_finite(summary)
        self._log.write(self._trainer.step_done, **summary)
        bar.set_postfix(loss=f"{summary['loss']:.3f}", refresh=False)

    def _save(self) -> None:
        checkpoint = self._trainer.checkpoint()
        self._require_finite(checkpoint.progress)
        self._folder.save(checkpoint, self._config.keep_checkpoints)

    def _require_finite(self, values: Mapping[str, float]) -> None:
        for name, value in values.items():
            if not math.isfinite(value):
                raise SymshiftError(
                    f"step {self._trainer.step_done}: {name} is {value}; "
                    "train with a lower --set lr or more --set warmup_steps"
                )

    def _stop(self) -> None:
        step = self._trainer.step_done
        if step == self._config.steps:
            return
        if step % self._config.checkpoint_every:
            self._save()
        raise RunInterrupted(
            f"stopped behind step {step} of {self._config.steps}, which is saved; "
            "the same command with --resume goes on"
        )
