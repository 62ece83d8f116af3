import json
from pathlib import Path

import pytest
import torch

from symshift.data.errors import UsageError
from symshift.data.vocabulary import Window
from symshift.models.building import table_shape
from symshift.models.embedding import EmbeddingMethod, ParameterReport, TableShape, TokenTable
from symshift.models.prediction import predict
from symshift.models.redrawing import redraw_unseen
from symshift.models.training.run import train

SHAPE = TableShape(num_fixed=4, num_symbols=3000, width=3, trained=range(10, 60))
SEEN = range(14, 64)
UNSEEN = [*range(4, 14), *range(64, 3004)]


class TwoTables(EmbeddingMethod):
    """Two tables of learned rows, one for reading and one for answering."""

    def __init__(self) -> None:
        super().__init__()
        draws = torch.Generator().manual_seed(0)
        size = (SHAPE.num_rows, SHAPE.width)
        scale = torch.tensor([0.5, 1.0, 3.0])
        self.rows = torch.nn.Parameter(torch.randn(size, generator=draws) * scale + 7.0)
        self.head = torch.nn.Parameter(torch.randn(size, generator=draws) * scale - 2.0)

    def table(self, num_symbols: int, generator: torch.Generator) -> torch.Tensor:
        return self.rows

    @classmethod
    def parameter_report(cls, shape: TableShape, options: object) -> ParameterReport:
        size = shape.num_rows * shape.width
        return ParameterReport(input=size, output=size, stored=0)

    def token_tables(self) -> dict[str, TokenTable]:
        return {"rows": TokenTable(self.rows, 0.25), "head": TokenTable(self.head, 2.0)}


def redrawn(how: str, seed: int = 0) -> TwoTables:
    method = TwoTables()
    redraw_unseen(method, SHAPE, how, torch.Generator().manual_seed(seed))
    return method


@pytest.mark.parametrize("how", ["init", "matched"])
def test_only_rows_of_unseen_names_change_and_all_of_them_do(how: str) -> None:
    before, after = TwoTables(), redrawn(how)
    kept = [row for row in range(SHAPE.num_rows) if row not in UNSEEN]

    assert [*SEEN] == SHAPE.seen.tolist()
    for name in ("rows", "head"):
        old, new = getattr(before, name), getattr(after, name)
        assert torch.equal(old[kept], new[kept])
        assert not torch.isclose(old[UNSEEN], new[UNSEEN]).all(dim=1).any()


def test_matched_rows_have_mean_and_spread_of_the_trained_ones_in_each_coordinate() -> None:
    method = redrawn("matched")
    for rows in (method.rows, method.head):
        std, mean = torch.std_mean(rows[UNSEEN].detach(), dim=0)
        wanted_std, wanted_mean = torch.std_mean(rows[SEEN].detach(), dim=0)
        # 2,950 rows: the mean errs by 1.8 % of a standard deviation, the spread by 1.3 %.
        assert ((mean - wanted_mean).abs() / wanted_std < 0.09).all()
        assert torch.allclose(std, wanted_std, rtol=0.07)


def test_first_values_come_from_the_tables_own_distribution() -> None:
    method = redrawn("init")
    for rows, wanted in ((method.rows, 0.25), (method.head, 2.0)):
        std, mean = torch.std_mean(rows[UNSEEN].detach())
        assert std.item() == pytest.approx(wanted, rel=0.05)
        assert abs(mean.item()) < 0.06 * wanted


def test_draws_are_a_function_of_the_generator_and_differ_from_table_to_table() -> None:
    first, same, other = redrawn("init"), redrawn("init"), redrawn("init", seed=1)

    assert torch.equal(first.rows, same.rows)
    assert torch.equal(first.head, same.head)
    assert not torch.equal(first.rows, other.rows)
    assert not torch.allclose(first.rows[UNSEEN] / 0.25, first.head[UNSEEN] / 2.0)


def test_rows_stay_as_they_are_unless_asked() -> None:
    assert torch.equal(TwoTables().rows, redrawn("none").rows)


def test_one_trained_name_has_no_spread_to_match() -> None:
    shape = TableShape(num_fixed=4, num_symbols=3000, width=3, trained=range(1))

    with pytest.raises(UsageError, match="nothing to match: 1 trained name"):
        redraw_unseen(TwoTables(), shape, "matched", torch.Generator())


