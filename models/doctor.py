"""What is installed and what is missing, with the line that mends it."""

import importlib.metadata
import platform
from dataclasses import dataclass

import symshift
from symshift.data.errors import MissingToolError
from symshift.solvers.spot_discovery import find_spot

_LIBRARIES = ("click", "matplotlib", "numpy", "pebble", "pyarrow", "scipy", "sympy", "tqdm")
# Each stands for an extra, which most users need not have.
_OPTIONAL = {
    "ray": "ray",
    "transformers": "hub",
    "lm_eval": "harness",
    "tensorboard": "tensorboard",
}
_TRAIN_CURE = 'pip install "symshift[train]" (without a GPU, install the CPU build of torch first)'


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that symshift uses, or could use."""

    name: str
    """What it is."""
    found: str
    """Its version and place; empty if it is missing."""
    cure: str = ""
    """What to do if it is missing."""

    @property
    def is_missing(self) -> bool:
        """Whether it is missing."""
        return not self.found


def diagnose() -> list[Finding]:
    """Look at everything that symshift uses; nothing is changed."""
    return [
        Finding("symshift", symshift.__version__),
        Finding("python", f"{platform.python_version()} on {platform.platform()}"),
        *(_library(name, f"pip install {name}") for name in _LIBRARIES),
        _spot(),
        _library("torch", _TRAIN_CURE),
        _library("safetensors", _TRAIN_CURE),
        _devices(),
        *(_library(name, f'pip install "symshift[{extra}]"') for name, extra in _OPTIONAL.items()),
    ]


def _library(name: str, cure: str) -> Finding:
    try:
        return Finding(name, importlib.metadata.version(name))
    except importlib.metadata.PackageNotFoundError:
        return Finding(name, "", cure)


def _spot() -> Finding:
    try:
        spot = find_spot()
    except MissingToolError as error:
        return Finding("spot", "", f"{error}")
    return Finding("spot", f"{spot.version} from {spot.source}")


def _devices() -> Finding:
    try:
        import torch
    except ModuleNotFoundError:
        return Finding("devices", "", _TRAIN_CURE)
    names = [f"cpu ({torch.get_num_threads()} threads)"]
    names += [f"cuda:{i} {torch.cuda.get_device_name(i)}" for i in range(torch.cuda.device_count())]
    if torch.backends.mps.is_available():
        names.append("mps")
    return Finding("devices", ", ".join(names))


def format_findings(findings: list[Finding]) -> str:
    """Return findings as lines to read."""
    width = max(len(finding.name) for finding in findings)
    return "\n".join(f"{f.name:{width}}  {f.found or 'missing: ' + f.cure}" for f in findings)
