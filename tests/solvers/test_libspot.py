"""What holds for Spot through ctypes in particular."""

import json
import os
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from spot_questions import MANY_STATES, STANDARD, draw, many, outgrow, words

from symshift.data import formula as formulas
from symshift.data import trace as traces
from symshift.data.errors import MissingToolError
from symshift.data.formula import BINARY, UNARY, Formula
from symshift.solvers import libspot, spot_module
from symshift.solvers.buddy import NUM_NODES
from symshift.solvers.libspot import LibSpot
from symshift.solvers.libspot_peer import Peer
from symshift.solvers.spot import SolverLimit
from symshift.solvers.spot_discovery import find_spot

pytestmark = pytest.mark.spot
SUPPORT = str(Path(__file__).parents[1] / "support")


@pytest.fixture(scope="module")
def spot(need: Callable[[Callable[[], LibSpot]], LibSpot]) -> LibSpot:
    return need(libspot.find)


def shuffle_propositions(spot: LibSpot, seed: int) -> None:
    """Leave Spot's list of free numbers of propositions in another order."""
    rng = random.Random(seed)
    nodes = [spot.formulas.build(Formula((name,))) for name in rng.sample("abcdefghijklmnop", 16)]
    rng.shuffle(nodes)
    for node in nodes:
        spot.formulas.drop(node)


def in_a_fresh_process(questions: list[Formula]) -> list[str]:
    code = (
        f"import json, sys; sys.path.insert(0, {SUPPORT!r}); "
        "from spot_questions import words; from symshift.solvers import libspot; "
        "from symshift.data import formula; "
        "print(json.dumps(words(libspot.find(), "
        "[formula.from_polish(q) for q in json.load(sys.stdin)])))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        input=json.dumps(questions),
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONHASHSEED": "7", "MALLOC_ARENA_MAX": "1"},
    )
    answers: list[str] = json.loads(done.stdout)
    return answers


def test_witness_is_the_same_in_any_process_and_after_any_work(spot: LibSpot) -> None:
    questions = many(1000, seed=1)

    fresh = in_a_fresh_process(questions)
    words(spot, many(300, seed=2))
    outgrow(spot)
    long = words(spot, questions)
    outgrow(spot)
    shuffle_propositions(spot, seed=1)
    backwards = words(spot, questions[::-1])[::-1]

    assert fresh == long == backwards
    assert 20 < fresh.count("none") < 500
    assert len(set(fresh)) > 200


@pytest.mark.slow
def test_witness_of_a_heavy_formula_is_the_same_after_any_work(spot: LibSpot) -> None:
    # These make the table grow, and collect garbage in it, while they are translated.
    rng = random.Random(5)
    questions = [draw(rng, 60, "abcdefghijklmno", STANDARD) for _ in range(150)]

    fresh = in_a_fresh_process(questions)
    outgrow(spot)
    before = spot._table._num_extra

    assert words(spot, questions) == fresh
    assert spot._table._num_extra > before + 15
    assert words(spot, questions[::-1])[::-1] == fresh


def test_table_starts_each_question_with_equally_many_free_nodes(spot: LibSpot) -> None:
    def num_free() -> int:
        spot._table.refresh()
        spot._table._read(spot._table._now_at)
        return int(spot._table._now.num_free)

    first = num_free()
    words(spot, many(50, seed=3))
    second = num_free()
    outgrow(spot)

    assert first == second == num_free()


def test_question_that_added_variables_is_asked_again() -> None:
    code = """
from symshift.data.formula import Formula
from symshift.solvers import buddy, libspot
spot = libspot.find()
spot.witness(Formula((*["X"] * (buddy.NUM_VARIABLES + 20), "a")))
print(spot._table.has_more_variables(), spot._table._num_extra > 20)
"""
    assert run(code) == "False True"


