import shutil

import pytest

from symshift.data.errors import DataError, SymshiftError, UsageError
from symshift.generators import parts as part_files
from symshift.generators import writer
from symshift.generators.generation import merge_parts, plan
from symshift.generators.parts import Part, write_part
from symshift.generators.writer import write_dataset

WISHES = {"symbols": 4, "size": "3-6", "train": 300, "test": 30}


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    for module in (writer, part_files):
        monkeypatch.setattr(module, "BLOCK_CANDIDATES", 64)
        monkeypatch.setattr(module, "CHUNK_CANDIDATES", 16)


@pytest.fixture
def make_parts(Serial):
    def make(folder, count=3, **wishes):
        recipe, demand = plan("copy", {**WISHES, **wishes})
        paths = [folder / f"part{n}" for n in range(1, count + 1)]
        for number, path in enumerate(paths, 1):
            write_part(recipe, demand, Part(number, count), path, Serial())
        return paths

    return make


@pytest.mark.parametrize("count", [1, 2, 3])
def test_merged_parts_have_the_bytes_of_a_single_run(tmp_path, count, Serial, contents, make_parts):
    recipe, demand = plan("copy", WISHES)
    write_dataset(recipe, demand, tmp_path / "single", Serial())
    parts = make_parts(tmp_path, count)
    merge_parts(parts[::-1], tmp_path / "merged")

    assert contents(tmp_path / "merged") == contents(tmp_path / "single")


def test_an_interrupted_part_goes_on(tmp_path, Serial, contents):
    recipe, demand = plan("copy", WISHES)
    write_part(recipe, demand, Part(2, 3), tmp_path / "whole", Serial())
    for stop_after in (1, 3):
        with pytest.raises(KeyboardInterrupt):
            write_part(recipe, demand, Part(2, 3), tmp_path / "cut", Serial(stop_after))
    write_part(recipe, demand, Part(2, 3), tmp_path / "cut", Serial())

    assert contents(tmp_path / "cut") == contents(tmp_path / "whole")


def test_a_missing_part_is_named(tmp_path, make_parts):
    parts = make_parts(tmp_path)
    with pytest.raises(SymshiftError, match="missing part 2/3"):
        merge_parts([parts[0], parts[2]], tmp_path / "merged")


def test_a_part_that_is_too_short_is_named_with_its_range(tmp_path, make_parts):
    parts = make_parts(tmp_path)
    blocks = sorted((parts[1] / "blocks").iterdir())
    for block in blocks[1:]:
        block.unlink()
    with pytest.raises(SymshiftError, match=r"part 2/3 ends before candidates \d+-\d+"):
        merge_parts(parts, tmp_path / "merged")


def test_parts_of_other_data_sets_are_refused(tmp_path, Serial, make_parts):
    parts = make_parts(tmp_path / "a")
    others = make_parts(tmp_path / "b", seed=1)
    with pytest.raises(DataError, match="another data set"):
        merge_parts([parts[0], others[1], parts[2]], tmp_path / "merged")
    with pytest.raises(DataError, match="given twice"):
        merge_parts([parts[0], parts[0], parts[2]], tmp_path / "merged")
    with pytest.raises(DataError, match=r"part\.json"):
        merge_parts([tmp_path], tmp_path / "merged")
    recipe, demand = plan("copy", {**WISHES, "seed": 5})
    with pytest.raises(DataError, match="another data set"):
        write_part(recipe, demand, Part(1, 3), parts[0], Serial())


def test_a_space_that_is_too_small_is_merged_whole(tmp_path, make_parts):
    parts = make_parts(tmp_path, 2, symbols=2, size="1-3", train=1000, test=1000)
    report = merge_parts(parts, tmp_path / "merged")

    assert "only 14 problems" in report.message


def test_a_part_resumes_after_its_folder_was_copied(tmp_path, make_parts):
    parts = make_parts(tmp_path)
    shutil.copytree(parts[0], tmp_path / "copy")
    merge_parts([tmp_path / "copy", *parts[1:]], tmp_path / "merged")

    assert (tmp_path / "merged" / "manifest.json").is_file()


@pytest.mark.parametrize("text", ["0/3", "4/3", "1", "a/b", "1/", "-1/2"])
def test_wrong_parts_are_refused(text):
    with pytest.raises(UsageError, match="part"):
        Part.parse(text)


def test_cells_are_not_made_in_parts(tmp_path, Serial):
    recipe, demand = plan("copy", {"symbols": 3, "size": "1-3", "per_cell": 2})
    with pytest.raises(UsageError, match="per-cell"):
        write_part(recipe, demand, Part(1, 2), tmp_path, Serial())
