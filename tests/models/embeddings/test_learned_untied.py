import torch

from symshift.models.embedding import TableShape
from symshift.models.embeddings.learned_untied import METHOD

PUBLISHED = TableShape(num_fixed=0, num_symbols=49_152, width=2048)


def test_report_gives_the_published_share_of_the_input_table() -> None:
    # arXiv 2610.04002: 1.7B values, of which the trained input table is 5.56 %.
    layers, width, ff_width = 24, 2048, 8192
    body = layers * (4 * width**2 + 3 * width * ff_width + 2 * width) + width
    report = METHOD.parameter_report(PUBLISHED, METHOD.Options())
    total = body + report.input + report.output

    assert total == 1_812_039_680
    assert 0.05555 <= report.input / total <= 0.0556
    assert report.stored == 0


def test_plain_model_is_the_default() -> None:
    method = METHOD(
        TableShape(num_fixed=20, num_symbols=30, width=400),
        METHOD.Options(),
        torch.Generator().manual_seed(0),
    )
    table = method.table(30, torch.Generator())

    assert (method.loss, method.feature_norm, method.output) == ("cross-entropy", False, "dense")
    for rows in (table, method.answers(table)):
        assert torch.allclose(rows.std(), torch.tensor(400**-0.5), rtol=0.02)


def test_rows_that_read_and_rows_that_answer_are_of_two_tables() -> None:
    shape = TableShape(num_fixed=3, num_symbols=5, width=8)
    method = METHOD(shape, METHOD.Options(), torch.Generator().manual_seed(0))
    table = method.table(4, torch.Generator())

    assert torch.equal(table, method.rows[:7])
    assert torch.equal(method.answers(table), method.head[:7])
    assert not torch.isclose(table, method.answers(table)).any()
    assert {key: value.rows for key, value in method.token_tables().items()} == {
        "rows": method.rows,
        "head": method.head,
    }


def test_norms_act_on_both_tables() -> None:
    shape = TableShape(num_fixed=3, num_symbols=5, width=8)
    method = METHOD(shape, METHOD.Options(final_norm=True), torch.Generator().manual_seed(0))
    table = method.table(5, torch.Generator())

    for rows in (table, method.answers(table)):
        assert torch.allclose(rows.norm(dim=1), torch.ones(8))
