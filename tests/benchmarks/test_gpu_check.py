import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "benchmarks"
pytestmark = pytest.mark.skipif(shutil.which("bash") is None, reason="it is a script for bash")


def summary(folder: Path, out: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, FOLDER / "gpu_check" / "summary.py", folder, out]
    return subprocess.run(command, capture_output=True, text=True)


def test_summary_tells_what_stages_found_and_what_became_of_those_that_failed(
    tmp_path: Path,
) -> None:
    (tmp_path / "stages").write_text("training\t0\t40\ntests\t1\t9\nanswering\t-1\t0\n")
    (tmp_path / "training.out").write_text('{"times": 2.5}')
    (tmp_path / "tests.out").write_text("first\n1 failed, 2 passed\n")
    (tmp_path / "tests.err").write_text("")

    done = summary(tmp_path, tmp_path / "found.json")
    stages = json.loads((tmp_path / "found.json").read_text())["stages"]

    assert done.returncode == 1
    assert stages["training"] == {"code": 0, "seconds": 40, "found": {"times": 2.5}}
    assert stages["tests"]["last_lines"] == ["first", "1 failed, 2 passed"]
    assert stages["answering"] == {"code": -1, "seconds": 0, "last_lines": []}
    assert "failed: tests, answering" in done.stdout


def test_summary_of_stages_that_all_went_well_exits_with_0(tmp_path: Path) -> None:
    (tmp_path / "stages").write_text("data\t0\t3\ntests\t0\t9\n")
    (tmp_path / "data.out").write_text("")
    (tmp_path / "tests.out").write_text("3 passed\n")

    assert summary(tmp_path, tmp_path / "found.json").returncode == 0
    found = json.loads((tmp_path / "found.json").read_text())
    assert found["stages"]["tests"]["found"] == "3 passed"
    assert found["machine"]["torch"]


def test_script_refuses_what_it_does_not_know() -> None:
    done = subprocess.run(
        ["bash", FOLDER / "gpu_check.sh", "--gpu"], capture_output=True, text=True
    )

    assert done.returncode == 2
    assert done.stderr.startswith("unknown: --gpu")
