"""Horn problems per second in one process, beside the plain way, in one run.

Ours is everything that makes a row: drawing a theory of the wanted depth, its canonical form, text,
label, depths, proof, the second check, names and identity (`realise`). Rows per second are those of
a whole data set written in this process: some candidates are refused so that labels and depths come
out even in each split, and judging, Parquet shards and the manifest are counted.

The plain way does for each problem what a script would: draw rules and facts with `random` until
forward chaining takes the wanted rounds, chain by looking at all rules until nothing changes, and
label the graph of atoms and rules with networkx, by its Weisfeiler-Lehman hash. That hash is no
canonical form: it gives the same label to some problems that are not equivalent, so the plain way
is spared what makes ours exact. "Given" is the plain way without its drawing: it takes our theories
as they are. All times are process CPU time.
"""

import argparse
import random
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import networkx
from ltl_generation import Stopwatch

from symshift.data.example import Example
from symshift.data.plugins import load_task
from symshift.data.theory import Rule, Theory, parse
from symshift.generators.candidates import Recipe, realise
from symshift.generators.demand import Demand
from symshift.generators.generation import recipe_for
from symshift.generators.pool import Chunk
from symshift.generators.theories import problems
from symshift.generators.writer import Context, Outcome, write_dataset

NUM_NAMES = 30
WARM = 50
NUM_DRAWN = 300
"""Theories that the plain way draws."""
CHOICES = {
    "rp": {},
    "rp, decorrelated": {"decorrelate": True},
    "lp": {"sampler": "lp"},
    "lp, decorrelated": {"sampler": "lp", "decorrelate": True},
}


class Serial:
    """An engine in this process."""

    def map(
        self, function: Callable[[Context, int], Outcome], chunks: Iterator[Chunk[Context, int]]
    ) -> Iterator[list[Outcome]]:
        """Yield the results of each chunk."""
        for chunk in chunks:
            yield [function(chunk.context, index) for index in chunk.items]


class Plain(NamedTuple):
    """What the plain way finds out about a problem."""

    text: str
    rounds: dict[str, int]
    label: str


def chained(facts: list[str], rules: list[Rule]) -> dict[str, int]:
    """Return the round of each derivable atom, by looking at all rules again and again."""
    rounds = dict.fromkeys(facts, 0)
    for number in range(1, len(rules) + 2):
        new = {
            rule.head
            for rule in rules
            if rule.head not in rounds and all(atom in rounds for atom in rule.body)
        }
        if not new:
            break
        rounds.update(dict.fromkeys(new, number))
    return rounds


def labelled(theory: Theory) -> str:
    """Return networkx's hash of the graph of atoms and rules."""
    graph = networkx.Graph()
    for atom in theory.symbols():
        kind = f"{atom in theory.facts}{atom == theory.query}"
        graph.add_node(atom, kind=kind)
    for number, rule in enumerate(theory.rules):
        graph.add_node(number, kind="rule")
        graph.add_edges_from(((atom, number) for atom in rule.body), role="body")
        graph.add_edge(number, rule.head, role="head")
    label: str = networkx.weisfeiler_lehman_graph_hash(graph, edge_attr="role", node_attr="kind")
    return label


def drawn(rng: random.Random, depth: int) -> Theory:
    """Draw a theory by SimpleLogic's rule priority until its closure takes so many rounds."""
    while True:
        names = [f"p{place}" for place in range(rng.randint(5, NUM_NAMES))]
        rules: dict[object, Rule] = {}
        for _ in range(rng.randint(0, 4 * len(names))):
            *body, head = rng.sample(names, rng.randint(2, 4))
            rules[frozenset(body), head] = Rule(tuple(body), head)
        facts = rng.sample(names, rng.randint(0, len(names)))
        rounds = chained(facts, list(rules.values()))
        if max(rounds.values(), default=0) == depth and len(rounds) < len(names):
            return Theory(tuple(facts), tuple(rules.values()), rng.choice(names))


def plain(theory: Theory) -> Plain:
    """Do what the plain way does with a theory."""
    rounds = chained(list(theory.facts), list(theory.rules))
    return Plain(str(theory), rounds, labelled(theory))


def _cpu_us(function: Callable[[int], object], count: int) -> float:
    """Return the mean CPU time of a function in microseconds."""
    start = time.process_time()
    for number in range(count):
        function(number)
    return 1e6 * (time.process_time() - start) / count


def _rows_per_second(recipe: Recipe, num_rows: int) -> float:
    demand = Demand(rows={"train": num_rows, "test": num_rows // 10})
    with tempfile.TemporaryDirectory() as folder:
        start = time.process_time()
        report = write_dataset(recipe, demand, Path(folder) / "d", Serial())
        return sum(report.rows.values()) / (time.process_time() - start)


def measure(name: str, count: int, seed: int) -> str:
    """Return a line of the table."""
    recipe = recipe_for("horn", {"symbols": NUM_NAMES, "seed": seed, **CHOICES[name]})
    context = (recipe, frozenset[str]())
    for index in range(WARM):
        realise(context, index)
    rows: list[Outcome] = []
    ours = _cpu_us(lambda index: rows.append(realise(context, WARM + index)), count)
    made = [row for row in rows if isinstance(row, Example)]
    theories = [parse(row.input) for row in made]
    given = _cpu_us(lambda number: plain(theories[number]), len(theories))
    rng, step = random.Random(seed), max(1, len(made) // NUM_DRAWN)
    sample = [row["closure_depth"] for row in made[::step]]
    alone = _cpu_us(lambda number: drawn(rng, sample[number]), len(sample))
    times = (ours, given, alone + given)
    return (
        f"{name:18} {1e6 / ours:11.0f} {_rows_per_second(recipe, count):7.0f}"
        + "".join(f"{time_us:9.0f}" for time_us in times)
        + "".join(f"{time_us / ours:8.1f}" for time_us in times[1:])
        + "".join(f"{stage:8.0f}" for stage in _stages(context, count))
    )


def _stages(context: Context, count: int) -> tuple[float, ...]:
    """Return the time of drawing and text, of the canonical form, of solving, and of the rest."""
    recipe = context[0]
    stream = load_task("horn").stream(recipe.options, recipe.window)
    with Stopwatch() as watch:
        watch.watch("form", problems, "canonical")
        watch.watch("problem", stream, "problem")
        watch.watch("solve", load_task("horn"), "solve")
        # Other candidates than before: the last theory of a pair is kept.
        whole = _cpu_us(lambda index: realise(context, WARM + count + index), count)
    stages = {name: 1e6 * seconds / count for name, seconds in watch.seconds.items()}
    draw, form, solve = stages["problem"] - stages["form"], stages["form"], stages["solve"]
    return draw, form, solve, whole - stages["problem"] - solve


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--count", type=int, default=3_000, help="problems a line (3000)")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    print(
        "sampler             problems/s  rows/s  us ours us given us plain  /given  /plain"
        "    draw    form   solve     row"
    )
    for name in CHOICES:
        print(measure(name, options.count, options.seed), flush=True)
    print(
        f"5 to {NUM_NAMES} predicates, depths 0 to 6; us: CPU time of a problem; given: chaining\n"
        "and labelling our theories the plain way; plain: drawing them that way as well;\n"
        "draw...row: us of ours (drawing and text, canonical form, solving, names and identity)"
    )


if __name__ == "__main__":
    main()
