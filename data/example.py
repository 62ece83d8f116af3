"""One row of a data set, its identity, and the split that its content decides."""

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from typing import Any

SPLITS = ("train", "validation", "test")
SPLIT_VERSION = "split-v1"
_SHARES = {"train": 0.8, "validation": 0.9, "test": 1.0}


def split_of(task: str, canonical_text: str) -> str:
    """Return the split of a problem: a function of its canonical form alone (contract, rule 3).

    Args:
        task: The task's name.
        canonical_text: The frozen serialisation of the canonical form. For horn: of the theory
            without the query.
    """
    digest = hashlib.sha256(f"{SPLIT_VERSION}\n{task}\n{canonical_text}".encode()).digest()
    place = int.from_bytes(digest[:8], "big") / 2**64
    return next(split for split, bound in _SHARES.items() if place < bound)


def canonical_id_of(task: str, canonical_text: str) -> str:
    """Return the identity that equivalent problems share: 32 hexadecimal digits."""
    return hashlib.sha256(f"canonical-v1\n{task}\n{canonical_text}".encode()).hexdigest()[:32]


def row_id_of(task: str, *content: str) -> str:
    """Return a row's own id, such as "ltl-1f0c...": a hash of what a model sees and answers."""
    parts = "".join(f"{len(part)}:{part}" for part in content)
    return f"{task}-{hashlib.sha256(f'row-v1 {parts}'.encode()).hexdigest()[:24]}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Example(Mapping[str, Any]):
    """One row: what is stored, shown to a model and scored. Also a mapping of its columns."""

    id: str
    """Unique in any data set, from content."""
    task: str
    """The task's name."""
    input: str
    """The problem as text."""
    target: str
    """A right answer as text."""
    symbols: tuple[str, ...]
    """The input's symbols, in canonical order."""
    num_symbols: int
    """How many distinct symbols the input has."""
    size: int
    """The problem's size (contract, words)."""
    canonical_id: str
    """Equal for equivalent problems."""
    split: str
    """train, validation or test."""
    perturbation: str
    """How names were given to the symbols."""
    shortcuts: tuple[str, ...]
    """The trivial answers that solve the row; a row without any is `hard`."""
    index: int
    """Which candidate of the stream it is."""
    solver: str
    """The solver that made the target, with its version."""
    extra: Mapping[str, Any] = field(default_factory=dict)
    """The columns that only this task, or only a renamed set, has."""

    @property
    def cell(self) -> tuple[int, int]:
        """Its cell of the grid: num_symbols and size."""
        return self.num_symbols, self.size

    def __getitem__(self, column: str) -> Any:
        if column in COMMON_COLUMNS:
            return getattr(self, column)
        return self.extra[column]

    def __iter__(self) -> Iterator[str]:
        yield from COMMON_COLUMNS
        yield from self.extra

    def __len__(self) -> int:
        return len(COMMON_COLUMNS) + len(self.extra)

    @classmethod
    def from_columns(cls, row: Mapping[str, Any]) -> "Example":
        """Build an example from a mapping of columns, as a reader of files yields it."""
        common = {name: row[name] for name in COMMON_COLUMNS}
        for name in ("symbols", "shortcuts"):
            common[name] = tuple(common[name])
        return cls(**common, extra={k: v for k, v in row.items() if k not in common})


COMMON_COLUMNS = tuple(f.name for f in fields(Example) if f.name != "extra")
