"""Rows per second of generating LTL data, beside Spot's default translation alone, in one run.

Ours is the whole way in one process: drawing formulas, solving, the independent check, shortcuts,
names, judging, blocks, Parquet shards, fingerprint and manifest. Only the tables of the sampler,
made once for a process, are not counted; their cost is printed.

Spot's side is `spot::translator` and an accepting word, without reading or printing: a part of
what a generator built on it has to do. It is asked about formulas evenly spread over those that
ours solved, each once, in turns with ours: one batch is a chunk of candidates and the
formulas asked of them. A formula over the limit counts as that limit, which favours Spot. All times
are process CPU time.
"""

import argparse
import contextlib
import statistics
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

from spot_default import PatientPeer

from symshift.data.example import split_of
from symshift.data.options import Range
from symshift.data.task import Problem
from symshift.data.vocabulary import Window
from symshift.generators.candidates import Recipe
from symshift.generators.demand import Demand
from symshift.generators.formulas.problems import FormulaProblems
from symshift.generators.pool import Chunk
from symshift.generators.writer import CHUNK_CANDIDATES, Context, Outcome, write_dataset
from symshift.solvers import lasso
from symshift.solvers.spot_discovery import find_spot
from symshift.tasks.ltl import TASK, Options


class Case(NamedTuple):
    """One line of the table."""

    num_symbols: int
    max_size: int
    goal: int
    num_asked: int
    """Formulas for Spot; few hard ones make most of its time, so that few formulas say little."""


CASES = (Case(5, 35, 8, 800), Case(10, 50, 20, 120))
NUM_ROWS = 2000
WARM_ROWS = 20
SPLIT = "train"
STAGES = ("sample", "witness", "checks", "solve", "row", "files")


