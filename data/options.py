"""Options as frozen dataclasses: built from text, checked, and written back."""

import dataclasses
import types
import typing
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from symshift.data.errors import UsageError, unknown_name

T = TypeVar("T")
MAX_RANGE_TEXT = 40
MAX_SIZE = 1 << 16
_BOOLEANS = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}


@dataclass(frozen=True, slots=True)
class Range:
    """An inclusive range of whole numbers, written "A-B", or "A" for A-A."""

    min: int
    max: int

    def __post_init__(self) -> None:
        if not 0 <= self.min <= self.max:
            raise UsageError(f"range {self.min}-{self.max}: give A-B with 0 <= A <= B")

    @classmethod
    def parse(cls, text: str) -> "Range":
        """Read "A-B" or "A".

        Raises:
            UsageError: If the text is neither.
        """
        low, dash, high = text.strip().partition("-")
        if not low.isdecimal() or (dash and not high.isdecimal()) or len(text) > MAX_RANGE_TEXT:
            raise UsageError(f"range {text[:MAX_RANGE_TEXT]!r}: give A-B or A, such as 3-9")
        return cls(int(low), int(high if dash else low))

    def __contains__(self, number: object) -> bool:
        return isinstance(number, int) and self.min <= number <= self.max

    def __str__(self) -> str:
        return f"{self.min}-{self.max}"


def option(default: Any, help: str, choices: tuple[str, ...] | None = None) -> Any:
    """Declare a field of an options dataclass with the help text that users read.

    Args:
        default: The default value.
        help: One line.
        choices: The allowed texts, where there is a list of them.
    """
    return dataclasses.field(default=default, metadata={"help": help, "choices": choices})


def _convert(value: Any, kind: Any, where: str) -> Any:
    if isinstance(kind, types.UnionType):
        kinds = [k for k in kind.__args__ if k is not type(None)]
        is_none = value is None or (isinstance(value, str) and value.lower() == "none")
        if is_none and len(kinds) < len(kind.__args__):
            return None
        return _convert(value, kinds[0], where)
    try:
        if kind is Range:
            return value if isinstance(value, Range) else Range.parse(str(value))
        if kind is bool:
            return value if isinstance(value, bool) else _BOOLEANS[str(value).lower()]
        if kind is int:
            return int(str(value).replace("_", ""))
        return kind(value)
    except (KeyError, ValueError, TypeError, OverflowError) as error:
        name = getattr(kind, "__name__", str(kind))
        raise UsageError(f"{where}={value!r} is not a value of type {name}") from error


def build(cls: type[T], values: Mapping[str, Any], kind: str = "option") -> T:
    """Build an options dataclass from a mapping of texts or values.

    Args:
        cls: A dataclass whose fields were declared with `option`.
        values: Field name to value; texts are converted to the field's type.
        kind: What a key is called in messages.

    Raises:
        UsageError: For an unknown key (the nearest is offered), a value of the wrong type, or a
            value that is not among the choices.
    """
    known = {field.name: field for field in dataclasses.fields(cls)}  # type: ignore[arg-type]
    hints = typing.get_type_hints(cls)
    converted = {}
    for key, value in values.items():
        if key not in known:
            raise unknown_name(kind, key, known)
        converted[key] = _convert(value, hints[key], key)
        choices = known[key].metadata.get("choices")
        if choices and converted[key] is not None and converted[key] not in choices:
            raise unknown_name(key, str(converted[key]), choices)
    return cls(**converted)


def require_sizes(options: Any, *names: str, least: int = 1, most: int = MAX_SIZE) -> None:
    """Raise UsageError if an option is a number that is too small, or absurdly great.

    None is no number. A file may state any, and what it states is built.
    """
    for name in names:
        value = getattr(options, name)
        if value is not None and not least <= value <= most:
            raise UsageError(f"{name}={value} must be at least {least} and at most {most}")


def option_names(cls: type[Any]) -> tuple[str, ...]:
    """Return the names of the fields of an options dataclass."""
    return tuple(field.name for field in dataclasses.fields(cls))


def to_plain(options: Any) -> dict[str, Any]:
    """Return an options dataclass as plain values that JSON and TOML can hold."""
    plain = {}
    for field in dataclasses.fields(options):
        value = getattr(options, field.name)
        plain[field.name] = str(value) if isinstance(value, Range) else value
    return plain
