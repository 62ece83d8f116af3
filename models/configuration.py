"""The configuration of a run: what `--set key=value` accepts, resolved and stored with the run."""

import dataclasses
import math
import platform
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch

from symshift import __version__
from symshift.data.errors import DataError, UsageError, unknown_name
from symshift.data.options import build, option, to_plain
from symshift.data.vocabulary import Window
from symshift.models.bodies.body import BodyOptions
from symshift.models.config_file import config_fault
from symshift.models.embedding import EmbeddingMethod, load_method
from symshift.models.encoding import Codec

SCHEMA_VERSION = 1
KIND = "setting"


@dataclass(frozen=True, kw_only=True)
class TrainConfig(BodyOptions):
    """Settings that every method has: those of the body, and those of the training.

    The defaults suit a small model on a CPU. For LTL, Interchangeable Token Embeddings
    (arXiv 2410.17161) used 8 + 8 layers of width 128, 8 heads, inner width 1024, batches of 768,
    a rate of 1e-3 after 1,000 steps of warm-up, and dropout 0.1.
    """

    vocabulary: int | None = option(
        None, "rows for the first K names, where rows have names (none: those of the data)"
    )
    steps: int = option(2400, "training steps")
    batch_size: int = option(64, "rows in a batch, of all processes together")
    accumulate: int = option(
        1, "parts of a batch that are computed one after another, for less memory"
    )
    pool_batches: int = option(
        2, "batches among which rows are sorted by length; more is faster and learns less"
    )
    lr: float = option(3e-3, "peak learning rate")
    warmup_steps: int = option(100, "steps until the peak, from where a cosine falls to 0")
    weight_decay: float = option(0.1, "weight decay of AdamW, on matrices")
    clip_norm: float = option(1.0, "greatest norm of the gradient")
    precision: str = option(
        "auto", "type of matrix products; auto: bfloat16 on CUDA", ("auto", "float32", "bfloat16")
    )
    compile: bool = option(False, "compile the model with torch.compile")
    deterministic: bool = option(
        False, "use deterministic operations alone, which are slower on CUDA"
    )
    threads: int = option(0, "threads of the CPU; 0: as many as PyTorch takes")
    log_every: int = option(50, "steps between lines of the log")
    validate_every: int = option(500, "steps between validations")
    validation_rows: int = option(256, "validation rows that are solved each time")
    patience: int = option(0, "validations in a row without a better one that end it (0: never)")
    checkpoint_every: int = option(500, "steps between checkpoints")
    keep_checkpoints: int = option(2, "checkpoints to keep (0: all)")

    def __post_init__(self) -> None:
        for name, value in dataclasses.asdict(self).items():
            least = 0 if name in _MAY_BE_ZERO else 1
            most = _MOST.get(name, 2**31 - 1)
            if type(value) is int and not least <= value <= most:
                raise UsageError(f"{name}={value} must be at least {least} and at most {most}")
        if not 0 <= self.dropout < 1:
            raise UsageError(f"dropout={self.dropout} must be at least 0 and less than 1")
        rates = (self.lr, self.clip_norm, self.weight_decay)
        if not (self.lr > 0 and self.clip_norm > 0 and 0 <= self.weight_decay <= 1e6):
            raise UsageError(
                f"lr={self.lr} and clip_norm={self.clip_norm} must be positive, "
                f"weight_decay={self.weight_decay} not negative and at most 1e6"
            )
        if not all(map(math.isfinite, rates)):
            raise UsageError(f"lr={self.lr} and clip_norm={self.clip_norm} must be finite")
        super().__post_init__()


_MAY_BE_ZERO = ("warmup_steps", "threads", "patience", "keep_checkpoints")
# A file may state any number, and what it states is built: no more than a large machine holds.
_MOST = {
    **dict.fromkeys(("width", "ff_width"), 1 << 16),
    **dict.fromkeys(("encoder_layers", "decoder_layers", "threads"), 1 << 10),
    **dict.fromkeys(("vocabulary", "max_positions", "batch_size"), 1 << 22),
}


