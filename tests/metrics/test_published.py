from symshift.data.catalogue import catalogue
from symshift.metrics.published import FIGURES, published, published_of


def test_each_quoted_data_set_has_a_preset_and_each_figure_a_source() -> None:
    presets = catalogue("presets")

    for block in published():
        assert block.preset in presets
        assert block.task in catalogue("tasks")
        assert block.source
        assert block.read_in
        for row in block.rows:
            assert row.keys() - {"system"} <= FIGURES.keys()
            assert all(0 <= row[name] <= 100 for name in row.keys() - {"system"})


def test_figures_of_the_baseline_are_those_that_two_sources_print() -> None:
    rows = [row for block in published_of("ltl") for row in block.rows]
    baselines = [row for row in rows if row["system"].startswith("baseline")]
    plain = [row for row in baselines if "perturbed" not in row["system"]]

    assert {(row["correct"], row["exact"], row["alpha_covariance_5"]) for row in plain} == {
        (98.23, 83.23, 91.80)
    }
    assert published_of("no such task") == []