def test_table_that_was_made_anew_grows_in_the_same_steps(spot: LibSpot) -> None:
    large = formulas.parse(f"!({' xor '.join('abcdefghijklmn')})")

    def size_after() -> int:
        spot.witness(large)
        spot._table._read(spot._table._now_at)
        return int(spot._table._now.num_nodes) - 2 * spot._table._num_extra

    first = size_after()
    outgrow(spot)

    assert first == size_after() == 16 * NUM_NODES


def test_nothing_stays_alive_after_a_refusal(spot: LibSpot) -> None:
    heavy = formulas.parse(MANY_STATES)

    for _ in range(3):
        with pytest.raises(SolverLimit):
            spot.witness(heavy, max_states=2)
        with pytest.raises(SolverLimit):
            spot.holds(heavy, traces.parse("cycle{a}"), max_states=2)
        with pytest.raises(SolverLimit):
            spot.equivalent(heavy, formulas.parse("a U b"), max_states=2)

    assert spot.formulas._is_clean()


def test_formula_that_was_never_given_back_is_noticed(spot: LibSpot) -> None:
    node = spot.formulas.build(formulas.parse("a U b"))

    with pytest.raises(AssertionError, match="never given back"):
        spot.witness(formulas.parse("a"))
    spot.formulas.drop(node)

    assert spot.witness(formulas.parse("G a")) == traces.parse("cycle{a}")


def flat_text(rng: random.Random) -> str:
    """Draw a text without brackets: only precedence says what it means."""
    pieces = []
    for _ in range(rng.randint(1, 8)):
        pieces += rng.choices(sorted(UNARY), k=rng.choice((0, 0, 1, 2)))
        pieces += [rng.choice("abcd01"), rng.choice(sorted(BINARY))]
    return " ".join(pieces[:-1])


@pytest.mark.parametrize("num", [500, pytest.param(20_000, marks=pytest.mark.slow)])
def test_our_parser_reads_as_spots_does(spot: LibSpot, num: int) -> None:
    rng = random.Random(num)
    peer = Peer(spot)

    for _ in range(num):
        text = flat_text(rng)
        assert peer.reads_as(text, formulas.parse(text)), text


def test_what_we_print_spot_reads_back(spot: LibSpot) -> None:
    peer = Peer(spot)

    for formula in many(500, seed=6):
        assert peer.reads_as(formulas.show(formula), formula)


def test_peer_tells_another_reading_and_a_broken_text_apart(spot: LibSpot) -> None:
    peer = Peer(spot)

    assert not peer.reads_as("a U b U c", formulas.parse("(a U b) U c"))
    assert not peer.reads_as("a & (b", formulas.parse("a"))
    assert not peer.reads_as("", formulas.parse("a"))
    assert spot.formulas._is_clean()


@pytest.mark.parametrize(
    ("text", "short"),
    [("(a & 1 & a) | (X 1 & 0)", "a"), ("F F a", "F a"), ("a R (b R b)", "a R b"), ("!!p7", "p7")],
)
def test_text_is_normalised_by_spots_identities(spot: LibSpot, text: str, short: str) -> None:
    assert spot.normalise(text) == short
    assert spot.formulas._is_clean()


def test_witness_that_is_too_long_to_read_is_a_limit(spot: LibSpot) -> None:
    long = {name: f"{name}{'_' * 90}" for name in "abc"}
    formula = formulas.rename(formulas.parse("a & X b & X X c & X (!a & X G !b)"), long)
    assert spot.witness(formula) is not None
    steps = " & X (".join(["a", "!a"] * 60) + ")" * 119

    with pytest.raises(SolverLimit, match="characters"):
        spot.witness(formulas.rename(formulas.parse(steps), {"a": "a" * 300}))


