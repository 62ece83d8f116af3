"""Several processes that want the same tokens.

Each encodes nothing before the file "go" is there, and prints how many problems it has encoded.
"""

import os
import subprocess
import sys
from pathlib import Path

from cached_rows import WINDOW, encoded, everything
from processes import eventually

from symshift.data.dataset import open_dataset
from symshift.models.encoding import Codec, encode_rows
from symshift.tasks.copy import TASK as COPY

ENCODE = """
import hashlib, sys, time
from pathlib import Path
from symshift.data.dataset import open_dataset
from symshift.data.vocabulary import Window
from symshift.models.encoding import Codec
from symshift.models.token_cache import encoded_split
from symshift.tasks.copy import TASK

class Waiting(type(TASK)):
    num_encoded = 0

    def encode_input(self, text):
        if not self.num_encoded:
            print("encoding", file=sys.stderr, flush=True)
        while not Path("go").exists():
            time.sleep(0.01)
        self.num_encoded += 1
        return super().encode_input(text)

task = Waiting()
codec = Codec((), Window.first(27))
rows = encoded_split(open_dataset(sys.argv[1]), "train", task, codec, with_paths=False)
print(task.num_encoded, hashlib.sha256(rows.source.values.numpy().tobytes()).hexdigest())
"""


def start(copy_data: Path, folder: Path, number: int) -> subprocess.Popen[str]:
    with (folder / f"stderr-{number}").open("w") as errors:
        return subprocess.Popen(
            [sys.executable, "-c", ENCODE, str(copy_data)],
            cwd=folder,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            env={**os.environ, "OMP_NUM_THREADS": "1"},
        )


def said(folder: Path) -> str:
    return "".join(path.read_text() for path in folder.glob("stderr-*"))


def test_of_processes_that_start_at_once_one_encodes(
    cache: Path, copy_data: Path, tmp_path: Path
) -> None:
    started = [start(copy_data, tmp_path, number) for number in range(2)]
    try:
        assert eventually(lambda: "another process encodes" in said(tmp_path))
        (tmp_path / "go").touch()
        outputs = [process.communicate(timeout=60)[0].split() for process in started]
    finally:
        for process in started:
            process.kill()

    assert sorted(int(number) for number, _ in outputs) == [0, 200]
    assert outputs[0][1] == outputs[1][1]
    assert said(tmp_path).count("encoding\n") == 1


def test_writer_that_was_killed_leaves_nothing_that_is_read(
    cache: Path, copy_data: Path, tmp_path: Path
) -> None:
    process = start(copy_data, tmp_path, 0)
    try:
        assert eventually(lambda: "encoding" in said(tmp_path))
    finally:
        process.kill()
        process.communicate()
    assert [*cache.glob("*/.*.tmp")]

    rows = list(open_dataset(copy_data).rows("train"))
    assert everything(encoded(copy_data)) == everything(
        encode_rows(COPY, Codec((), WINDOW), rows, with_paths=False)
    )
    assert not [*cache.glob("*/.*.tmp")]
