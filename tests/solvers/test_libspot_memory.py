"""What Spot keeps in memory, in a process that does nothing else."""

import contextlib
import ctypes
import gc
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from spot_questions import many, outgrow, words

from symshift.data import trace as traces
from symshift.solvers import libspot
from symshift.solvers.libspot import LibSpot
from symshift.solvers.spot import SolverLimit

pytestmark = pytest.mark.spot
HERE = Path(__file__)


@pytest.mark.slow
def test_question_leaves_less_than_a_hundred_bytes(
    need: Callable[[Callable[[], LibSpot]], LibSpot],
) -> None:
    """The bytes in use, of a process that has done nothing else: resident memory also holds gaps.

    Spot's own tables keep some 40 bytes a question; an automaton has thousands.
    """
    if not hasattr(ctypes.CDLL(None), "mallinfo2"):
        pytest.skip("counts bytes with mallinfo2 of glibc 2.33 and later")
    need(libspot.find)
    code = (
        f"import runpy, sys; sys.path.insert(0, {str(HERE.parents[1] / 'support')!r}); "
        f"print(*runpy.run_path({str(HERE)!r})['growth']())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    num_questions, num_bytes = map(int, done.stdout.split())

    assert num_questions > 20_000
    assert num_bytes < 100 * num_questions


def growth(num_rounds: int = 20) -> tuple[int, int]:
    """The number of questions asked, and the bytes that are in use after them and not before."""
    spot = libspot.find()
    questions = many(1000, seed=4)
    steps = [traces.parse(t) for t in ("cycle{a}", "a; b; cycle{!a; 1}", "cycle{0}")]

    def ask_all() -> int:
        words(spot, questions)
        for at, formula in enumerate(questions[:200]):
            with contextlib.suppress(SolverLimit):
                spot.holds(formula, steps[at % 3], max_states=200)
                spot.equivalent(formula, questions[-at], max_states=200)
        outgrow(spot)
        return len(questions) + 2 * 200

    for _ in range(3):
        ask_all()
    before = num_bytes_in_use()
    num_questions = sum(ask_all() for _ in range(num_rounds))
    return num_questions, num_bytes_in_use() - before


def num_bytes_in_use() -> int:
    gc.collect()
    library = ctypes.CDLL(None)
    library.mallinfo2.restype = Mallinfo2
    counts = library.mallinfo2()
    return int(counts.uordblks + counts.hblkhd)


FIELDS = (
    *("arena", "ordblks", "smblks", "hblks", "hblkhd"),
    *("usmblks", "fsmblks", "uordblks", "fordblks", "keepcost"),
)


class Mallinfo2(ctypes.Structure):
    """What glibc tells of its heap (mallinfo2(3))."""

    _fields_ = tuple((name, ctypes.c_size_t) for name in FIELDS)
