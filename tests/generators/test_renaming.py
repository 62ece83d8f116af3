import math
from collections import Counter

import pytest

from symshift.data.dataset import open_dataset
from symshift.data.errors import DataError, UsageError
from symshift.data.seeds import Draws
from symshift.data.text import rename_text
from symshift.data.vocabulary import Window
from symshift.generators.generation import generate_dataset
from symshift.generators.renaming import renamings, write_renamed
from symshift.generators.verification import first_problems


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    out = tmp_path_factory.mktemp("base") / "d"
    generate_dataset("copy", out, {"test": 25, "symbols": 4, "size": "2-5"}, num_workers=1)
    return open_dataset(out)


@pytest.mark.parametrize("num_symbols", [0, 1, 2, 3])
@pytest.mark.parametrize("cap", [1, 5, 1000])
def test_renamings_are_all_or_a_sample_without_repetition(num_symbols, cap):
    symbols = ("a", "b", "c")[:num_symbols]
    found = renamings(symbols, Window.first(4), cap, Draws(0))
    total = math.perm(4, num_symbols)

    assert found[0] == {symbol: symbol for symbol in symbols}
    assert len(found) == min(total, cap)
    assert len({tuple(r.values()) for r in found}) == len(found)
    assert all(len(set(r.values())) == num_symbols for r in found)


def test_renamings_into_other_names_have_no_identity():
    found = renamings(("a", "b"), Window(3, 5), 100, Draws(0))

    assert len(found) == 6
    assert all(name in "def" for renaming in found for name in renaming.values())


def test_sampled_renamings_are_uniform():
    counts: Counter = Counter()
    for seed in range(3_000):
        for renaming in renamings(("a", "b"), Window.first(4), 3, Draws(seed))[1:]:
            counts["".join(renaming.values())] += 1

    assert len(counts) == 11
    expected = 6_000 / 11
    assert sum((n - expected) ** 2 / expected for n in counts.values()) < 37


def test_every_variant_is_a_renaming_of_its_row(tmp_path, base):
    write_renamed(base, tmp_path / "r")
    renamed = open_dataset(tmp_path / "r")
    rows = {row.id: row for row in base.rows("test")}
    seen: Counter = Counter()
    for row in renamed.rows("test"):
        source = rows[row["base_id"]]
        names = {pair["name"]: pair["renamed"] for pair in row["renaming"]}
        seen[source.id] += 1

        assert row.input == rename_text(source.input, names)
        assert row.target == rename_text(source.target, names)
        assert row["regime"] == "seen"
        assert row.split == source.split

    assert seen == {id: math.perm(4, row.num_symbols) for id, row in rows.items()}
    assert first_problems(renamed) == []


def test_into_held_out_names_there_is_one_variant_of_each_row(tmp_path, base):
    write_renamed(base, tmp_path / "r", into=Window(10, 13))
    renamed = open_dataset(tmp_path / "r")

    assert renamed.num_rows("test") == 25
    assert renamed.window == Window(10, 13)
    assert {row["regime"] for row in renamed.rows("test")} == {"all-unseen"}
    assert all(set(row.symbols) <= set("klmn") for row in renamed.rows("test"))
    assert [row["base_id"] for row in renamed.rows("test")] == [r.id for r in base.rows("test")]
    assert first_problems(renamed) == []


def test_names_that_are_partly_known_are_a_regime_of_their_own(tmp_path, base):
    write_renamed(base, tmp_path / "r", into=Window(2, 5), max_renamings=1000)
    regimes = {row["regime"] for row in open_dataset(tmp_path / "r").rows("test")}

    assert regimes == {"seen", "some-unseen", "all-unseen"}


def test_the_same_command_again_keeps_what_is_there(tmp_path, base):
    write_renamed(base, tmp_path / "r", max_renamings=2)
    before = (tmp_path / "r" / "manifest.json").read_bytes()

    assert "nothing to do" in write_renamed(base, tmp_path / "r", max_renamings=2).message
    with pytest.raises(DataError, match="another data set"):
        write_renamed(base, tmp_path / "r", max_renamings=3)
    assert (tmp_path / "r" / "manifest.json").read_bytes() == before
    write_renamed(base, tmp_path / "r", max_renamings=3, overwrite=True)
    assert (tmp_path / "r" / "manifest.json").read_bytes() != before


def test_what_cannot_be_renamed_is_refused(tmp_path, base):
    write_renamed(base, tmp_path / "r", max_renamings=1)
    with pytest.raises(DataError, match="renamed already"):
        write_renamed(open_dataset(tmp_path / "r"), tmp_path / "rr")
    with pytest.raises(UsageError, match="only 2"):
        write_renamed(base, tmp_path / "s", into=Window(7, 8))
    with pytest.raises(UsageError, match="no such part"):
        write_renamed(base, tmp_path / "s", only="query")
    with pytest.raises(UsageError, match="own folder"):
        write_renamed(base, base.path)
    with pytest.raises(UsageError, match="max_renamings=0"):
        write_renamed(base, tmp_path / "s", max_renamings=0)
