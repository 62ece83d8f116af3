"""Small data sets of somebody else's, for tests of what reads them."""

import json

from symshift.generators.exchange.importing import import_dataset


def jsonl(path, inputs, **others):
    """Write JSON lines of the task ltl, one for each formula."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [json.dumps({"input": text, "target": "cycle{1}", **others}) for text in inputs]
    path.write_text("\n".join(lines) + "\n")
    return path


def copies(folder, **splits):
    """Write a data set of the task copy with the strings given by split."""
    for split, strings in splits.items():
        path = folder / "source" / f"{split}.jsonl"
        jsonl(path, ())
        path.write_text("".join(json.dumps({"input": s, "target": s}) + "\n" for s in strings))
    import_dataset("jsonl", folder / "source", folder / "set", task="copy", num_workers=1)
    return folder / "set"
