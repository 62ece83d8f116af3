"""Predictions of a Hugging Face causal language model that is prompted with the problems.

Which problems share a batch does not matter but for rounding: on the CPU in float32 no answer has
been seen to change, in lower precision near ties may.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import transformers
from tqdm import tqdm

from symshift.data.dataset import open_dataset
from symshift.data.files import require_output, write_json
from symshift.data.prompts import MAX_NEW_TOKENS, PromptOptions, described, prompts_for
from symshift.models.configuration import versions
from symshift.models.hub.asking import Asker, asker_for
from symshift.models.hub.hub_model import load_hub_model
from symshift.models.hub.partial_answers import PartialAnswers, partial_answers
from symshift.models.prediction import META_VERSION, meta_path, write_lines
from symshift.models.streams import pick_device

METHOD = "prompting"


def predict_by_prompting(
    name: str,
    dataset_path: Path,
    output_path: Path,
    *,
    split: str = "test",
    shots: int = 0,
    shots_split: str = "train",
    seed: int = 0,
    max_new_tokens: int = MAX_NEW_TOKENS,
    batch_size: int = 16,
    device: str = "auto",
    dtype: str = "auto",
    command: str = "",
) -> dict[str, Any]:
    """Write a language model's answers as JSON lines, and `OUTPUT.meta.json` beside them.

    The same call again goes on with a run that was killed.

    Args:
        name: A folder, or a name on the hub.
        dataset_path: The data set.
        output_path: The file to write.
        split: The rows to answer.
        shots: Solved examples in each prompt.
        shots_split: The split that they are drawn from.
        seed: The seed of that draw.
        max_new_tokens: The most tokens of an answer.
        batch_size: Problems in a batch.
        device: One of streams.DEVICES.
        dtype: One of hub_model.DTYPES.
        command: The command line, to be stored.

    Returns:
        What OUTPUT.meta.json says.

    Raises:
        UsageError: If the rows or examples are not there, or a prompt is too long for the model.
        SymshiftError: If there is no such model, here or on the hub.
        DataError: If the model or the data set is broken.
    """
    require_output(output_path)
    dataset = open_dataset(dataset_path)
    options = PromptOptions(split=split, shots=shots, shots_split=shots_split, seed=seed)
    prompts = prompts_for(dataset, options)
    columns = dataset.columns(split, ["id", "input"])
    hub = load_hub_model(name, pick_device(device), dtype)
    asker = asker_for(hub, prompts, max_new_tokens)
    encoded, checksum = asker.encode(columns["input"], columns["id"])
    meta = {
        **_who(asker, shots),
        **_what({**described(dataset, options, prompts), "prompts_sha256": checksum}, asker),
        "batch_size": batch_size,
    }
    with partial_answers(output_path, meta) as partial:
        texts = _texts(asker, encoded, batch_size, partial)
        write_lines(output_path, columns["id"], texts)
        write_json(meta_path(output_path), {**meta, "command": command})
    return {**meta, "command": command}


def _who(asker: Asker, shots: int) -> dict[str, Any]:
    """Return what a meta file says of the model."""
    model, name = asker.hub.model, Path(asker.hub.identity["name"]).name
    return {
        "schema_version": META_VERSION,
        "name": f"{name}, {shots} shots" if shots else name,
        "method": METHOD,
        "parameters": sum(parameter.numel() for parameter in model.parameters()),
        "device": model.device.type,
        "dtype": str(model.dtype).removeprefix("torch."),
        "versions": {**versions(), "transformers": transformers.__version__},
    }


def _what(asked: Mapping[str, Any], asker: Asker) -> dict[str, Any]:
    """Return what a meta file says of the prompts and the rows."""
    return {
        "dataset": asked["dataset"],
        "options": {
            **{key: value for key, value in asked.items() if key != "dataset"},
            "model": dict(asker.hub.identity),
            "form": asker.form,
            "max_new_tokens": asker.max_new_tokens,
        },
    }


def _texts(
    asker: Asker, encoded: Sequence[Sequence[int]], batch_size: int, partial: PartialAnswers
) -> list[str]:
    """Return the answers in the order of the rows, those of an earlier run without asking."""
    # The longest first: what does not fit into the memory shows at once.
    order = sorted(range(len(encoded)), key=lambda place: -len(encoded[place]))
    texts = [""] * len(encoded)
    with tqdm(total=len(encoded), unit="row", disable=None) as bar:
        for number, start in enumerate(range(0, len(order), batch_size)):
            batch = order[start : start + batch_size]
            if number == len(partial.batches):
                partial.add(asker.answers([encoded[place] for place in batch]))
            for place, text in zip(batch, partial.batches[number], strict=True):
                texts[place] = text
            bar.update(len(batch))
    return texts
