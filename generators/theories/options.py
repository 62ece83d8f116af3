"""What a user can ask of theories."""

from dataclasses import dataclass

from symshift.data.options import Range, option

SAMPLERS = ("rp", "lp")
CHAINS = ("closure", "minimal", "answer")


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What shapes theories, queries and targets."""

    num_symbols: Range | None = option(None, "predicates, A-B  [default: 5-30, as names allow]")
    rules: Range | None = option(None, "rules, A-B  [default: up to 4 a predicate]")
    facts: Range | None = option(None, "facts, A-B  [default: up to 1 a predicate]")
    size: Range | None = option(None, "rules and facts together, A-B")
    body_size: Range = option(Range(1, 3), "atoms in the body of a rule, A-B")
    depth: Range | None = option(None, "rounds to a derivable query, A-B  [default: up to 6]")
    closure_depth: Range | None = option(None, "rounds to the closure, A-B  [default: depth + 1]")
    sampler: str = option("rp", "rule priority or label priority", SAMPLERS)
    chain: str = option("closure", "the steps before the answer", CHAINS)
    decorrelate: bool = option(False, "each theory with both answers, of atoms with like rules")
    balance: bool = option(False, "all cells (num_symbols, size) evenly")
