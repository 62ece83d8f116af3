"""The ways in which one trained model is asked: behind a step, and with re-drawn rows.

A method that changes on its own, such as by forgetting, is asked at each of its phases; one with
learned rows of names, also with fresh values for those that were never trained. Each such figure
stands beside the plain one, under a name that says what it is.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from symshift.data.vocabulary import Window
from symshift.models.building import build_model
from symshift.models.configuration import RunConfig


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """One way to ask a trained model."""

    checkpoint: int | None = None
    """The step whose weights answer; None for the last."""
    redraw_unseen: str = "none"
    """One of redrawing.REDRAWS."""

    @property
    def suffix(self) -> str:
        """What it adds to the name of a file; nothing for the plain way."""
        step = "" if self.checkpoint is None else f"-step{self.checkpoint}"
        return step if self.redraw_unseen == "none" else f"{step}-redrawn-{self.redraw_unseen}"

    @property
    def flags(self) -> tuple[str, ...]:
        """The options of `symshift predict` that ask for it."""
        step = () if self.checkpoint is None else ("--checkpoint", str(self.checkpoint))
        if self.redraw_unseen == "none":
            return step
        return (*step, "--redraw-unseen", self.redraw_unseen)


def variants_of(config: RunConfig, window: Window, redraws: Iterable[str]) -> list[Variant]:
    """Return the ways to ask a finished run: the plain one, then its phases, then re-drawn rows.

    Args:
        config: The run's configuration.
        window: The names of the data set to answer; rows are re-drawn where training has not all.
        redraws: Which of redrawing.REDRAWS to try.
    """
    method, steps = build_model(config).method, config.train.steps
    earlier = sorted(step for step in method.phases(steps).values() if step != steps)
    found = [Variant(), *(Variant(checkpoint=step) for step in earlier)]
    trained = config.window
    is_new = window.start < trained.start or window.stop > trained.stop
    if is_new and method.token_tables():
        found += [Variant(redraw_unseen=how) for how in dict.fromkeys(redraws) if how != "none"]
    return found


def system_name(name: str, phase: str, redraw: str, constrained: bool = False) -> str:
    """Return what a model asked in one way is called, such as "learned, redrawn (matched)"."""
    drawn = "" if redraw == "none" else f"redrawn ({redraw})"
    return ", ".join(filter(None, (name, phase, drawn, "constrained" * constrained)))
