"""A grammar as tables: which tokens may come next, for a whole batch of answers at once.

Every answer ends well-formed within its limit: a token may come only if what must follow it still
fits. All of it is look-ups on the device; no row or token is treated on its own.

Shapes: B answers, C possible answers' ids (model.py), N states, M kinds of tokens.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from symshift.data.grammar import SYMBOL, Grammar, State
from symshift.models.encoding import END, Codec
from symshift.models.model import FIRST_ANSWER

_NEVER = 1 << 30
_END_KIND = END - FIRST_ANSWER
_ENDED = 0
"""The state behind the end, and behind what may not come: only END comes there."""
_TAKES, _CLEARS = 1, 2


@dataclass(frozen=True, kw_only=True)
class Constraint:
    """The tables of a grammar for answers up to some length, made by `constraint_of`."""

    shortest: int
    """The tokens of the shortest answer."""
    kinds: Tensor
    """kinds_C: of each possible answer's id, which is its column in the tables below."""
    num_symbols: int
    """How many symbols there are."""
    needed: Tensor
    """needed_NM: the tokens that must be left behind one; then again, without fresh symbols."""
    following: Tensor
    """following_NM: the state behind a token."""
    effects: Tensor | None
    """effects_NM: on the memory of taken symbols; None where the grammar needs no memory."""

    def begin(self, limits_B: Tensor) -> "Restriction":
        """Begin answers of at most limits_B tokens.

        Raises:
            ValueError: If a limit is below the shortest answer.
        """
        if (least := int(limits_B.min())) < self.shortest:
            raise ValueError(f"limit={least}: the shortest well-formed answer has {self.shortest}")
        return Restriction(self, limits_B)


class Restriction:
    """A batch of answers that are being written, and what may come next in each."""

    def __init__(self, constraint: Constraint, limits_B: Tensor) -> None:
        self._tables = constraint
        self._num_states = len(constraint.following)
        self._state_B = torch.full_like(limits_B, _ENDED + 1)
        self._left_B = limits_B - 1
        self._taken_BC: Tensor | None = None
        if constraint.effects is not None:
            self._taken_BC = torch.zeros(
                (len(limits_B), len(constraint.kinds)), dtype=torch.bool, device=limits_B.device
            )

    def restrict(self, logits_BC: Tensor) -> Tensor:
        """Return the logits with -inf for every token that may not come."""
        tables, state_B = self._tables, self._state_B
        if self._taken_BC is not None:
            is_spent_B = self._taken_BC[:, -tables.num_symbols :].all(dim=1)
            state_B = state_B.add(is_spent_B, alpha=self._num_states)
        barred_BM = tables.needed.index_select(0, state_B) > self._left_B[:, None]
        barred_BC = barred_BM.index_select(1, tables.kinds)
        if self._taken_BC is not None:
            assert tables.effects is not None
            takes_B = tables.effects[:, -1].index_select(0, self._state_B) == _TAKES
            barred_BC |= self._taken_BC & takes_B[:, None]
        return logits_BC.masked_fill(barred_BC, -torch.inf)

    def advance(self, ids_B: Tensor) -> None:
        """Take in the next token of each answer."""
        tables = self._tables
        classes_B = ids_B - FIRST_ANSWER
        kinds_B = tables.kinds.index_select(0, classes_B)
        at_B = torch.add(kinds_B, self._state_B, alpha=tables.following.shape[1])
        self._state_B = tables.following.take(at_B)
        self._left_B -= 1
        if self._taken_BC is not None:
            assert tables.effects is not None
            effect_B1 = tables.effects.take(at_B)[:, None]
            self._taken_BC &= effect_B1 != _CLEARS
            classes_B1 = classes_B[:, None]
            is_taken_B1 = self._taken_BC.gather(1, classes_B1) | (effect_B1 == _TAKES)
            self._taken_BC.scatter_(1, classes_B1, is_taken_B1)

    def select(self, rows_B: Tensor) -> None:
        """Let row i go on as row rows_B[i] did."""
        self._state_B = self._state_B.index_select(0, rows_B)
        self._left_B = self._left_B.index_select(0, rows_B)
        if self._taken_BC is not None:
            self._taken_BC = self._taken_BC.index_select(0, rows_B)


def constraint_of(grammar: Grammar, codec: Codec, longest: int, device: torch.device) -> Constraint:
    """Return the tables of a grammar.

    Args:
        grammar: The grammar.
        codec: The ids of its tokens.
        longest: The greatest limit that an answer may have.
        device: Where the tables go.
    """
    kinds = ["", *codec.fixed_tokens, SYMBOL]
    needed, following, effects = _tables(grammar, kinds, _reachable(grammar, longest))
    last = len(kinds) - 1
    return Constraint(
        shortest=int(grammar.closing(State(grammar.start))),
        kinds=torch.tensor([*range(last), *[last] * len(codec.window)], device=device),
        num_symbols=len(codec.window),
        needed=needed.flatten(0, 1).to(device),
        following=following.to(device),
        effects=effects.to(device) if effects.any() else None,
    )


def _tables(
    grammar: Grammar, kinds: Sequence[str], states: Mapping[State, int]
) -> tuple[Tensor, Tensor, Tensor]:
    """Return needed_2NM, following_NM and effects_NM."""
    shape = len(states) + 1, len(kinds)
    needed = torch.full((2, *shape), _NEVER, dtype=torch.int32)
    following = torch.full(shape, _ENDED)
    effects = torch.zeros(shape, dtype=torch.int8)
    needed[:, _ENDED, _END_KIND] = -_NEVER
    column = {kind: number for number, kind in enumerate(kinds)}
    for state, row in states.items():
        if not state.due and state.mode in grammar.final:
            needed[:, row, _END_KIND] = -_NEVER
        for kind, move in grammar.behind(state).items():
            if move.state not in states:
                continue
            at = row, column[kind]
            needed[0][at] = int(grammar.closing(move.state))
            needed[1][at] = _NEVER if grammar.needs_fresh(move) else needed[0][at]
            following[at] = states[move.state]
            effects[at] = _TAKES if move.fresh else _CLEARS if move.clears else 0
    return needed, following, effects


def _reachable(grammar: Grammar, longest: int) -> dict[State, int]:
    """Number the states from which an answer of at most `longest` tokens can end, from 1 on."""
    start = State(grammar.start)
    numbers = {start: _ENDED + 1}
    newest = [start]
    for num_written in range(1, longest + 1):
        found = [move.state for state in newest for move in grammar.behind(state).values()]
        newest = []
        for state in found:
            if state not in numbers and num_written + grammar.closing(state) <= longest:
                numbers[state] = _ENDED + 1 + len(numbers)
                newest.append(state)
    return numbers
