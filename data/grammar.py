"""What answers look like, token by token: a push-down automaton that a task states.

The stack is a number of operands that are still due, with a mode below them. While operands are
due, the next token belongs to a formula in Polish order. When none is, the mode's moves tell what
may come. A state is (mode, due), so it counts where a parser would nest.

A move can demand a *fresh* symbol: one that no fresh move has taken since the memory was cleared.

```
a pair of formulas:   Grammar(start="first", final=("end",), arity={SYMBOL: 0, "&": 2},
                              moves=(Move("first", "(", "middle", due=1),
                                     Move("middle", ",", "last", due=1),
                                     Move("last", ")", "end")))
```
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

SYMBOL = "<symbol>"
"""What stands for any symbol among the kinds of tokens; every other kind is a fixed token."""


class State(NamedTuple):
    """How far an answer has come: the operands that are due, then a mode."""

    mode: str
    due: int = 0


@dataclass(frozen=True, slots=True)
class Move:
    """A token that may come in a mode when no operand is due."""

    mode: str
    """Where it may come."""
    kind: str
    """The token, or SYMBOL."""
    then: str
    """The mode behind it."""
    due: int = field(default=0, kw_only=True)
    """The operands that must come before that mode counts."""
    fresh: bool = field(default=False, kw_only=True)
    """Whether it must be a symbol that was not taken yet; it is taken now."""
    clears: bool = field(default=False, kw_only=True)
    """Whether all symbols count as not taken behind it."""

    @property
    def state(self) -> State:
        """The state behind it."""
        return State(self.then, self.due)


@dataclass(frozen=True, kw_only=True)
class Grammar:
    """The well-formed answers of a task, as tokens of its encode_target."""

    start: str
    """The mode that answers start in."""
    final: tuple[str, ...]
    """The modes that an answer may end in."""
    moves: tuple[Move, ...]
    """What may come where no operand is due."""
    arity: Mapping[str, int] = field(default_factory=dict)
    """The operands that each token of a formula asks for."""

    def __post_init__(self) -> None:
        for move in self.moves:
            if self._by_mode[move.mode][move.kind] is not move:
                raise ValueError(f"{move.mode}: two moves for {move.kind}")
            if move.fresh and (move.kind != SYMBOL or self._starved(move.then)):
                raise ValueError(f"{move}: only a symbol is fresh, and no other must follow")
            if not math.isfinite(self.closing(move.state)):
                raise ValueError(f"{move}: no answer ends behind it")

    def behind(self, state: State) -> dict[str, Move]:
        """Return what may come in a state: for each kind of token the move that it makes."""
        mode, due = state
        if not due:
            return self._by_mode.get(mode, {})
        return {
            kind: Move(mode, kind, mode, due=due - 1 + arity) for kind, arity in self.arity.items()
        }

    def closing(self, state: State) -> float:
        """Return how many tokens suffice to end the answer; infinity if it cannot end.

        No fresh symbol is counted on, except where nothing else may come.
        """
        return state.due + self._closing.get(state.mode, math.inf)

    def needs_fresh(self, move: Move) -> bool:
        """Tell whether a move is lost where every symbol has been taken."""
        return move.fresh or self._starved(move.then)

    def _starved(self, mode: str) -> bool:
        """Tell whether nothing but a fresh symbol may come in a mode."""
        moves = self._by_mode.get(mode, {}).values()
        return mode not in self.final and all(move.fresh for move in moves)

    @cached_property
    def _by_mode(self) -> dict[str, dict[str, Move]]:
        modes: dict[str, dict[str, Move]] = {}
        for move in self.moves:
            modes.setdefault(move.mode, {})[move.kind] = move
        return modes

    @cached_property
    def _closing(self) -> dict[str, float]:
        """The least number of tokens from each mode to the end, by repeated relaxation."""
        least: dict[str, float] = dict.fromkeys(self.final, 0)
        for _ in self.moves:
            for move in self.moves:
                if move.fresh and not self._starved(move.mode):
                    continue
                through = 1 + move.due + least.get(move.then, math.inf)
                least[move.mode] = min(least.get(move.mode, math.inf), through)
        return least
