"""What a checker says about one prediction, and what a metric says about many."""

from dataclasses import dataclass
from enum import StrEnum


class Verdict(StrEnum):
    """The one verdict that each prediction gets (contract: the four tasks)."""

    EXACT = "exact"
    """Equal to the target after normalisation."""
    CORRECT = "correct"
    """Right, and not equal to the target."""
    INCORRECT = "incorrect"
    """Readable and wrong."""
    INVALID = "invalid"
    """Not an answer at all: unreadable, contradictory, describing nothing, or over a cap."""
    MISSING = "missing"
    """No prediction was given for the row."""
    TIMEOUT = "timeout"
    """The checker's fixed budget of states ran out before it could decide."""


class Proof(StrEnum):
    """What the steps before an answer are worth, beside its verdict (contract: horn)."""

    MINIMAL = "minimal"
    """Right, and no step can be left out."""
    VALID = "valid"
    """Right, with steps to spare."""
    BROKEN = "broken"
    """A step is wrong, or the answer does not follow from the steps."""
    ABSENT = "absent"
    """There are no steps where some are needed, or there is no answer."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """A verdict with its reason."""

    verdict: Verdict
    """The verdict."""
    reason: str = ""
    """Why, in one line; empty where the verdict says it all."""
    foreign: bool = False
    """Whether the prediction uses symbols that the input does not have."""
    proof: Proof | None = None
    """The verdict on its proof, for tasks whose answers have one."""
    proof_reason: str = ""
    """Why: the first bad step of a broken proof, or a step that is not needed."""

    @property
    def is_right(self) -> bool:
        """Whether the row counts as solved: exact or correct."""
        return self.verdict in (Verdict.EXACT, Verdict.CORRECT)


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number with its error; `value` is None where there is nothing to estimate from."""

    value: float | None
    """The point estimate."""
    low: float | None
    """Lower end of the 95 % interval."""
    high: float | None
    """Upper end of the 95 % interval."""
    n: int
    """How many observations it rests on."""
    method: str
    """How the interval was made, such as "wilson" or "bootstrap-2000"."""
