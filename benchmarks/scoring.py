"""Whole scoring of LTL traces beside Spot's verdict alone, and of a million copied strings.

Ours is what `symshift score` does with rows in memory: reading the file of predictions, joining,
every verdict and comparison with the target, the check of each row's own target, the trivial
answers on each row, cells and intervals. Reading the rows and writing the result are not in it.
The best constant answer is sought on up to 500 rows whatever their number, so a row of a small set
costs more. Measured, as times of the two sides below: 400 rows 2.0 and 36, 1,200 rows 3.8 and 65.
Spot's side is the bare answer to each pair, read by its own parsers, and nothing else:

- `contains(formula, word)`, to be beaten twice over, and
- `contains(translate(formula), word)`, which is what evaluation scripts call: five times.

Half of the predictions are right, half are the trace of another row, which mostly is not. Both
sides count process CPU time, in one run; a question that Spot does not answer within the limit
counts as that limit, which favours Spot. The scores of the shared rows are asked for in turn, a
part of the rows at a time.
"""

import argparse
import json
import statistics
import tempfile
import time
from itertools import count
from pathlib import Path
from typing import Any

from ltl_checking import QUESTIONS
from scoring_memory import rows_between, write_answers
from spot_default import PatientPeer

from symshift.data.options import Range
from symshift.data.plugins import load_task
from symshift.data.task import Problem, Solution
from symshift.data.vocabulary import Window
from symshift.metrics.predictions import read_predictions
from symshift.metrics.result import DatasetInfo, System
from symshift.metrics.scoring import Scored, score
from symshift.tasks.ltl import TASK, Options

GOALS = {"contains": 2, "contains_translated": 5}
MILLION_GOAL_S = 60
Rows = list[dict[str, Any]]


def ltl_rows(num_rows: int, num_symbols: int, seed: int) -> Rows:
    """Return solved formulas of size 1 to 35, as the generator makes them."""
    stream = TASK.stream(Options(size=Range(1, 35)), Window(0, num_symbols))
    rows: Rows = []
    for index in count():
        problem = stream.problem(seed, index)
        solution = TASK.solve(problem) if isinstance(problem, Problem) else None
        if isinstance(problem, Problem) and isinstance(solution, Solution):
            rows.append(
                {
                    "id": f"ltl-{index}",
                    "input": problem.input,
                    "target": solution.target,
                    "num_symbols": len(problem.symbols),
                    "size": problem.size,
                    "shortcuts": list(solution.shortcuts),
                }
            )
        if len(rows) == num_rows:
            return rows
    raise AssertionError("the stream has no end")


def timed_score(task: str, rows: Rows, path: Path) -> tuple[float, Scored]:
    """Score a file of predictions, and return the CPU seconds it took."""
    start_s = time.process_time()
    scored = score(
        rows,
        [read_predictions(path)],
        load_task(task),
        dataset=DatasetInfo(name="benchmark", task=task, split="test"),
        systems=[System(name="benchmark")],
    )
    return time.process_time() - start_s, scored


def compare(rows: Rows, limit_s: float, num_parts: int, folder: Path) -> bool:
    """Print both sides' times; tell whether both goals are met and the verdicts agree."""
    answers = [row["target"] if at % 2 else rows[at - 1]["target"] for at, row in enumerate(rows)]
    path = folder / "p.jsonl"
    ours_s, theirs_s, num_wrong = [], {q: [0.0] * num_parts for q in QUESTIONS}, 0
    with PatientPeer(limit_s) as peer:
        for part in range(num_parts):
            places = range(part, len(rows), num_parts)
            chosen = [rows[at] for at in places]
            lines = ({"id": rows[at]["id"], "prediction": answers[at]} for at in places)
            path.write_text("".join(json.dumps(line) + "\n" for line in lines))
            took_s, scored = timed_score("ltl", chosen, path)
            ours_s.append(took_s)
            verdicts = scored.rows["verdict"].to_pylist()
            for question in QUESTIONS:
                found = peer.ask(question, [(rows[at]["input"], answers[at]) for at in places])
                theirs_s[question][part] = sum(answer.cpu_s for answer in found)
                num_wrong += sum(
                    answer.value is (verdict not in ("exact", "correct"))
                    for answer, verdict in zip(found, verdicts, strict=True)
                )
    is_met = num_wrong == 0
    for question, goal in GOALS.items():
        times = theirs_s[question]
        ratio = sum(times) / sum(ours_s)
        median = statistics.median(b / a for a, b in zip(ours_s, times, strict=True))
        ours, theirs = (1e6 * sum(seconds) / len(rows) for seconds in (ours_s, times))
        print(f"{question:19} {ours:7.0f} {theirs:8.0f} {ratio:6.1f} {median:7.1f} {goal:5}")
        is_met &= ratio >= goal
    print(f"verdicts that differ: {num_wrong}")
    return is_met


def copies(num_rows: int, folder: Path) -> bool:
    """Print how long a million copied strings take, from a part of them."""
    rows, path = list(rows_between(0, num_rows)), folder / "copies.jsonl"
    with path.open("w") as stream:
        write_answers(stream, list(rows))
    took_s, _ = timed_score("copy", rows, path)
    million_s = took_s * 1_000_000 / num_rows
    print(f"{num_rows} copied strings: {took_s:.1f} s, {million_s:.0f} s for a million (goal 60)")
    return million_s < MILLION_GOAL_S


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", type=int, default=2_400, help="of LTL (default 2400)")
    parser.add_argument("--parts", type=int, default=2, help="turns of the sides (default 2)")
    parser.add_argument("--copies", type=int, default=100_000, help="(default 100000)")
    parser.add_argument("--limit-s", type=float, default=2.0, help="for Spot (default 2)")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    rows = ltl_rows(arguments.rows, num_symbols=5, seed=arguments.seed)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        copies(1_000, folder)  # imports, and the first use of everything
        print("Spot's side         us ours  us Spot  times  median  goal")
        is_met = compare(rows, arguments.limit_s, arguments.parts, folder)
        is_met &= copies(arguments.copies, folder)
    if not is_met:
        raise SystemExit("a goal is missed")


if __name__ == "__main__":
    main()
