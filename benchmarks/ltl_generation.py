"""Rows per second of generating LTL data, beside Spot's default translation alone, in one run.

Ours is the whole way in one process: drawing formulas, solving, the independent check, shortcuts,
names, judging, blocks, Parquet shards, fingerprint and manifest. Only the tables of the sampler,
made once for a process, are not counted; their cost is printed.

Spot's side is `spot::translator` and an accepting word, without reading or printing: a part of
what a generator built on it has to do. It is asked about formulas evenly spread over those that
ours solved for the first time, in turns with ours: one batch is a chunk of candidates and the
formulas asked of them. A formula over the limit is left out on Spot's side, which favours Spot, and
counted as lost. All times are process CPU time.
"""

import argparse
import contextlib
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from spot_default import PatientPeer

from symshift.data.formula import Formula, parse
from symshift.data.options import Range
from symshift.data.task import Problem, Solution
from symshift.data.trace import parse as parse_trace
from symshift.data.vocabulary import Window
from symshift.generators.blocks import BLOCK_CANDIDATES
from symshift.generators.candidates import Recipe
from symshift.generators.pool import Chunk
from symshift.generators.quota import Demand
from symshift.generators.writer import CHUNK_CANDIDATES, Context, Outcome, write_dataset
from symshift.solvers import lasso
from symshift.solvers.spot import SolverLimit, find_spot
from symshift.tasks.ltl import TASK, Options

GOALS = {(5, 35): 8, (10, 50): 20}
STAGES = ("sample", "witness", "check", "shortcuts", "row", "files")
_PLENTY = 10**9


@dataclass(kw_only=True)
class InTurns:
    """An engine in this process that stops between chunks, to ask Spot about their formulas."""

    peer: PatientPeer
    num_candidates: int
    num_asked: int
    """Questions for Spot in each chunk, at most."""
    problems: list[Problem] = field(default_factory=list)
    """Every problem that was solved, once."""
    batches: list[tuple[float, float]] = field(default_factory=list)
    """CPU seconds of ours for each problem, and of Spot for each formula, chunk by chunk."""
    theirs_s: list[float] = field(default_factory=list)
    """CPU seconds of Spot, formula by formula."""
    num_lost: int = 0
    realise_s: float = 0.0
    """CPU seconds of this engine's own work: all of ours but judging and writing."""
    pause_s: float = 0.0
    """CPU seconds that are nobody's: of asking."""

    def map(
        self,
        function: Callable[[Context, int], Outcome],
        chunks: Iterator[Chunk[Context, int]],
    ) -> Iterator[list[Outcome]]:
        """Yield the results of each chunk."""
        seen: set[str] = set()
        for chunk in chunks:
            if chunk.items[0] >= self.num_candidates:
                return
            start = time.process_time()
            outcomes = [function(chunk.context, index) for index in chunk.items]
            spent_s = time.process_time() - start
            self.realise_s += spent_s
            yield outcomes
            start = time.process_time()
            new = _new_problems(chunk, seen)
            self.problems += new
            self._ask(new, spent_s)
            self.pause_s += time.process_time() - start

    def _ask(self, problems: list[Problem], spent_s: float) -> None:
        asked = problems[:: max(1, -(-len(problems) // self.num_asked))]
        answers = self.peer.ask("has_word", [problem.input for problem in asked])
        theirs_s = [answer.cpu_s for answer in answers if answer is not None]
        self.num_lost += len(asked) - len(theirs_s)
        self.theirs_s += theirs_s
        if theirs_s:
            self.batches.append((spent_s / len(problems), sum(theirs_s) / len(theirs_s)))


def _new_problems(chunk: Chunk[Context, int], seen: set[str]) -> list[Problem]:
    """Return the problems of a chunk that did not come up before."""
    recipe, _ = chunk.context
    new = []
    for index in chunk.items:
        problem = TASK.candidate(recipe.options, recipe.window, recipe.seed, index)
        if isinstance(problem, Problem) and problem.canonical_text not in seen:
            seen.add(problem.canonical_text)
            new.append(problem)
    return new


class Stopwatch:
    """Adds up the process CPU time that functions take while it runs. A context manager."""

    def __init__(self) -> None:
        self.seconds: Counter[str] = Counter()
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


def measure(peer: PatientPeer, num_symbols: int, max_size: int, options: argparse.Namespace) -> str:
    """Return a line of the table."""
    recipe = Recipe(
        task=TASK.name,
        options=Options(size=Range(1, max_size)),
        window=Window(0, num_symbols),
        seed=options.seed,
    )
    start = time.process_time()
    TASK.candidate(recipe.options, recipe.window, options.seed, 0)
    tables_s = time.process_time() - start
    num_asked = -(-options.asked * CHUNK_CANDIDATES // options.rows)
    engine = InTurns(peer=peer, num_asked=num_asked)
    demand = Demand(rows={SPLIT: options.rows})
    with tempfile.TemporaryDirectory() as folder, Stopwatch() as watch:
        watch.watch("witness", find_spot(), "witness")
        watch.watch("checks", lasso, "check")
        watch.watch("sample", TASK, "candidate")
        watch.watch("solve", TASK, "solve")
        start = time.process_time()
        write_dataset(recipe, demand, Path(folder) / "data", engine)
        total_s = time.process_time() - start - engine.pause_s
    return _line(f"{num_symbols:7}  1-{max_size}", engine, watch.seconds, total_s, tables_s)


def _line(
    start: str, engine: InTurns, seconds: Mapping[str, float], total_s: float, tables_s: float
) -> str:
    num, goal = len(engine.theirs_s), GOALS[start]
    ours_s, theirs_s = total_s / engine.num_problems, sum(engine.theirs_s) / num
    files_s = total_s - engine.realise_s
    # Chunks know nothing of the files: their cost is spread evenly.
    own = files_s / engine.num_problems
    median = statistics.median(spot_s / (chunk_s + own) for chunk_s, spot_s in engine.batches)
    stages = (
        seconds["sample"],
        seconds["witness"],
        seconds["checks"],
        seconds["solve"] - seconds["witness"] - seconds["checks"],
        engine.realise_s - seconds["sample"] - seconds["solve"],
        files_s,
    )
    costs = "".join(f"{1e6 * stage_s / engine.num_problems:9.0f}" for stage_s in stages)
    return (
        f"{start} {1 / ours_s:8.0f} {1e6 * ours_s:8.0f} {1e6 * theirs_s:8.0f}"
        f" {theirs_s / ours_s:6.1f} {median:7.1f} {goal:5}"
        f" {engine.num_lost:5}/{num + engine.num_lost:<5}{costs} {tables_s:7.2f}"
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    candidates = f"of {BLOCK_CANDIDATES} candidates of ours (default 1)"
    parser.add_argument("--blocks", type=int, default=1, help=candidates)
    parser.add_argument("--asked", type=int, default=256, help="formulas for Spot (default 256)")
    parser.add_argument("--limit-s", type=float, default=3.0, help="for Spot (default 3)")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    print(
        "symbols  size   rows/s  us ours  us Spot  times  median  goal  lost/asked"
        + "".join(f"{stage:>10}" for stage in STAGES)
        + "  tables"
    )
    with PatientPeer(options.limit_s) as peer:
        for num_symbols, max_size in GOALS:
            print(measure(peer, num_symbols, max_size, options), flush=True)
    print(
        "us: CPU time of a distinct formula; times: Spot / ours, of the sums and the median batch;"
        "\nstages: us of ours for a distinct formula; tables: seconds of the sampler, not counted"
    )


if __name__ == "__main__":
    main()
