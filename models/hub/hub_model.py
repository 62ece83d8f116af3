"""Causal language models in the Hugging Face format, from a folder or from the hub.

No code that comes with a model is run, and weights are read from safetensors only.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
import transformers
from huggingface_hub import snapshot_download
from huggingface_hub.errors import HFValidationError
from safetensors import SafetensorError

from symshift.data.errors import DataError, SymshiftError, unknown_name
from symshift.data.files import sha256_of

DTYPES = ("auto", "float32", "bfloat16", "float16")
_FILES = ["*.json", "*.safetensors", "*.model", "*.txt", "*.jinja"]
_WEIGHTS = ("model.safetensors.index.json", "model.safetensors")
_FAULTS = (OSError, ValueError, ImportError, RuntimeError, SafetensorError)


@dataclass(frozen=True, kw_only=True)
class HubModel:
    """A language model with its tokenizer, in evaluation mode."""

    model: Any
    """The transformers model."""
    tokenizer: Any
    """Its tokenizer."""
    identity: Mapping[str, Any]
    """Which model it is: its name, its revision on the hub, checksums of its files."""

    @property
    def max_length(self) -> int | None:
        """The most tokens, prompt and answer together, or None where it does not say."""
        config = self.model.config.get_text_config(decoder=True)
        length: int | None = getattr(config, "max_position_embeddings", None)
        return length

    @property
    def end_ids(self) -> tuple[int, ...]:
        """The tokens that end an answer."""
        ends = self.model.generation_config.eos_token_id
        if ends is None:
            ends = self.tokenizer.eos_token_id
        return tuple(ends) if isinstance(ends, list | tuple) else () if ends is None else (ends,)


def load_hub_model(name: str, device: torch.device, dtype: str) -> HubModel:
    """Load a model.

    Args:
        name: A folder, or a name on the hub, which is downloaded if it is not there yet.
        device: Where it shall run.
        dtype: One of DTYPES; "auto" is float32 on the CPU and as stored elsewhere.

    Raises:
        SymshiftError: If it can be found neither here nor on the hub.
        DataError: If it cannot be loaded without running its own code or unpickling, or its
            weights are not whole.
    """
    if dtype not in DTYPES:
        raise unknown_name("dtype", dtype, DTYPES)
    if dtype == "auto" and device.type == "cpu":
        dtype = "float32"
    folder, revision = _folder_of(name)
    own: dict[str, Any] = {"local_files_only": True, "trust_remote_code": False}
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(folder, **own)
        model, info = transformers.AutoModelForCausalLM.from_pretrained(
            folder,
            **own,
            use_safetensors=True,
            dtype=dtype if dtype == "auto" else getattr(torch, dtype),
            output_loading_info=True,
        )
    except _FAULTS as error:
        raise DataError(f"{name}: cannot be loaded ({_first_line(error)})") from error
    if missing := sorted(info["missing_keys"]):
        raise DataError(f"{name}: its weights lack {len(missing)} tensors, such as {missing[0]}")
    # Not where a folder lies: the same model gives the same bytes.
    shown = name if revision else folder.resolve().name
    identity = {"name": shown, "revision": revision, **_checksums(folder)}
    return HubModel(model=model.to(device).eval(), tokenizer=tokenizer, identity=identity)


def _folder_of(name: str) -> tuple[Path, str | None]:
    """Return where a model's files are, and their revision if they are from the hub."""
    folder = Path(name).expanduser()
    if folder.is_dir():
        return folder, None
    try:
        # Files in sub-folders are the same weights in other formats.
        found = Path(snapshot_download(name, allow_patterns=_FILES, ignore_patterns=["*/*"]))
    except (OSError, HFValidationError) as error:
        raise SymshiftError(
            f"{name}: no folder, and not to be had from the Hugging Face hub ({_first_line(error)})"
        ) from error
    return found, found.name


def _checksums(folder: Path) -> dict[str, str]:
    names = ("config.json", *_WEIGHTS)
    return {f"{n} sha256": sha256_of(folder / n) for n in names if (folder / n).is_file()}


def _first_line(error: BaseException) -> str:
    return next(iter(str(error).strip().splitlines()), type(error).__name__)[:300]
