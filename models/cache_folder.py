"""Where things that can be made again are kept between runs, and how much of them.

```
$SYMSHIFT_CACHE, or $XDG_CACHE_HOME/symshift, or ~/.cache/symshift
```

Everything in it may be deleted at any time.
"""

import math
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from filelock import FileLock, Timeout

from symshift.data.errors import UsageError
from symshift.data.files import LOCK_NAME

FOLDER_VARIABLE = "SYMSHIFT_CACHE"
LIMIT_VARIABLE = "SYMSHIFT_CACHE_LIMIT"
DEFAULT_LIMIT_GB = 10
_KEY = re.compile(r"[0-9a-f]{64}")


def cache_folder() -> Path | None:
    """Return the folder of the cache; None where nothing shall be kept, or there is no home."""
    named = os.environ.get(FOLDER_VARIABLE)
    if named == "":
        return None
    shared = Path(os.environ.get("XDG_CACHE_HOME", ""))
    try:
        if named is not None:
            return Path(named).expanduser()
        # The XDG specification has relative paths ignored.
        base = shared if shared.is_absolute() else Path("~/.cache").expanduser()
    except RuntimeError:
        return None
    return base / "symshift"


def limit_bytes() -> float:
    """Return how much may be kept.

    Raises:
        UsageError: If the environment states no number.
    """
    text = os.environ.get(LIMIT_VARIABLE) or str(DEFAULT_LIMIT_GB)
    try:
        gigabytes = float(text)
    except ValueError:
        gigabytes = math.nan
    if not gigabytes >= 0:
        raise UsageError(f"{LIMIT_VARIABLE}={text!r}: give a number of gigabytes, such as 10")
    return gigabytes * 1e9


@contextmanager
def entry_lock(entry: Path, *, wait: bool) -> Iterator[None]:
    """Be the only one who writes an entry; the system frees the lock of a process that died.

    Raises:
        Timeout: If another process holds it, and it is not waited for.
    """
    try:
        with FileLock(entry / LOCK_NAME, timeout=-1 if wait else 0):
            yield
    except NotImplementedError as error:
        raise OSError(f"{entry}: {error}") from error


def mark_used(entry: Path) -> None:
    """Note that an entry was used now."""
    with suppress(OSError):
        os.utime(entry)


def evict(newest: Path, max_bytes: float) -> None:
    """Remove the entries beside one that were used longest ago, until all fit.

    Entries that are being written stay, and so does the newest, whatever its size. Where the
    system removes a file in use, as on Linux, its readers keep it; elsewhere it stays.
    """
    found = [path for path in newest.parent.iterdir() if _KEY.fullmatch(path.name)]
    others = [path for path in found if path != newest]
    excess = sum(map(_size, found)) - max_bytes
    for entry in sorted(others, key=_last_use):
        if excess <= 0:
            return
        size = _size(entry)
        with suppress(OSError, Timeout), entry_lock(entry, wait=False):
            shutil.rmtree(entry)
            excess -= size


def _size(entry: Path) -> int:
    """Return the bytes in an entry; what another process has just removed has none."""
    total = 0
    with suppress(OSError):
        for path in entry.iterdir():
            total += path.stat().st_size
    return total


def _last_use(entry: Path) -> float:
    try:
        return entry.stat().st_mtime
    except OSError:
        return 0
