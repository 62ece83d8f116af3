import pytest
import yaml
from exchange_files import copies

from symshift.data.dataset import open_dataset
from symshift.data.errors import DataError
from symshift.generators.exchange.exporting import export_dataset
from symshift.generators.verification import first_problems

SPLITS = {"train": ["a", "b a", "a b"], "test": ["c b", "a c"]}


@pytest.fixture
def dataset(tmp_path):
    return open_dataset(copies(tmp_path, **SPLITS))


def test_datasets_reads_the_folder_as_it_is(dataset, tmp_path, monkeypatch):
    datasets = pytest.importorskip("datasets", reason="needs the library datasets")
    monkeypatch.setenv("HF_DATASETS_OFFLINE", "1")
    export_dataset("hub", dataset, tmp_path / "out")
    loaded = datasets.load_dataset(str(tmp_path / "out"), cache_dir=str(tmp_path / "cache"))

    assert {split: loaded[split]["input"][:] for split in loaded} == SPLITS


def test_the_folder_is_a_sound_data_set_with_nothing_hidden(dataset, tmp_path):
    report = export_dataset("hub", dataset, tmp_path / "out")
    copy = open_dataset(tmp_path / "out")

    assert report.rows == {"train": 3, "test": 2}
    assert copy.fingerprint == dataset.fingerprint
    assert first_problems(copy) == []
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "CITATION.cff",
        "README.md",
        "data",
        "eval.yaml",
        "manifest.json",
    ]


def test_eval_yaml_and_citation_are_yaml_that_names_the_data_set(dataset, tmp_path):
    export_dataset("hub", dataset, tmp_path / "out")
    evaluation = yaml.safe_load((tmp_path / "out" / "eval.yaml").read_text())
    citation = yaml.safe_load((tmp_path / "out" / "CITATION.cff").read_text())

    assert evaluation["tasks"] == [{"id": "copy", "config": "default", "split": "test"}]
    assert evaluation["name"] == "out"
    assert citation["version"] == dataset.fingerprint
    assert citation["authors"]


def test_the_card_is_the_data_sets_own_as_its_owner_left_it(dataset, tmp_path):
    card = dataset.path / "README.md"
    card.write_text(card.read_text().replace("license: unknown", "license: mit"))
    export_dataset("hub", dataset, tmp_path / "out")
    text = (tmp_path / "out" / "README.md").read_text()

    assert text.startswith(card.read_text().rstrip())
    assert "license: mit" in text
    assert "symshift score" in text


def test_other_files_are_never_removed(dataset, tmp_path):
    out = tmp_path / "out"
    export_dataset("hub", dataset, out)
    with pytest.raises(DataError, match="--overwrite"):
        export_dataset("hub", dataset, out)
    export_dataset("hub", dataset, out, overwrite=True)

    (out / "thesis.tex").write_text("mine")
    with pytest.raises(DataError, match=r"thesis\.tex"):
        export_dataset("hub", dataset, out, overwrite=True)
    assert (out / "thesis.tex").read_text() == "mine"


def test_an_export_that_fails_leaves_nothing(dataset, tmp_path):
    next((dataset.path / "data").glob("train-*")).write_bytes(b"broken")

    with pytest.raises(DataError):
        export_dataset("hub", dataset, tmp_path / "out")
    assert not (tmp_path / "out").exists()
    assert not list(tmp_path.glob(".out*"))
