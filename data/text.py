"""Texts of every task, token by token: splitting, and renaming symbols in place."""

import re
from collections.abc import Mapping
from typing import Any

_WORD = re.compile(r"[a-z][a-z0-9_]*")
_WORDS = re.compile(f"({_WORD.pattern})")
_TOKEN = re.compile(r"<->|->|[a-z][a-z0-9_]*|\S")
RESERVED = frozenset(("xor", "cycle", "true", "false", "facts", "rules", "query"))


def tokens_of(text: str) -> tuple[str, ...]:
    """Split a text, well-formed or not, into tokens; white space only separates."""
    return tuple(_TOKEN.findall(text))


def is_name(token: str) -> bool:
    """Tell whether a token stands where a symbol's name would."""
    return token not in RESERVED and _WORD.fullmatch(token) is not None


def rename_text(text: str, names: Mapping[str, str]) -> str:
    """Rename the symbols in a text, all at once; everything else stays as it is."""
    # Twice as fast as a substitution, which calls a function for each word.
    parts = _WORDS.split(text)
    parts[1::2] = [names.get(word, word) for word in parts[1::2]]
    return "".join(parts)


def rename_values(values: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    """Rename the symbols in the texts, and lists of texts, that a mapping holds."""
    renamed = dict(values)
    for key, value in values.items():
        if isinstance(value, str):
            renamed[key] = rename_text(value, names)
        elif isinstance(value, list) and value:
            # All at once: a call for each item costs more than the renaming.
            renamed[key] = rename_text("\n".join(value), names).split("\n")
    return renamed
