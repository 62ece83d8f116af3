"""What a body is: the Transformer between the rows that read and those that answer.

It sees embedded tokens, scaled as its residual stream is; it knows no names, ids or tables.

Shapes: B batch, S problem tokens, T answer tokens, D width.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

import numpy as np
import numpy.typing as npt
from torch import Tensor, nn

from symshift.data.errors import UsageError
from symshift.data.options import option
from symshift.models.bodies.packing import UNPACKED, AnyPacking
from symshift.models.bodies.position import Positions, load_positions

COPY_PLACES = ("residual", "after-norm", "every-layer")
ENCODER_DECODER, DECODER_ONLY = "encoder-decoder", "decoder-only"


@dataclass(frozen=True, kw_only=True)
class BodyOptions:
    """The kind of a body and its sizes.

    What is left open (None) gets the value that its help text tells; what does not apply to the
    chosen body stays None, and is refused where it was given.
    """

    body: str = option(
        ENCODER_DECODER, "the kind of Transformer", choices=(ENCODER_DECODER, DECODER_ONLY)
    )
    width: int = option(64, "width of the model")
    num_heads: int = option(4, "attention heads")
    ff_width: int = option(128, "inner width of the feed-forward layers")
    encoder_layers: int | None = option(None, "layers of the encoder (none: 2)")
    decoder_layers: int | None = option(
        None, "layers of the decoder (none: 2 beside an encoder, 4 alone)"
    )
    encoder_positions: str | None = option(
        None, "a scheme of positions (none: tree where inputs are trees, else sinusoidal)"
    )
    decoder_positions: str = option("rotary", "a scheme of positions: rotary, learned, sinusoidal")
    max_positions: int | None = option(None, "places that learned positions have (none: 512)")
    dropout: float = option(0.0, "dropout")
    copy_attention: bool = option(
        False, "attention that answers with raw embeddings of what was read (arXiv 2604.21632)"
    )
    copy_heads: int | None = option(None, "heads of the copy attention (none: 1)")
    copy_gate: str | None = option(
        None, "a trained weight for each head of the copy attention", choices=("learned",)
    )
    copy_place: str | None = option(
        None,
        "where copies join: residual (before the last norm, the default), after-norm, every-layer",
        choices=COPY_PLACES,
    )

    def __post_init__(self) -> None:
        has_encoder = self.body == ENCODER_DECODER
        with_encoder, with_copies = f"body={ENCODER_DECODER}", "copy_attention=true"
        self._settle("encoder_layers", 2, has_encoder, with_encoder)
        self._settle("encoder_positions", "auto", has_encoder, with_encoder)
        self._settle("decoder_layers", 2 if has_encoder else 4)
        self._settle("copy_heads", 1, self.copy_attention, with_copies)
        self._settle("copy_gate", None, self.copy_attention, with_copies)
        self._settle("copy_place", COPY_PLACES[0], self.copy_attention, with_copies)
        are_learned = "learned" in (self.encoder_positions, self.decoder_positions)
        self._settle("max_positions", 512, are_learned, "learned positions")
        self._require_shares("num_heads", self.num_heads)
        self._require_shares("copy_heads", self.copy_heads or 1)

    def _settle(self, name: str, default: Any, applies: bool = True, remedy: str = "") -> None:
        value = getattr(self, name)
        if value is None and applies:
            object.__setattr__(self, name, default)
        elif value is not None and not applies:
            raise UsageError(f"{name}={value} is of no use without {remedy}: leave it out")

    def _require_shares(self, name: str, num_heads: int) -> None:
        if num_heads < 1 or self.width % num_heads:
            raise UsageError(
                f"width={self.width} cannot be shared by {name}={num_heads}: "
                "give a width that is a multiple of it"
            )

    def positions(self, name: str) -> Positions:
        """Return a scheme of positions for a body of these sizes."""
        head_width = self.width // self.num_heads
        return load_positions(name)(self.width, head_width, self.max_positions or 0)

    def answer_positions(self) -> Positions:
        """Return the decoder's scheme of positions.

        Raises:
            UsageError: If it needs trees: answers are none.
        """
        positions = self.positions(self.decoder_positions)
        if positions.needs_paths:
            raise UsageError(
                f"decoder_positions={self.decoder_positions}: answers are no trees; "
                "give rotary, learned or sinusoidal"
            )
        return positions


class Problems(NamedTuple):
    """Embedded problems: tokens_BSD, True on tokens in mask_B11S, packed paths_BS if needed."""

    tokens: Tensor
    mask: Tensor
    paths: Tensor | None
    packing: AnyPacking = UNPACKED

    @property
    def lengths(self) -> Tensor:
        """lengths_B of the problems, without padding."""
        return self.mask.sum(dim=(1, 2, 3))


class BodyState(Protocol):
    """A batch of answers that are being written, one token at a time."""

    def select(self, rows_B: Tensor) -> None:
        """Keep some rows of the batch, in the order given; a row may be kept several times."""

    def select_answers(self, rows_B: Tensor) -> None:
        """Let row i continue the answer of row rows_B[i], which has the same problem."""


State = TypeVar("State", bound=BodyState)
Length = TypeVar("Length", int, npt.NDArray[np.int64])


def answer_limit(num_problem: Length) -> Length:
    """Return the most tokens that the answer to a problem may have: 3 times its own, and 24.

    A function of the problem alone, so an answer depends on no other row.
    """
    return 3 * num_problem + 24


class Body(nn.Module, ABC, Generic[State]):
    """Base of the bodies: built as `BODY(options, generator)`, whose draws are its first values."""

    @abstractmethod
    def needs(self, num_problem: int, num_answer: int) -> list[tuple[Positions, int]]:
        """Return each scheme with the positions it must have for rows of so many tokens."""

    def require(self, num_problem: int, num_answer: int) -> None:
        """Raise UsageError if the body cannot take problems and answers of so many tokens.

        Whatever the answers in the data, there must be room for those that it may write itself:
        else a model could be trained that cannot answer.
        """
        room = max(num_answer, answer_limit(num_problem))
        limited = [
            (scheme.num_places, num)
            for scheme, num in self.needs(num_problem, room)
            if scheme.num_places is not None
        ]
        places = min((has for has, _ in limited), default=0)
        needed = max((num for _, num in limited), default=0)
        if needed > places:
            raise UsageError(
                f"{needed} positions, but the model has learned {places}: "
                f"train it with --set max_positions={needed}, or with other positions"
            )

    @abstractmethod
    def hidden(
        self, problems: Problems, answers_BTD: Tensor, packing: AnyPacking = UNPACKED
    ) -> Tensor:
        """Return the hidden_BTD that predict the token behind each token of whole answers.

        With a packing of the answers, which the problems then have as well, it is hidden_ND.
        """

    @abstractmethod
    def begin(self, problems: Problems, max_length: int) -> State:
        """Read the problems and begin answers of at most max_length tokens."""

    @abstractmethod
    def step(self, embedded_BD: Tensor, state: State) -> Tensor:
        """Take in the next token of each answer and return its hidden_BD; moves the state on."""
