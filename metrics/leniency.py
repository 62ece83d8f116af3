r"""The lenient reading of answers that are none to the letter: `lenient-v1`.

What counts is the strict reading. The lenient one is a second column: how many rows would be
right if wrappings did not matter. It looks only at answers whose strict verdict is `invalid`, and

1. cuts the text at special tokens (`<s>`, `<pad>`, `<|endoftext|>`, ...) and drops invisible ones,
2. writes logical symbols (U+00AC, U+2227, ...) and Spot's other spellings (`&&`, `/\`, `=>`) as
   the operators of the rows,
3. strips from each line white space, code fences, a label such as `Answer:`, quotes, emphasis and
   a full stop at the end.

Then the text must hold exactly one candidate: one line in which the task's mark of an answer
(`Task.answer_mark`) is found, and once only. That line as a whole is checked. Two candidates, even
equal ones, are none: never the first, never the last.

Never repaired: letter case, spelling, brackets, separators, words for values (`a=true`), an answer
inside a sentence or over several lines, finite traces, unknown-token marks (`<unk>`), an answer
that contradicts itself or describes nothing, an empty answer, null. Any change of these rules gets
another version, and figures of different versions are not compared.
"""

import re

from symshift.data.formula import MAX_TEXT

LENIENT = "lenient-v1"
_SPECIAL = re.compile(
    r"<\|[A-Za-z0-9_]{1,40}\|>|</?s>|</?(?:pad|eos|bos|sos|start_of_turn|end_of_turn)>"
    r"|\[(?:PAD|EOS|BOS|SOS|CLS|SEP)\]",
    re.IGNORECASE,
)
_INVISIBLE = dict.fromkeys(map(ord, "\u200b\u200c\u200d\u2060\ufeff"))
_SYMBOLS = {
    **dict.fromkeys("\u00ac\u223c\uffe2", "!"),
    **dict.fromkeys("\u2227\u22c0", "&"),
    **dict.fromkeys("\u2228\u22c1", "|"),
    **dict.fromkeys("\u2192\u21d2\u27f6\u27f9", "->"),
    **dict.fromkeys("\u2194\u21d4\u27f7\u27fa", "<->"),
    **dict.fromkeys("\u2295\u22bb", " xor "),
    **dict.fromkeys("\u25cb\u25ef", " X "),
    **dict.fromkeys("\u25c7\u2662\u22c4\u25ca", " F "),
    **dict.fromkeys("\u25a1\u25fb\u2610", " G "),
    "\u22a4": "1",
    "\u22a5": "0",
}
_SPELLINGS = {
    "<=>": "<->",
    "<-->": "<->",
    "-->": "->",
    "=>": "->",
    "&&": "&",
    "||": "|",
    "/\\": "&",
    "\\/": "|",
}
_SPELLING = re.compile("|".join(map(re.escape, sorted(_SPELLINGS, key=len, reverse=True))))
_FENCE = re.compile(r"\s*(?:```|~~~)[A-Za-z0-9_+-]*\s*")
_LABEL = re.compile(
    r"(?P<emphasis>\*\*|__|)(?:the\s+)?(?:final\s+)?"
    r"(?:answer|trace|lasso|word|assignment|output|prediction|result|solution|target)"
    r"(?:\s+is)?(?:\s*:(?P=emphasis)|(?P=emphasis)\s*:)",
    re.IGNORECASE,
)
_WRAPPINGS = (
    *(("**", "**"), ("__", "__"), ("*", "*"), ("```", "```"), ("`", "`"), ("$", "$")),
    *(('"', '"'), ("'", "'"), ("\u201c", "\u201d"), ("\u2018", "\u2019"), ("\u00ab", "\u00bb")),
)


def sole_answer(text: str, mark: str) -> str | None:
    """Return the one candidate that a text holds, unwrapped; None if it holds none or several.

    Args:
        text: What a system said.
        mark: A regular expression that matches once in a line that holds one answer.
    """
    if len(text) > MAX_TEXT:
        return None
    lines = _SPECIAL.sub("\n", _plain_operators(text)).split("\n")
    candidates = []
    for line in map(_unwrapped, lines):
        # Case is ignored in looking for answers, so that none is overlooked.
        marks = len(re.findall(mark, line, re.IGNORECASE))
        if marks > 1:
            return None
        if marks and line:
            candidates.append(line)
    return candidates[0] if len(candidates) == 1 else None


def _plain_operators(text: str) -> str:
    if not text.isascii():
        text = text.translate(_INVISIBLE)
        text = "".join(_SYMBOLS.get(character, character) for character in text)
    return _SPELLING.sub(lambda found: _SPELLINGS[found[0]], text)


def _unwrapped(line: str) -> str:
    line = "" if _FENCE.fullmatch(line) else line.strip()
    while True:
        label = _LABEL.match(line)
        shorter = line[label.end() if label else 0 :].removesuffix(".").strip()
        for start, end in _WRAPPINGS:
            is_long = len(shorter) >= len(start + end)
            if is_long and shorter.startswith(start) and shorter.endswith(end):
                shorter = shorter[len(start) : -len(end)].strip()
        if shorter == line:
            return line
        line = shorter
