"""Rows that differ in their number, for tests of how many of which kind are taken."""

from symshift.data.example import Example


def numbered_row(number, split="train", cell=(1, 3), **others):
    """Return a row; a task, shortcuts or columns of its own may be given."""
    return Example(
        id=f"x-{number}",
        input="a",
        target="a",
        symbols=("a",),
        num_symbols=cell[0],
        size=cell[1],
        canonical_id=f"{number:032x}",
        split=split,
        perturbation="none",
        index=number,
        solver="s",
        **{"task": "copy", "shortcuts": (), **others},
    )


def is_taken(quota, outcome):
    """Tell whether a quota that takes rows singly takes this one."""
    return bool(next(quota.judge([outcome])))
