"""Forgetting: a learned table whose rows are drawn anew every so many steps.

Active forgetting (Chen et al., arXiv 2307.01163): behind every `every`-th step the rows get fresh
values from their first distribution, their moments in Adam are set to zero (and its counter of
steps, which corrects the bias of the moments, where all rows are reset), and their learning rate
runs through its whole schedule, warm-up and decay, from each reset to the next. Temporary
forgetting (Anand et al., arXiv 2406.00053) ends early: from step `until` on there is no reset.
Lazić et al. (arXiv 2604.21632) reset (un)embeddings; interval, rows and scale are not known.

The defaults are the published ones: all rows, every 1,000 steps. Here that includes the tokens
that mean something, such as the end of an answer or an operator: right behind a reset nothing can
be solved, and a model of few names may not recover from resets that come too fast (copying 5
symbols with every=100: 0.63 of the strings after 600 steps, none after 1,200; with rows=symbols
0.92 and 1.00).

Also ours: the plain tied model of `learned` is the default. The last episode lasts from the last
reset to the end of training, and no reset follows the last step. Where only unseen rows are reset,
the trained ones keep the schedule of the body. A figure says little unless it tells how far behind
a reset it was taken: so the method is evaluated right behind the last one, 10 steps on, a full
period on, and at the end.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import torch

from symshift.data.errors import UsageError
from symshift.data.options import option, require_sizes
from symshift.models.embedding import TableShape
from symshift.models.embeddings.learned import Learned, PlainOptions
from symshift.models.streams import sent

ROWS = ("all", "unseen", "symbols")
EARLY = 10
MAX_STEPS = 2**31 - 1
_MOMENTS = ("exp_avg", "exp_avg_sq")


@dataclass(frozen=True, kw_only=True)
class ForgettingOptions(PlainOptions):
    """Options of the plain table, and when to reset what."""

    every: int = option(1000, "steps from one reset to the next")
    until: int | None = option(None, "the step from which on nothing is reset (none: to the end)")
    rows: str = option(
        "all", "what is reset; unseen: rows of names that training never meets", choices=ROWS
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        require_sizes(self, "every", "until", most=MAX_STEPS)


class Forgetting(Learned):
    """A learned table, and the numbers of the rows that are reset."""

    Options = ForgettingOptions

    def __init__(
        self, shape: TableShape, options: ForgettingOptions, generator: torch.Generator
    ) -> None:
        super().__init__(shape, options, generator)
        self._options = options
        self._reset_rows = _rows_to_reset(shape, options.rows)

    def schedule_step(self, step: int, steps: int) -> int:
        """Return the step of the plain schedule, which each episode runs through once."""
        if self._options.rows == "unseen":
            return step
        start = self._last_reset(step - 1, steps)
        is_last = start == self._last_reset(steps, steps)
        length = steps - start if is_last else self._options.every
        return -(-(step - start) * steps // length)

    def after_step(
        self, step: int, steps: int, optimizer: torch.optim.Optimizer, generator: torch.Generator
    ) -> None:
        """Reset the rows and what the optimiser knows of them, where it is time."""
        if self._last_reset(step, steps) != step:
            return
        width = self.rows.shape[1]
        fresh_RD = torch.randn(len(self._reset_rows), width, generator=generator) * self._std
        state = optimizer.state[self.rows]
        with torch.no_grad():
            self.rows[self._reset_rows] = sent(fresh_RD, self.rows.device)
            for name in _MOMENTS:
                state[name][self._reset_rows] = 0.0
            if self._options.rows == "all":
                state["step"].zero_()

    def phases(self, steps: int) -> Mapping[str, int]:
        """Return the steps of the last reset, a few and a full period behind it, and the last.

        Raises:
            UsageError: If a training of so many steps has no reset.
        """
        reset = self._last_reset(steps, steps)
        if not reset:
            options = self._options
            until = "" if options.until is None else f" and until={options.until}"
            raise UsageError(
                f"every={options.every}{until}: nothing is ever reset in {steps} steps; "
                "give a smaller --set every, or train for more --set steps"
            )
        wanted = (0, EARLY, self._options.every, steps - reset)
        chosen = sorted({reset + behind for behind in wanted if reset + behind <= steps})
        return {self.phase(step, steps): step for step in chosen}

    def phase(self, step: int, steps: int) -> str:
        """Return the number of steps behind a reset; the first values count as one."""
        return f"reset+{step - self._last_reset(step, steps)}"

    def _last_reset(self, step: int, steps: int) -> int:
        """Return the last step up to this one behind which there is a reset, or 0."""
        until = steps if self._options.until is None else self._options.until
        latest = min(step, steps - 1, until - 1)
        return latest - latest % self._options.every


def _rows_to_reset(shape: TableShape, which: str) -> torch.Tensor:
    """Return the numbers of the rows that are reset.

    Raises:
        UsageError: If there are none.
    """
    if which == "all":
        return torch.arange(shape.num_rows)
    rows = shape.unseen if which == "unseen" else torch.arange(shape.num_fixed, shape.num_rows)
    if not len(rows):
        raise UsageError(
            f"rows={which}: training meets every name that the model has a row for; "
            "give it rows for more with --set vocabulary=K"
        )
    return rows


METHOD = Forgetting
