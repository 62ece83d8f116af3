"""How the symbols of a problem get their names: always a bijection into the vocabulary."""

from collections.abc import Callable, Sequence

from symshift.data.errors import UsageError, unknown_name
from symshift.data.seeds import Draws
from symshift.data.vocabulary import Window, name_at

Namer = Callable[[Sequence[str], Sequence[str], Window, Draws], list[str]]
_SKEW_SCALE = 10**12


def _random(symbols: Sequence[str], _: Sequence[str], window: Window, draws: Draws) -> list[str]:
    places = draws.sample(len(window), len(symbols))
    return [name_at(window.start + place) for place in places]


def _in_order(order: Sequence[str], symbols: Sequence[str], window: Window) -> list[str]:
    place = {symbol: at for at, symbol in enumerate(order)}
    return [name_at(window.start + place[symbol]) for symbol in symbols]


def _input_order(symbols: Sequence[str], _: Sequence[str], window: Window, __: Draws) -> list[str]:
    return _in_order(symbols, symbols, window)


def _target_order(
    symbols: Sequence[str], in_target: Sequence[str], window: Window, _: Draws
) -> list[str]:
    known = [symbol for symbol in in_target if symbol in symbols]
    return _in_order(tuple(dict.fromkeys([*known, *symbols])), symbols, window)


def _skew(symbols: Sequence[str], _: Sequence[str], window: Window, draws: Draws) -> list[str]:
    free = list(range(len(window)))
    names = []
    for _symbol in symbols:
        weights = [_SKEW_SCALE // (place + 1) for place in free]
        at, rest = 0, draws.below(sum(weights))
        while rest >= weights[at]:
            rest -= weights[at]
            at += 1
        names.append(name_at(window.start + free.pop(at)))
    return names


PERTURBATIONS: dict[str, Namer] = {
    "none": _random,
    "target-order": _target_order,
    "input-order": _input_order,
    "skew": _skew,
}
"""`none`: a random injection. `target-order`: by first occurrence in the target, then in the
input (the bias of the published perturbed set, without its merging of symbols). `input-order`:
by first occurrence in the input. `skew`: the n-th name of the vocabulary has weight 1/n."""

IN_ORDER = frozenset(("target-order", "input-order"))
"""Those that depend on where symbols occur in the texts."""


def check_perturbation(kind: str) -> None:
    """Refuse an unknown perturbation.

    Raises:
        UsageError: The nearest name is offered.
    """
    if kind not in PERTURBATIONS:
        raise unknown_name("perturbation", kind, PERTURBATIONS)


def give_names(
    kind: str, symbols: Sequence[str], in_target: Sequence[str], window: Window, draws: Draws
) -> dict[str, str]:
    """Return the name that each symbol of a problem gets.

    Args:
        kind: One of PERTURBATIONS.
        symbols: The problem's symbols in order of first occurrence in the input.
        in_target: The symbols of the target, in order of first occurrence.
        window: The names to use.
        draws: The randomness of `none` and `skew`.

    Raises:
        UsageError: If the problem has more symbols than the window has names.
    """
    if len(symbols) > len(window):
        raise UsageError(f"{len(symbols)} symbols cannot have different names of {len(window)}")
    names = PERTURBATIONS[kind](symbols, in_target, window, draws)
    return dict(zip(symbols, names, strict=True))
