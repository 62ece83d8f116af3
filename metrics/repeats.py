"""Several files of one system: what differs between them, and each figure's mean and range."""

from collections.abc import Mapping, Sequence

from symshift.data.verdict import Estimate
from symshift.metrics.intervals import spread
from symshift.metrics.result import Repeats, Spread, System

REPEATED = ("correct", "lenient", "exact", "correct_hard", "alpha_covariance")


def repeats_of(systems: Sequence[System], figures: Sequence[Mapping[str, Estimate]]) -> Repeats:
    """Return mean and range of the figures that every file has.

    Args:
        systems: Who made each of the files.
        figures: The estimates of each file, in the same order.
    """
    over, labels = "file", tuple(str(number) for number in range(1, len(systems) + 1))
    for name in ("table_seed", "seed"):
        values = [getattr(system, name) for system in systems]
        if None not in values and len(set(values)) == len(values):
            over, labels = name, tuple(map(str, values))
            break
    spreads = {}
    for name in REPEATED:
        values = [found[name].value for found in figures if name in found]
        numbers = [value for value in values if value is not None]
        if len(numbers) == len(systems):
            mean, least, greatest = spread(numbers)
            spreads[name] = Spread(mean=mean, min=least, max=greatest, values=tuple(numbers))
    return Repeats(over=over, labels=labels, estimates=spreads)
