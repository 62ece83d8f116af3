"""Verdicts per second of the checker of traces, beside Spot's, in one run on the same pairs.

Half of the pairs are a formula with a trace that satisfies it, half a formula with the trace of
another one, which mostly does not. Ours is what `symshift score` asks for a prediction: texts in, a
verdict out, the comparison with the target included. Spot reads the texts with its own parsers,
and answers

- `contains(translate(formula), word)`, which is what evaluation scripts call, and
- `contains(formula, word)`, which does not simplify the automaton that it throws away.

The sides alternate in small batches and count process CPU time. A question that Spot does not
answer within the limit counts as that limit, which favours Spot.
"""

import argparse
import random
import statistics
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count, islice

from spot_default import PatientPeer

from symshift.data.options import Range
from symshift.data.task import Problem, Solution
from symshift.data.verdict import Verdict
from symshift.data.vocabulary import Window
from symshift.tasks.ltl import TASK, Options

QUESTIONS = ("contains_translated", "contains")
GOALS = {(5, 35): (8, 3), (10, 50): (100, 10)}
RIGHT = frozenset((Verdict.EXACT, Verdict.CORRECT))


@dataclass(frozen=True, kw_only=True)
class Pair:
    """A question: a row, and the trace that is judged."""

    row: dict[str, str]
    trace: str


@dataclass
class Times:
    """CPU seconds of both sides, batch by batch."""

    ours_s: list[float] = field(default_factory=list)
    theirs_s: list[float] = field(default_factory=list)
    num_asked: int = 0
    num_lost: int = 0
    num_disagreements: int = 0


def pairs_of(num_symbols: int, max_size: int, num_pairs: int, seed: int) -> list[Pair]:
    """Return solved formulas with their own traces and with those of others, in random order."""
    rows = list(islice(_rows(num_symbols, max_size, seed), num_pairs // 2))
    pairs = [Pair(row=row, trace=row["target"]) for row in rows]
    turned = [*rows[1:], rows[0]]
    pairs += [Pair(row=row, trace=other["target"]) for row, other in zip(rows, turned, strict=True)]
    random.Random(seed).shuffle(pairs)
    return pairs


def _rows(num_symbols: int, max_size: int, seed: int) -> Iterator[dict[str, str]]:
    stream = TASK.stream(Options(size=Range(1, max_size)), Window(0, num_symbols))
    for index in count():
        problem = stream.problem(seed, index)
        if isinstance(problem, Problem):
            solution = TASK.solve(problem)
            if isinstance(solution, Solution):
                yield {"input": problem.input, "target": solution.target}


def measure(peer: PatientPeer, question: str, pairs: list[Pair], num_batch: int) -> Times:
    """Ask both sides about all pairs."""
    times = Times()
    for at in range(0, len(pairs), num_batch):
        batch = pairs[at : at + num_batch]
        theirs = peer.ask(question, [(pair.row["input"], pair.trace) for pair in batch])
        ours_s = theirs_s = 0.0
        for pair, answer in zip(batch, theirs, strict=True):
            start = time.process_time()
            verdict = TASK.check(pair.row, pair.trace).verdict
            ours_s += time.process_time() - start
            theirs_s += answer.cpu_s
            times.num_asked += 1
            times.num_lost += answer.value is None
            times.num_disagreements += answer.value is (verdict not in RIGHT)
        times.ours_s.append(ours_s)
        times.theirs_s.append(theirs_s)
    return times


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--pairs", type=int, default=240, help="at each size (default 240)")
    parser.add_argument("--batch", type=int, default=20, help="pairs in a batch (default 20)")
    parser.add_argument("--limit-s", type=float, default=2.0, help="for Spot (default 2)")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    print("symbols  size  Spot's side            us ours  us Spot  times  median  goal  lost")
    num_wrong = 0
    with PatientPeer(arguments.limit_s) as peer:
        for (num_symbols, max_size), goals in GOALS.items():
            pairs = pairs_of(num_symbols, max_size, arguments.pairs, arguments.seed)
            for question, goal in zip(QUESTIONS, goals, strict=True):
                times = measure(peer, question, pairs, arguments.batch)
                _print_line(f"{num_symbols:7}  1-{max_size}  {question:19}", times, goal)
                num_wrong += times.num_disagreements
    print("us: CPU time of a verdict; times: Spot / ours, of the sums and the median batch")
    if num_wrong:
        raise SystemExit(f"{num_wrong} verdicts differ")


def _print_line(start: str, times: Times, goal: int) -> None:
    ours_s, theirs_s = sum(times.ours_s), sum(times.theirs_s)
    ratios = [b / a for a, b in zip(times.ours_s, times.theirs_s, strict=True)]
    print(
        f"{start} {1e6 * ours_s / times.num_asked:9.0f} {1e6 * theirs_s / times.num_asked:8.0f}"
        f" {theirs_s / ours_s:6.1f} {statistics.median(ratios):7.1f} {goal:5} {times.num_lost:5}"
    )


if __name__ == "__main__":
    main()
