"""Rule priority: rules and facts first, and what is derivable follows (SimpleLogic, `rp`).

As in Zhang et al., "On the Paradox of Learning to Reason from Data" (2022): the number of rules is
uniform; each rule has a body of uniform size, whose atoms and head differ and are equally likely,
and no rule comes twice; the number of facts is uniform, and all atoms are equally likely facts.
Written afresh, with a condition: theories are drawn until the closure takes the wanted number of
rounds. So that deep ones need few draws, several choices of facts are tried with each set of rules
(trials), and one of those that fit is taken.
"""

from collections.abc import Iterator, Sequence

from symshift.data.options import Range
from symshift.data.seeds import Draws
from symshift.generators.theories.limits import Limits
from symshift.generators.theories.refinement import Clause
from symshift.generators.theories.trials import Draft, Trials

NUM_ORDERS = 4
MAX_TRIES = 60
"""Sets of rules that are drawn for one candidate."""
_KEY_SPACE = 1 << 32


def draw_by_rules(
    draws: Draws,
    limits: Limits,
    num_symbols: Sequence[int],
    closure_depth: int,
    *,
    has_underivable: bool,
    prefers_heads: bool,
) -> Draft | None:
    """Draw a theory whose closure takes a given number of rounds.

    Args:
        draws: The randomness.
        limits: What the theory may be.
        num_symbols: The numbers of predicates to choose from.
        closure_depth: The rounds.
        has_underivable: Whether some atom of a rule must not be derivable.
        prefers_heads: Whether it shall be the head of one, where the facts can be chosen so.

    Returns:
        None if MAX_TRIES sets of rules gave none.
    """
    keys = draws.integers(_KEY_SPACE)
    for _ in range(MAX_TRIES):
        num_atoms, num_rules, facts = limits.draw_sizes(draws, num_symbols, closure_depth)
        clauses = _rules(draws, limits.body_size, num_atoms, num_rules)
        if clauses is None:
            continue
        trials = Trials(clauses, [_order(keys, num_atoms) for _ in range(NUM_ORDERS)], num_atoms)
        fitting = trials.with_depth(closure_depth)
        fitting &= trials.allowed(facts, limits.num_symbols.min)
        if has_underivable:
            fitting &= ~trials.deriving(trials.atoms)
        if prefers_heads:
            fitting = fitting & ~trials.deriving(head for _, head in clauses) or fitting
        if fitting:
            return trials.draft(fitting, draws)
    return None


def _rules(draws: Draws, body_size: Range, num_atoms: int, num_rules: int) -> list[Clause] | None:
    """Draw distinct rules, or None where chance would not let them be found soon."""
    num_sizes = min(body_size.max, num_atoms - 1) - body_size.min + 1
    # One stream serves both: a size and an atom, or an atom alone.
    numbers = draws.integers(num_sizes * num_atoms)
    seen: set[tuple[int, int]] = set()
    clauses: list[Clause] = []
    for _ in range(40 * num_rules + 400):
        if len(clauses) == num_rules:
            break
        size, head = divmod(next(numbers), num_atoms)
        mask = 1 << head
        body: list[int] = []
        while len(body) < body_size.min + size:
            atom = next(numbers) % num_atoms
            if not mask >> atom & 1:
                mask |= 1 << atom
                body.append(atom)
        if (mask, head) not in seen:
            seen.add((mask, head))
            clauses.append((tuple(body), head))
    return clauses if len(clauses) == num_rules else None


def _order(keys: Iterator[int], num: int) -> list[int]:
    """Return the numbers below `num` in random order."""
    drawn = [next(keys) for _ in range(num)]
    return sorted(range(num), key=drawn.__getitem__)