def test_peer_draws_reproducible_formulas(spot: LibSpot) -> None:
    peer = Peer(spot)
    options: dict[str, Any] = {"num": 50, "size": 12, "num_symbols": 3, "priorities": "xor=0,F=0"}

    drawn = peer.random_formulas(**options, seed=1)

    assert drawn == peer.random_formulas(**options, seed=1)
    assert drawn != peer.random_formulas(**options, seed=2)
    assert {token for formula in drawn for token in formula} >= {"p0", "p1", "p2", "U"}
    assert not {token for formula in drawn for token in formula} & {"xor", "F", "p3"}
    with pytest.raises(ValueError, match="bogus"):
        peer.random_formulas(**{**options, "priorities": "bogus=1"}, seed=1)
    assert spot.formulas._is_clean()


def run(code: str, **environment: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, **environment},
    )
    return done.stdout.strip()


TRY = """
from symshift.data.errors import MissingToolError
from symshift.solvers.spot_discovery import find_spot
try:
    print("found", find_spot().source)
except MissingToolError as error:
    print(error)
"""


def test_named_file_is_used_and_stormpy_is_not_imported(spot: LibSpot) -> None:
    code = TRY + "import sys; print('stormpy' in sys.modules, 'torch' in sys.modules)"

    assert run(code, SYMSHIFT_LIBSPOT=spot.source) == f"found {spot.source}\nFalse False"


def test_missing_file_is_named() -> None:
    assert "/no/such/libspot.so" in run(TRY, SYMSHIFT_LIBSPOT="/no/such/libspot.so")


def test_file_that_is_no_libspot_is_refused(spot: LibSpot) -> None:
    bdd = next(Path(spot.source).parent.glob("libbddx-*"))

    assert f"{bdd} is no libspot" in run(TRY, SYMSHIFT_LIBSPOT=str(bdd))


def test_untested_version_is_refused_with_the_reason() -> None:
    code = "from symshift.solvers import libspot; libspot.TESTED_VERSIONS = ('1.0',)" + TRY

    found = run(code)

    assert "tested: 1.0" in found
    assert "pip install" in found


def test_untested_machine_is_tried_in_a_process_of_its_own(
    spot: LibSpot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(libspot, "TESTED_MACHINES", ())
    libspot._try_elsewhere(spot.source)

    code = "from symshift.solvers import libspot; libspot.TESTED_MACHINES = ()" + TRY
    assert run(code) == f"found {spot.source}"

    monkeypatch.setattr(sys, "executable", "/bin/false")
    with pytest.raises(MissingToolError, match="does not work on"):
        libspot._try_elsewhere(spot.source)


@pytest.mark.parametrize(
    ("platform", "cure"),
    [("darwin", "conda install -c conda-forge spot"), ("win32", "works without it")],
)
def test_other_platforms_import_cleanly_and_say_what_to_do(platform: str, cure: str) -> None:
    found = run(f"import sys; sys.platform = {platform!r}" + TRY)

    assert "Linux only" in found
    assert cure in found
    assert "\n" not in found


def test_unrelated_package_of_that_name_is_never_run(tmp_path: Path) -> None:
    (tmp_path / "spot").mkdir()
    (tmp_path / "spot" / "__init__.py").write_text("raise SystemExit('it ran')")
    code = "from symshift.solvers import libspot; libspot.TESTED_VERSIONS = ()" + TRY

    assert "another package" in run(code, PYTHONPATH=str(tmp_path))


def test_module_without_formulas_is_not_spot(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "not_spot").mkdir()
    (tmp_path / "not_spot" / "__init__.py").write_text("")
    (tmp_path / "not_spot" / "_impl.so").write_text("")
    monkeypatch.syspath_prepend(tmp_path)

    with pytest.raises(MissingToolError, match="not Spot"):
        spot_module.find("not_spot")
    with pytest.raises(MissingToolError, match="not installed"):
        spot_module.find("no_such_module_at_all")


def test_found_spot_is_tested_once_for_a_process(spot: LibSpot) -> None:
    assert find_spot() is find_spot()
    assert find_spot().source
