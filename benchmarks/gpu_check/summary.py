"""Gathers what the stages of gpu_check.sh wrote into one JSON file, and says how it went.

Usage: summary.py FOLDER FILE, where FOLDER/stages has a line for each stage: its name, its exit
code (-1: there was no time left) and its seconds. Exit code 1 if any stage failed.
"""

import json
import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import torch

import symshift

AS_JSON = ("training", "training-float32", "training-compiled", "answering")


def machine() -> dict[str, Any]:
    """Return what the machine is."""
    gpus = [torch.cuda.get_device_properties(i) for i in range(torch.cuda.device_count())]
    return {
        "gpus": [{"name": gpu.name, "gib": round(gpu.total_memory / 2**30)} for gpu in gpus],
        "driver": driver(),
        "cores": os.cpu_count(),
        "system": platform.platform(),
        "python": platform.python_version(),
        "torch": torch.__version__,
        "cuda": torch.version.cuda,
        "symshift": symshift.__version__,
    }


def driver() -> str | None:
    """Return the version of NVIDIA's driver, if there is one."""
    if shutil.which("nvidia-smi") is None:
        return None
    query = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
    return subprocess.run(query, capture_output=True, text=True).stdout.strip() or None


def stage(folder: Path, name: str, code: int, seconds: int) -> dict[str, Any]:
    """Return how a stage went and what it found."""
    entry: dict[str, Any] = {"code": code, "seconds": seconds}
    if code:
        texts = [folder / f"{name}.{kind}" for kind in ("out", "err")]
        lines = [path.read_text(errors="replace").splitlines() for path in texts if path.exists()]
        return {**entry, "last_lines": [line for each in lines for line in each[-15:]]}
    text = (folder / f"{name}.out").read_text()
    if name in AS_JSON:
        entry["found"] = json.loads(text)
    elif name == "tests":
        entry["found"] = text.splitlines()[-1]
    elif name == "train":
        entry["found"] = json.loads((folder / "run" / "log.jsonl").read_text().splitlines()[-1])
    elif name == "score":
        result = json.loads((folder / "result.json").read_text())
        shown = ("correct", "correct_hard", "exact", "trivial")
        entry["found"] = {key: result["estimates"].get(key) for key in shown}
    return entry


def main() -> None:
    """Write the file."""
    folder, out = Path(sys.argv[1]), Path(sys.argv[2])
    stages = {}
    for line in (folder / "stages").read_text().splitlines():
        name, code, seconds = line.split("\t")
        stages[name] = stage(folder, name, int(code), int(seconds))
    text = json.dumps({"machine": machine(), "stages": stages}, indent=2, sort_keys=True)
    out.write_text(text + "\n")
    failed = [name for name, entry in stages.items() if entry["code"]]
    for name, entry in stages.items():
        print(f"{name:18} {entry['seconds']:4} s  {'failed' if name in failed else 'done'}")
    print(f"{out}: written" + (f"; failed: {', '.join(failed)}" if failed else ""))
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
