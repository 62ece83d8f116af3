"""What gives a label away without any reasoning: the shortcut statistics of a data set.

Each feature can be read off a problem without chaining. Its accuracy is that of the best rule of
the form "true where it is more than t" (or "at most t"), chosen on the very rows that it is then
tried on: on few rows it is above one half by chance alone.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

FEATURES = (
    "rules",
    "facts",
    "predicates",
    "query is a fact",
    "rules for the query",
    "rules from the query",
    "facts in rules for the query",
)
NUM_BINS = 8
Counts = Mapping[tuple[int, bool], int]
"""Rows by the value of a feature and the label."""


def features(row: Mapping[str, Any]) -> tuple[int, ...]:
    """Return the features of a row, in the order of FEATURES."""
    query, facts = row["query"], set(row["facts"])
    num_for = num_from = num_near = 0
    for rule in row["rules"]:
        body, _, head = rule.partition(" -> ")
        atoms = body.split(" & ")
        num_from += query in atoms
        if head == query:
            num_for += 1
            num_near += sum(atom in facts for atom in atoms)
    counts = (len(row["rules"]), len(facts), row["num_symbols"], int(query in facts))
    return (*counts, num_for, num_from, num_near)


class LabelStatistics:
    """Counts labels against features and depths, row by row."""

    def __init__(self) -> None:
        self._features: dict[str, Counter[tuple[int, bool]]] = {f: Counter() for f in FEATURES}
        self._depths: Counter[int] = Counter()
        self._closures: Counter[tuple[int, bool]] = Counter()

    def add(self, row: Mapping[str, Any]) -> None:
        """Take in a row."""
        label = row["label"]
        for name, value in zip(FEATURES, features(row), strict=True):
            self._features[name][value, label] += 1
        self._closures[row["closure_depth"], label] += 1
        if label:
            self._depths[row["depth"]] += 1

    def summary(self) -> dict[str, Any]:
        """Return the statistics as plain values; nothing if there were no rows."""
        total = self._closures.total()
        if not total:
            return {}
        num_true = sum(count for (_, label), count in self._closures.items() if label)
        accuracies = {name: best_threshold(counts) for name, counts in self._features.items()}
        return {
            "rows": total,
            "true": num_true,
            "majority": max(num_true, total - num_true) / total,
            "query_is_fact": self._features["query is a fact"][1, True] / total,
            "best_feature": max(accuracies, key=lambda name: accuracies[name]["accuracy"]),
            "features": accuracies,
            "by_rules": list(_bins(self._features["rules"])),
            "depth": {str(depth): count for depth, count in sorted(self._depths.items())},
            "closure_depth": {
                str(depth): {
                    "true": self._closures[depth, True],
                    "false": self._closures[depth, False],
                }
                for depth in sorted({depth for depth, _ in self._closures})
            },
        }


def best_threshold(counts: Counts) -> dict[str, Any]:
    """Return the accuracy of the best rule that compares a feature with a number, and the rule."""
    total = sum(counts.values())
    right = sum(count for (_, label), count in counts.items() if label)
    found = max((right, "always true"), (total - right, "always false"), key=lambda f: f[0])
    # `right` is how many rows "true where it is more than t" gets, as t grows.
    for value in sorted({value for value, _ in counts})[:-1]:
        right += counts.get((value, False), 0) - counts.get((value, True), 0)
        more, less = f"true where more than {value}", f"true where at most {value}"
        found = max(found, (right, more), (total - right, less), key=lambda f: f[0])
    return {"accuracy": found[0] / total, "rule": found[1]}


def _bins(counts: Counts) -> Iterator[dict[str, Any]]:
    """Yield rows and labels for about NUM_BINS ranges of values with as many rows each."""
    total = sum(counts.values())
    least: int | None = None
    num_rows = num_true = done = 0
    values = sorted({value for value, _ in counts})
    for value in values:
        least = value if least is None else least
        num_true += counts.get((value, True), 0)
        num_rows += counts.get((value, True), 0) + counts.get((value, False), 0)
        if (done + num_rows) * NUM_BINS >= total * (done * NUM_BINS // total + 1):
            yield {"min": least, "max": value, "rows": num_rows, "true": num_true}
            done += num_rows
            least, num_rows, num_true = None, 0, 0


def statistics_lines(found: Mapping[str, Any] | None) -> Iterator[str]:
    """Yield the sections of a dataset card that tell the statistics, if there are any."""
    if found is None:
        return
    total = found["rows"]
    yield "## Shortcuts"
    yield ""
    yield (
        f"{found['true']} of {total} queries are derivable; the majority answer is right for "
        f"{found['majority']:.1%} of the rows. In {found['query_is_fact']:.1%} of the rows the "
        "query is a fact. The table has the best answer that looks at one feature only, chosen on "
        "these rows."
    )
    yield from ("", "| feature | accuracy | answer |", "| --- | --- | --- |")
    for name, best in found["features"].items():
        yield f"| {name} | {best['accuracy']:.1%} | {best['rule']} |"
    yield from ("", "| rules | rows | derivable |", "| --- | --- | --- |")
    for part in found["by_rules"]:
        share = part["true"] / part["rows"]
        yield f"| {part['min']}-{part['max']} | {part['rows']} | {share:.1%} |"
    yield from ("", "## Rows by label and depth", "")
    yield "`depth` is null where the query is not derivable."
    yield from ("", "| rounds | depth | closure, derivable | closure, not derivable |")
    yield "| --- | --- | --- | --- |"
    for depth in sorted({*found["depth"], *found["closure_depth"]}, key=int):
        closure = found["closure_depth"].get(depth, {"true": 0, "false": 0})
        counts = (depth, found["depth"].get(depth, 0), closure["true"], closure["false"])
        yield f"| {' | '.join(map(str, counts))} |"
    yield ""
