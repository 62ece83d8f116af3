"""The training loop: steps, and between them the log, validation, checkpoints and stopping."""

import math
from collections.abc import Mapping
from typing import Never

from tqdm import tqdm

from symshift.data.errors import RunInterrupted, SymshiftError
from symshift.models.training.interruption import stop_requests
from symshift.models.training.journal import Journal
from symshift.models.training.monitor import is_monitored
from symshift.models.training.trainer import Trainer


class NonFiniteError(SymshiftError):
    """A loss, a gradient or a measure is no longer a number."""

    def __init__(self, step: int, text: str) -> None:
        super().__init__(text)
        self.step = step
        """The first step whose batch led to it, as far as is known."""


class Loop:
    """Does the steps that are left of a run. All processes of a team go through it alike."""

    def __init__(self, trainer: Trainer, journal: Journal | None) -> None:
        """Prepare the loop.

        Args:
            trainer: The model in training.
            journal: What writes, in the first process of a team; None in the others.
        """
        self._trainer = trainer
        self._journal = journal
        self._config = trainer.config.train
        self._is_enough = False

    def run(self) -> None:
        """Do the steps that are left.

        Raises:
            RunInterrupted: If SIGINT or SIGTERM asked to stop; a checkpoint has been written.
            NonFiniteError: If the loss or a gradient is no longer a number.
        """
        steps, done = self._config.steps, self._trainer.step_done
        if not done and self._journal:
            self._journal.look()
        # A run may have been killed between its last step and its last file.
        is_stuck = bool(self._journal and self._journal.is_stuck(self._config.patience))
        self._is_enough = self._trainer.team.any(is_stuck)
        with (
            stop_requests() as request,
            tqdm(total=steps, initial=done, unit="step", disable=self._hides_bar()) as bar,
        ):
            while self._trainer.step_done < steps and not self._is_enough:
                self._trainer.step()
                self._after_step(bar)
                bar.update()
                if self._trainer.team.any(request.is_made) and not self._is_enough:
                    self._stop()

    def _hides_bar(self) -> bool | None:
        """Only the first process shows one; None for "where there is a terminal"."""
        return None if self._journal else True

    def _after_step(self, bar: "tqdm[Never]") -> None:
        config, step, journal = self._config, self._trainer.step_done, self._journal
        is_last = step == config.steps
        if step % config.log_every == 0 or is_last:
            self._summarise(bar)
        if journal and (is_monitored(step) or is_last):
            journal.look()
        if step % config.validate_every == 0 or is_last:
            self._validate()
        # Before the checkpoint, so that a run that goes on from it has all earlier ones.
        if journal and step in self._trainer.kept_steps and not is_last:
            journal.keep_weights()
        if step % config.checkpoint_every == 0 and not is_last:
            self._save()

    def _summarise(self, bar: "tqdm[Never]") -> None:
        summary = self._trainer.summary()
        self._require_finite(summary)
        bar.set_postfix(loss=f"{summary['loss']:.3f}", refresh=False)
        if self._journal:
            self._journal.write_summary(summary)

    def _validate(self) -> None:
        is_stuck, journal = False, self._journal
        if journal and (found := journal.validate()):
            self._require_finite(found)
            journal.write_validation(found)
            is_stuck = journal.is_stuck(self._config.patience)
        is_last = self._trainer.step_done == self._config.steps
        if self._config.patience and self._trainer.team.any(is_stuck) and not is_last:
            self._is_enough = True
            if journal:
                journal.write_end(self._config.patience)

    def _save(self) -> None:
        checkpoint = self._trainer.checkpoint()
        is_sound = self._trainer.first_bad_step() is None
        self._require_finite(
            {
                "loss": sum(checkpoint.progress["loss_sums"]),
                "grad_norm": 0.0 if is_sound else math.nan,
            }
        )
        if self._journal:
            self._journal.save(checkpoint, self._config.keep_checkpoints)

    def _require_finite(self, values: Mapping[str, float]) -> None:
        for name, value in values.items():
            if not math.isfinite(value):
                step = self._trainer.first_bad_step() or self._trainer.step_done
                raise NonFiniteError(
                    step,
                    f"step {step}: {name} is {value}; "
                    "train with a lower --set lr or more --set warmup_steps",
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