@dataclass(kw_only=True)
class InTurns:
    """An engine in this process that stops between chunks, to ask Spot about their formulas."""

    peer: PatientPeer
    num_asked: int
    """Questions for Spot about a chunk, at most."""
    num_problems: int = 0
    """Problems that were solved, each once."""
    batches: list[tuple[float, float]] = field(default_factory=list)
    """CPU seconds of ours for each problem, and of Spot for each formula, chunk by chunk."""
    theirs_s: list[float] = field(default_factory=list)
    """CPU seconds of Spot, formula by formula."""
    num_lost: int = 0
    """Formulas that Spot did not finish within the limit."""
    realise_s: float = 0.0
    """CPU seconds of this engine's own work: all of ours but judging and writing."""
    pause_s: float = 0.0
    """CPU seconds that are nobody's: those of asking."""

    def map(
        self,
        function: Callable[[Context, int], Outcome],
        chunks: Iterator[Chunk[Context, int]],
    ) -> Iterator[list[Outcome]]:
        """Yield the results of each chunk."""
        seen: set[str] = set()
        for chunk in chunks:
            start = time.process_time()
            outcomes = [function(chunk.context, index) for index in chunk.items]
            spent_s = time.process_time() - start
            start = time.process_time()
            self.realise_s += spent_s
            self._ask(_new_problems(chunk, seen), spent_s)
            self.pause_s += time.process_time() - start
            yield outcomes

    def _ask(self, problems: list[Problem], spent_s: float) -> None:
        self.num_problems += len(problems)
        asked = problems[:: max(1, -(-len(problems) // self.num_asked))]
        answers = self.peer.ask("has_word", [problem.input for problem in asked])
        theirs_s = [answer.cpu_s for answer in answers]
        self.num_lost += sum(answer.value is None for answer in answers)
        self.theirs_s += theirs_s
        if theirs_s:
            self.batches.append((spent_s / len(problems), statistics.fmean(theirs_s)))


def _new_problems(chunk: Chunk[Context, int], seen: set[str]) -> list[Problem]:
    """Return the problems that are solved for a chunk, and did not come up before."""
    recipe, full = chunk.context
    stream = TASK.stream(recipe.options, recipe.window)
    new = []
    for index in chunk.items:
        # Past the stopwatch, which times the method of this one stream.
        problem = FormulaProblems.problem(stream, recipe.seed, index)
        if isinstance(problem, Problem) and problem.canonical_text not in seen:
            seen.add(problem.canonical_text)
            if split_of(TASK.name, problem.canonical_text) not in full:
                new.append(problem)
    return new


class Stopwatch:
    """Adds up the process CPU time that functions take while it runs. A context manager."""

    def __init__(self) -> None:
        self.seconds: defaultdict[str, float] = defaultdict(float)
        """By stage."""
        self._undo = contextlib.ExitStack()

    def __enter__(self) -> "Stopwatch":
        return self

    def __exit__(self, *_: object) -> None:
        self._undo.close()

    def watch(self, stage: str, owner: Any, name: str) -> None:
        """Time a function that is looked up by its name in a module or an object."""
        function = getattr(owner, name)

        def timed(*arguments: Any) -> Any:
            start = time.process_time()
            try:
                return function(*arguments)
            finally:
                self.seconds[stage] += time.process_time() - start

        self._undo.enter_context(patch.object(owner, name, timed))


def measure(peer: PatientPeer, case: Case, scale: float, seed: int) -> str:
    """Return a line of the table."""
    recipe = Recipe(
        task=TASK.name,
        options=Options(size=Range(1, case.max_size)),
        window=Window(0, case.num_symbols),
        seed=seed,
    )
    start = time.process_time()
    stream = TASK.stream(recipe.options, recipe.window)
    stream.problem(seed, 0)
    tables_s = time.process_time() - start
    # Another seed: what this one solves must not be remembered.
    _cpu_s(replace(recipe, seed=seed + 1), WARM_ROWS, InTurns(peer=peer, num_asked=1))
    num_rows = round(scale * NUM_ROWS)
    engine = InTurns(peer=peer, num_asked=-(-case.num_asked * CHUNK_CANDIDATES // NUM_ROWS))
    with Stopwatch() as watch:
        watch.watch("witness", find_spot(), "witness")
        watch.watch("checks", lasso, "check")
        watch.watch("sample", stream, "problem")
        watch.watch("solve", TASK, "solve")
        total_s = _cpu_s(recipe, num_rows, engine)
    start_of_line = f"{case.num_symbols:7}  1-{case.max_size} {num_rows / total_s:8.0f}"
    return f"{start_of_line} {_costs(engine, watch.seconds, total_s, case.goal)} {tables_s:7.2f}"


def _cpu_s(recipe: Recipe, num_rows: int, engine: InTurns) -> float:
    """Write a data set; return the CPU seconds that it takes without those of asking Spot."""
    with tempfile.TemporaryDirectory() as folder:
        start = time.process_time()
        write_dataset(recipe, Demand(rows={SPLIT: num_rows}), Path(folder) / "data", engine)
        return time.process_time() - start - engine.pause_s


def _costs(engine: InTurns, seconds: Mapping[str, float], total_s: float, goal: int) -> str:
    num = engine.num_problems
    ours_s, theirs_s = total_s / num, statistics.fmean(engine.theirs_s)
    files_s = total_s - engine.realise_s
    # A chunk's time is without the files: their cost is spread evenly.
    median = statistics.median(spot / (own + files_s / num) for own, spot in engine.batches)
    stages = (
        seconds["sample"],
        seconds["witness"],
        seconds["checks"],
        seconds["solve"] - seconds["witness"] - seconds["checks"],
        engine.realise_s - seconds["sample"] - seconds["solve"],
        files_s,
    )
    return (
        f"{1e6 * ours_s:8.0f} {1e6 * theirs_s:8.0f} {theirs_s / ours_s:6.1f} {median:7.1f} {goal:5}"
        f" {engine.num_lost:5}/{len(engine.theirs_s):<5}"
        + "".join(f"{1e6 * stage_s / num:9.0f}" for stage_s in stages)
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--scale", type=float, default=1.0, help="of the number of rows (1.0)")
    parser.add_argument("--limit-s", type=float, default=2.0, help="for Spot (default 2)")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    print(
        "symbols  size   rows/s  us ours  us Spot  times  median  goal  lost/asked"
        + "".join(f"{stage:>9}" for stage in STAGES)
        + "  tables"
    )
    with PatientPeer(options.limit_s) as peer:
        for case in CASES:
            print(measure(peer, case, options.scale, options.seed), flush=True)
    print(
        "us: CPU time of a distinct formula; times: Spot / ours, of the means and the median chunk;"
        "\nsample...files: us of ours; solve: without witness and checks; tables: seconds, once"
    )


if __name__ == "__main__":
    main()
