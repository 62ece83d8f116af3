"""Texts of every task, token by token: splitting, and renaming symbols in place."""

import re
from collections.abc import Mapping

_WORD = re.compile(r"[a-z][a-z0-9_]*")
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
    return _WORD.sub(lambda found: names.get(found[0], found[0]), text)