@dataclass(frozen=True, kw_only=True)
class RunConfig:
    """Everything that a run is a function of, and what a reader needs to build its model."""

    method: str
    """The embedding method."""
    options: Any
    """The method's options, all of them."""
    train: TrainConfig
    """The settings that every method has, none left open."""
    seed: int
    """The seed."""
    task: str
    """The task."""
    task_version: int
    """The task's stream version."""
    fixed_tokens: tuple[str, ...]
    """The task's tokens that are not symbols, as the model knows them."""
    window: Window
    """The names of the training data."""
    dataset: Mapping[str, str]
    """Name and fingerprint of the training data."""

    @property
    def method_class(self) -> type[EmbeddingMethod]:
        """The method's class."""
        return load_method(self.method)

    @property
    def known_names(self) -> Window:
        """The names that training gives ids: where rows have names, from the first on."""
        if self.method_class.named_rows:
            assert self.train.vocabulary is not None
            return Window.first(self.train.vocabulary)
        return self.window

    @property
    def codec(self) -> Codec:
        """The ids that training uses."""
        return Codec(self.fixed_tokens, self.known_names)

    def differences(self, other: "RunConfig") -> str:
        """Name what another configuration has otherwise, such as "seed 0, not 1"; "" for nothing.

        The weights of equal configurations are equal, on one machine and the same versions.
        """
        mine, others = self._flat(), other._flat()
        return ", ".join(
            f"{key} {mine.get(key)}, not {others.get(key)}"
            for key in sorted(mine.keys() | others.keys())
            if mine.get(key) != others.get(key)
        )

    def _flat(self) -> dict[str, Any]:
        plain = self.to_json()
        del plain["versions"]
        # What rows it has is what counts; its folder may have another name by now.
        plain["dataset"] = plain["dataset"].get("fingerprint")
        parts = [plain.pop(name) for name in ("options", "train")]
        return {**plain, **parts[0], **parts[1]}

    def to_json(self) -> dict[str, Any]:
        """Return plain values for config.json."""
        plain = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        return {
            **plain,
            "schema_version": SCHEMA_VERSION,
            "options": to_plain(self.options),
            "train": to_plain(self.train),
            "fixed_tokens": list(self.fixed_tokens),
            "window": [self.window.start, self.window.stop],
            "dataset": dict(self.dataset),
            "versions": versions(),
        }

    @classmethod
    def from_json(cls, plain: Mapping[str, Any], where: str) -> "RunConfig":
        """Read what `to_json` wrote.

        Args:
            plain: The parsed file.
            where: The file's name, for messages.

        Raises:
            DataError: If it is no configuration of a run, or one of another version.
        """
        version = plain.get("schema_version") if isinstance(plain, Mapping) else None
        if version != SCHEMA_VERSION:
            raise DataError(
                f"{where}: schema_version {version!r}, this symshift reads {SCHEMA_VERSION}"
            )
        if fault := config_fault(plain):
            raise DataError(f"{where}: no configuration of a run: {fault}")
        values = {field.name: plain[field.name] for field in dataclasses.fields(cls)}
        try:
            values["options"] = build(load_method(plain["method"]).Options, plain["options"], KIND)
            values["train"] = build(TrainConfig, plain["train"], KIND)
            values["window"] = Window(*plain["window"])
        except UsageError as error:
            raise DataError(f"{where}: no configuration of a run: {error}") from None
        return cls(**{**values, "fixed_tokens": tuple(plain["fixed_tokens"])})


def split_settings(method: str, settings: Mapping[str, str]) -> tuple[Any, TrainConfig]:
    """Return the options of a method and the settings of the training that texts ask for.

    Args:
        method: The method's name.
        settings: The texts of `--set key=value`.

    Raises:
        UsageError: For an unknown method, an unknown key (the nearest is offered) or a bad value.
    """
    options_type = load_method(method).Options
    own = {field.name for field in dataclasses.fields(options_type)}
    shared = {field.name for field in dataclasses.fields(TrainConfig)}
    assert not own & shared, f"options of {method} hide settings: {own & shared}"
    for key in settings:
        if key not in own | shared:
            raise unknown_name(KIND, key, own | shared)
    return (
        build(options_type, {k: v for k, v in settings.items() if k in own}, KIND),
        build(TrainConfig, {k: v for k, v in settings.items() if k in shared}, KIND),
    )


def versions() -> dict[str, str]:
    """Return the versions that weights may depend on."""
    return {
        "python": platform.python_version(),
        "symshift": __version__,
        "torch": str(torch.__version__),
    }
