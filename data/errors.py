"""What can go wrong, as a small tree of exceptions.

```
SymshiftError          the run could not finish or a check failed   exit code 1
|-- UsageError         the command or an argument is wrong          exit code 2
|-- DataError          a file is not what it should be              exit code 1
|-- MissingToolError   something has to be installed first          exit code 1
|-- DisagreementError  two checkers contradict each other           exit code 1
`-- RunInterrupted     Ctrl-C; what was done is saved               exit code 130
```

Each message is one line that names the thing, shows the value and says what helps.
"""

import difflib
from collections.abc import Iterable


class SymshiftError(Exception):
    """A failure that the user can cause or mend; its text is one readable line."""

    exit_code = 1


class UsageError(SymshiftError):
    """A wrong command, name, option or value."""

    exit_code = 2


class DataError(SymshiftError):
    """A file or a row that is broken, incomplete or of another kind."""


class MissingToolError(SymshiftError):
    """An optional tool that is not installed; the text says how to get it."""


class DisagreementError(SymshiftError):
    """Two independent checkers gave different answers about one row."""


class RunInterrupted(SymshiftError):  # noqa: N818 - asked for, not a mistake
    """The user stopped a run that can go on; the text says how."""

    exit_code = 130


def unknown_name(kind: str, name: str, known: Iterable[str]) -> UsageError:
    """Return the error for a name that does not exist, with the nearest that does.

    Args:
        kind: What the name stands for, such as "task".
        name: What was given.
        known: The names that exist.
    """
    names = sorted(known)
    near = difflib.get_close_matches(name, names, n=1, cutoff=0.5)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    return UsageError(f"unknown {kind} {name!r}.{hint} Known: {', '.join(names)}")
