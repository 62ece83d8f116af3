"""Grammars of answers for tests: whether one takes tokens, walked in the plainest way."""

from symshift.data.grammar import SYMBOL, State
from symshift.data.text import is_name


def passes(grammar, tokens):
    """Tell whether tokens are a whole answer of a grammar."""
    state, taken = State(grammar.start), set()
    for token in tokens:
        move = grammar.behind(state).get(SYMBOL if is_name(token) else token)
        if move is None or (move.fresh and token in taken):
            return False
        taken = taken | {token} if move.fresh else set() if move.clears else taken
        state = move.state
    return not state.due and state.mode in grammar.final
