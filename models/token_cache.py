"""Rows as numbers, kept between runs: a data set is turned into tokens once.

An entry holds a split of a data set for a task's tokens and a window of names. It lies in the
folder that models/cache_folder.py names, as models/token_files.py has it.
"""

import sys
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from filelock import Timeout
from tqdm import tqdm

from symshift import __version__
from symshift.data.dataset import Dataset
from symshift.data.task import Task
from symshift.models.cache_folder import (
    FOLDER_VARIABLE,
    cache_folder,
    entry_lock,
    evict,
    limit_bytes,
    mark_used,
)
from symshift.models.encoding import MAX_PATH, Codec, EncodedRows, encode_batches
from symshift.models.token_files import BrokenEntryError, Recipe, read_entry, write_entry

CACHE_VERSION = 1
"""It changes when the same texts give other numbers, or entries have other files."""


def encoded_split(
    dataset: Dataset, split: str, task: Task, codec: Codec, *, with_paths: bool
) -> EncodedRows:
    """Return the rows of a split as numbers: from the cache, or encoded and put there.

    Reads the split's shards to check their SHA-256 even where the cache has the rows, so that a
    data set that was changed is refused. Writes the entry if there is none, and removes those used
    longest ago beyond the cache's limit. Where there is no cache, or it cannot be written, a line
    on stderr says so and the rows are in memory alone. Of several processes that ask at once, one
    encodes and the others wait.

    Args:
        dataset: The data set.
        split: The split.
        task: Its task.
        codec: The ids.
        with_paths: Whether the model needs tree paths.

    Raises:
        UsageError: As encode_problems does; also if there is no such split, or the cache's limit
            is no number.
        DataError: If a shard is not the one that the manifest describes.
    """
    dataset.files(split)
    max_bytes = limit_bytes()
    folder = cache_folder()
    recipe = _recipe(dataset, split, task, codec, with_paths)
    # Nothing is read before it is iterated over.
    batches = _encoded(dataset, split, task, codec, with_paths)
    if folder is None:
        _say(f"{split} rows are encoded for this run alone: no folder in {FOLDER_VARIABLE}")
        return EncodedRows.joined([*batches])
    try:
        return _kept(folder / "tokens" / recipe.key, recipe, batches, max_bytes)
    except (OSError, BrokenEntryError) as error:
        _say(
            f"{split} rows are encoded for this run alone: the cache cannot be used ({error}); "
            f"name a folder in {FOLDER_VARIABLE}"
        )
    return EncodedRows.joined([*_encoded(dataset, split, task, codec, with_paths)])


def _recipe(dataset: Dataset, split: str, task: Task, codec: Codec, with_paths: bool) -> Recipe:
    # A fingerprint is what the manifest says; the hashes of the shards have been checked.
    shards = [file["sha256"] for file in dataset.manifest["files"] if file["split"] == split]
    window = codec.window
    return Recipe(
        parts={
            "cache_version": CACHE_VERSION,
            "symshift": __version__,
            "fingerprint": dataset.fingerprint,
            "split": split,
            "shards": shards,
            "task": task.name,
            "task_version": task.version,
            "fixed_tokens": list(codec.fixed_tokens),
            "window": [window.start, window.stop],
            "with_paths": with_paths,
            "max_path": MAX_PATH,
        },
        num_rows=dataset.num_rows(split),
        num_ids=codec.num_ids,
        id_type=codec.dtype,
        with_paths=with_paths,
    )


def _encoded(
    dataset: Dataset, split: str, task: Task, codec: Codec, with_paths: bool
) -> Iterator[EncodedRows]:
    """Yield the rows, a batch in memory at a time, with a progress bar."""
    columns = dataset.batches(split, ["input", "target"])
    texts = ((batch["input"], batch["target"]) for batch in columns)
    total = dataset.num_rows(split)
    with tqdm(total=total, unit="row", desc=f"{split} tokens", disable=None) as bar:
        for batch in encode_batches(task, codec, texts, with_paths=with_paths):
            yield batch
            bar.update(len(batch))


def _kept(
    entry: Path, recipe: Recipe, batches: Iterable[EncodedRows], max_bytes: float
) -> EncodedRows:
    """Return the rows of an entry, which is made if it is not there."""
    rows = None
    # A broken one is told by who makes it anew: another process may be at it just now.
    with suppress(BrokenEntryError):
        rows = read_entry(entry, recipe)
    if rows is None:
        with _turn(entry):
            rows = _sound(entry, recipe) or _made(entry, recipe, batches)
        evict(entry, max_bytes)
    mark_used(entry)
    return rows


@contextmanager
def _turn(entry: Path) -> Iterator[None]:
    """Be the only one who makes an entry."""
    entry.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        try:
            stack.enter_context(entry_lock(entry, wait=False))
        except Timeout:
            _say(f"{entry}: another process encodes these rows; waiting for it")
            stack.enter_context(entry_lock(entry, wait=True))
        yield


def _sound(entry: Path, recipe: Recipe) -> EncodedRows | None:
    """Return the rows of an entry; None where it has to be made."""
    try:
        return read_entry(entry, recipe)
    except BrokenEntryError as error:
        _say(f"{entry}: {error}; it is made anew")
        return None


def _made(entry: Path, recipe: Recipe, batches: Iterable[EncodedRows]) -> EncodedRows:
    write_entry(entry, recipe, batches)
    if (rows := read_entry(entry, recipe)) is None:
        raise BrokenEntryError(f"{entry} vanished")
    return rows


def _say(text: str) -> None:
    tqdm.write(text, file=sys.stderr)