def test_the_names_of_training_are_seen_to_the_last_one(tiny_config) -> None:
    shape = table_shape(tiny_config("learned", vocabulary=7))

    assert shape.seen.tolist() == [3, 4, 5]
    assert shape.unseen.tolist() == [6, 7, 8, 9]


@pytest.fixture(scope="session")
def wide_run(
    tiny_settings: dict[str, str], copy_data: Path, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """Return a learned model of three names with rows for seven."""
    run = tmp_path_factory.mktemp("runs") / "wide"
    settings = {**tiny_settings, "vocabulary": "7", "lr": "1e-2", "steps": "40"}
    train(copy_data, run, "learned", settings=settings, device="cpu")
    return run


def test_answers_in_new_names_come_from_the_redrawn_rows_and_say_so(
    wide_run: Path, other_names: Path, tmp_path: Path
) -> None:
    texts = {}
    for how, seed in (("none", 0), ("none", 1), ("matched", 0), ("matched", 1), ("init", 0)):
        out = tmp_path / f"{how}{seed}.jsonl"
        meta = predict(wide_run, other_names, out, redraw_unseen=how, table_seed=seed, device="cpu")
        texts[how, seed] = out.read_text()
        assert meta["redraw_unseen"] == how
        assert meta["output"] == "tied"
        assert meta["name"] == ("learned" if how == "none" else f"learned, redrawn ({how})")
        assert meta == json.loads((tmp_path / f"{how}{seed}.jsonl.meta.json").read_text())

    assert texts["none", 0] == texts["none", 1]
    assert len({texts["none", 0], texts["matched", 0], texts["matched", 1]}) == 3


@pytest.mark.parametrize("method", ["interchangeable", "frozen", "alpha-renaming"])
def test_a_method_without_learned_rows_of_names_has_nothing_to_redraw(
    method: str, tiny_settings, copy_data: Path, tmp_path: Path
) -> None:
    own = {"symbol_dim": "6"} if method == "interchangeable" else {}
    settings = {**tiny_settings, **own, "steps": "1", "vocabulary": "7"}
    train(copy_data, tmp_path / "run", method, settings=settings, device="cpu")

    with pytest.raises(UsageError, match="nothing to redraw: the method has no table"):
        predict(tmp_path / "run", copy_data, tmp_path / "p", redraw_unseen="matched", device="cpu")


def test_a_model_of_trained_names_alone_has_nothing_to_redraw(
    tiny_settings, copy_data: Path, make_data, make_rows, tmp_path: Path
) -> None:
    settings = {**tiny_settings, "steps": "1"}
    train(copy_data, tmp_path / "run", "learned", settings=settings, device="cpu")
    data = make_data(tmp_path / "data", Window.first(3), make_rows(5, 3, "test"))

    with pytest.raises(UsageError, match=r"nothing to redraw: .*--set vocabulary=K"):
        predict(tmp_path / "run", data, tmp_path / "p", redraw_unseen="init", device="cpu")
    with pytest.raises(UsageError, match=r"unknown way to redraw 'matchd'.*'matched'"):
        predict(tmp_path / "run", data, tmp_path / "p", redraw_unseen="matchd", device="cpu")
    assert {path.name for path in tmp_path.iterdir()} == {"run", "data"}


@pytest.mark.slow
def test_much_of_the_failure_in_new_names_sits_in_the_rows(
    make_data, make_rows, tmp_path: Path
) -> None:
    # Tied rows of 512 names: the model copies them all, and none of 64 others.
    data = make_data(tmp_path / "data", Window.first(512), make_rows(20_000, 512, "train"))
    rows = make_rows(200, 64, "test", start=512)
    new = make_data(tmp_path / "new", Window(512, 575), rows)
    plain = {"final_norm": "false", "feature_norm": "false", "loss": "cross-entropy"}
    settings = {**plain, "vocabulary": "576", "steps": "500", "threads": "1"}
    train(data, tmp_path / "run", "learned", settings=settings, device="cpu")
    targets = [row.target for row in rows]

    def share(how: str, seed: int) -> float:
        out = tmp_path / "answers.jsonl"
        predict(tmp_path / "run", new, out, redraw_unseen=how, table_seed=seed, device="cpu")
        answers = [json.loads(line)["prediction"] for line in out.read_text().splitlines()]
        return sum(map(str.__eq__, answers, targets)) / len(targets)

    assert share("none", 0) <= 0.02
    assert sum(share("matched", seed) for seed in range(3)) / 3 >= 0.12
