"""What an audit found, as plain records: data sets, splits, pairs of splits, findings."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from symshift.data.task import Cell

MAX_FINDINGS_SHOWN = 20
MIN_UNIQUE_SHARE = 0.99


@dataclass(frozen=True, slots=True)
class Spot:
    """One row, to look up."""

    where: str
    """Its file and line or row."""
    input: str
    """Its problem, in symshift's notation."""
    target: str | None
    """Its answer, as the file has it."""


@dataclass(slots=True, kw_only=True)
class AuditedFile:
    """One file that was read."""

    name: str
    """Its path inside the data set."""
    split: str
    """Its split."""
    sha256: str
    """Its hash, made anew; empty where the file is missing."""
    rows: int = 0
    """Rows that could be read."""
    unreadable: int = 0
    """Rows that could not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditedSet:
    """One data set that was read."""

    name: str
    """Its name."""
    task: str
    """Its task."""
    format: str
    """symshift, parquet, jsonl, deepltl or mixed."""
    fingerprint: str | None
    """What its manifest states, whose file hashes were compared with the files."""
    files: tuple[AuditedFile, ...]
    """Its files."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditedSplit:
    """What one split holds."""

    data_set: str
    """The data set's name."""
    split: str
    """The split's name."""
    rows: int
    """Rows that could be read."""
    problems: int
    """Problems, no two of which are equivalent."""
    unique: int
    """Rows without those that repeat an earlier one; renamings of one row do not repeat it."""
    texts: int
    """Distinct texts."""
    modulo_renaming: int | None
    """Problems modulo renaming, for a task whose names matter."""
    cells: Mapping[Cell, int]
    """Rows by (num_symbols, size)."""
    repeats: Mapping[Cell, int]
    """Rows that repeat an earlier one, by (num_symbols, size)."""
    examples: tuple[tuple[Spot, Spot], ...]
    """The first rows that are repeated, each with the first row that repeats it."""

    @property
    def unique_share(self) -> float | None:
        """Return unique / rows, or None without rows."""
        return self.unique / self.rows if self.rows else None


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditedPair:
    """What two splits share."""

    first: tuple[str, str]
    """Data set and split."""
    second: tuple[str, str]
    """Data set and split."""
    is_leak: bool
    """Whether anything shared is a leak: not if both are, say, test splits of two data sets."""
    problems: int
    """Problems that both have."""
    rows_first: int
    """Rows of the first split that have an equivalent row in the second."""
    rows_second: int
    """The other way round."""
    renamings: int
    """Further problems that both have only because their rows rename the same row."""
    texts: int
    """Texts that both have."""
    modulo_renaming: int | None
    """Shared problems modulo renaming, for a task whose names matter."""
    cells: Mapping[Cell, int]
    """Shared problems by (num_symbols, size)."""
    examples: tuple[tuple[Spot, Spot], ...]
    """Some of them."""


@dataclass(slots=True, kw_only=True)
class Audit:
    """What an audit found."""

    sets: list[AuditedSet] = field(default_factory=list)
    """The data sets, as given."""
    splits: list[AuditedSplit] = field(default_factory=list)
    """Their splits."""
    pairs: list[AuditedPair] = field(default_factory=list)
    """Every pair of splits."""
    findings: list[str] = field(default_factory=list)
    """Rows and files that cannot be read or are not what they should be: the first few."""
    num_findings: int = 0
    """How many there are."""

    def note(self, finding: str) -> None:
        """Count a finding, and keep it if it is among the first."""
        self.num_findings += 1
        if len(self.findings) < MAX_FINDINGS_SHOWN:
            self.findings.append(finding)

    @property
    def repeats(self) -> int:
        """How many rows repeat an earlier one of their split."""
        return sum(split.rows - split.unique for split in self.splits)

    @property
    def leaks(self) -> list[AuditedPair]:
        """The pairs of splits that share what they must not."""
        return [pair for pair in self.pairs if pair.is_leak and pair.problems]

    @property
    def is_clean(self) -> bool:
        """Whether everything was read and nothing is equivalent that must not be."""
        return not (self.num_findings or self.repeats or self.leaks)

    @property
    def warnings(self) -> list[str]:
        """What should be known and is no failure of its own."""
        return [
            f"{split.data_set} {split.split}: only {split.unique_share:.4f} of its rows are unique"
            for split in self.splits
            if split.unique_share is not None and split.unique_share < MIN_UNIQUE_SHARE
        ]
