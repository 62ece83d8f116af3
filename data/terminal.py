"""Texts from anybody's files, as they may stand in one line of a terminal or a picture."""

import re

_CONTROLS_BEYOND_ASCII = re.compile("[\x7f-\x9f]")


def printable(text: str) -> str:
    r"""Return a text in which what prints no sign is escaped: `\x1b`, `\n`, `\u202e`, `\ufffe`."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def printable_json(text: str) -> str:
    """Return JSON text of the same value without the control characters that JSON leaves raw."""
    return _CONTROLS_BEYOND_ASCII.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
