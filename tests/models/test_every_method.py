"""What every embedding method promises; a new file in models/embeddings/ is under test at once."""

import pytest
import torch
from safetensors.torch import load, save

from symshift.data.errors import UsageError
from symshift.data.plugins import plugin_names
from symshift.models.batches import batch_of
from symshift.models.building import build_model, parameter_counts
from symshift.models.codes.fixed import CodeMethod
from symshift.models.embedding import EmbeddingMethod, TableShape, load_method
from symshift.models.encoding import EncodedRows
from symshift.models.model import Rows

METHODS: list[tuple[str, dict[str, object]]] = [
    *((name, {}) for name in plugin_names("models.embeddings")),
    ("learned", {"final_norm": False, "feature_norm": False, "loss": "cross-entropy"}),
    ("alpha-renaming", {"form": "data", "pool": 18}),
    ("interchangeable", {"randomizer": "normal"}),
    ("interchangeable", {"randomizer": "neighbor", "block_norm": False}),
    ("interchangeable", {"final_norm": False}),
    ("frozen", {"init_std": 0.5}),
    ("forgetting", {"every": 2, "rows": "all"}),
    ("forgetting", {"until": 9, "final_norm": True, "feature_norm": True, "loss": "adacos"}),
    ("binary-code", {"code_bits": 9}),
    ("binary-code", {"output": "generated"}),
    ("gf2-code", {"code_bits": 9, "output": "generated"}),
    ("random-code", {"output": "generated"}),
    ("random-code", {"rank": "code", "norms": "mean"}),
    ("hadamard-code", {"norm_match": False, "output": "generated"}),
    ("learned-untied", {"final_norm": True, "feature_norm": True, "loss": "adacos"}),
    ("leviathan", {"output": "generated", "digits": 3}),
    ("factorized", {"output": "generated"}),
    ("mlp", {"form": "flat"}),
    ("mlp", {"output": "generated"}),
]
every_method = pytest.mark.parametrize(("name", "options"), METHODS)
FIXED, NAMES, WIDTH = 5, 7, 32


def stream(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def build(name: str, options: dict[str, object], seed: int = 0) -> EmbeddingMethod:
    cls = load_method(name)
    shape = TableShape(num_fixed=FIXED, num_symbols=NAMES, width=WIDTH)
    return cls(shape, cls.Options(**options), stream(seed))


@every_method
def test_table_has_a_row_for_each_token_and_symbol(name: str, options) -> None:
    assert build(name, options).table(NAMES, stream()).shape == (FIXED + NAMES, WIDTH)
    assert build(name, options).table(2, stream()).shape == (FIXED + 2, WIDTH)


@every_method
def test_rows_are_distinct_and_not_zero(name: str, options) -> None:
    table = build(name, options).table(NAMES, stream())

    assert table[1:].any(dim=1).all()  # Padding may be zero: nothing reads it.
    assert torch.cdist(table, table).fill_diagonal_(1).min() > 1e-3


@every_method
def test_table_is_a_function_of_the_generator(name: str, options) -> None:
    before = torch.get_rng_state()

    assert torch.equal(
        build(name, options).table(NAMES, stream(3)), build(name, options).table(NAMES, stream(3))
    )
    assert torch.equal(before, torch.get_rng_state())
    if not load_method(name).named_rows:
        assert not torch.equal(
            build(name, options).table(NAMES, stream(3)),
            build(name, options).table(NAMES, stream(4)),
        )


@every_method
def test_first_values_are_a_function_of_the_generator(name: str, options) -> None:
    first, same, other = (build(name, options, seed).state_dict() for seed in (0, 0, 1))

    assert all(torch.equal(first[key], same[key]) for key in first)
    method = build(name, options)
    if not (isinstance(method, CodeMethod) and method.head is None):  # Codes have their own seed.
        assert any(not torch.equal(first[key], other[key]) for key in first)


@every_method
def test_more_names_than_in_training_work_or_are_refused_with_the_remedy(
    name: str, options
) -> None:
    method, refused = build(name, options), None
    try:
        table = method.table(NAMES + 9, stream())
    except UsageError as error:
        refused = str(error)

    if refused is None:
        assert table.shape == (FIXED + NAMES + 9, WIDTH)
    else:
        assert f"{NAMES + 9} names" in refused
        assert "--set" in refused


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"copy_attention": True},
        {"body": "decoder-only"},
        {"body": "decoder-only", "copy_attention": True},
    ],
)
@every_method
def test_gradients_reach_every_trained_value(
    name: str, options, body, tiny_config, encoded: EncodedRows
) -> None:
    model = build_model(tiny_config(name, **options, **body))
    batch = batch_of(encoded, torch.arange(64).numpy())
    model.batch_loss(batch, model.rows(3, stream())).backward()

    for key, parameter in model.named_parameters():
        if parameter.requires_grad:
            assert parameter.grad is not None, key
            assert parameter.grad.any(), key


@every_method
def test_saved_model_gives_the_same_logits(
    name: str, options, tiny_config, encoded: EncodedRows
) -> None:
    model = build_model(tiny_config(name, **options))
    batch = batch_of(encoded, torch.arange(64).numpy())
    model.batch_loss(batch, model.rows(3, stream())).backward()  # moves AdaCos's scale
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(1.5)
    copy = build_model(tiny_config(name, **options))
    copy.load_state_dict(load(save(model.state_dict())))

    logits = [
        one.eval().answer_logits(batch, one.rows(3, stream(2))).detach() for one in (model, copy)
    ]

    assert torch.equal(*logits)


@every_method
def test_rows_that_read_also_answer_where_they_are_tied(name: str, options, tiny_config) -> None:
    model = build_model(tiny_config(name, **options))
    rows = model.rows(3, stream())
    if type(model.method).answers is EmbeddingMethod.answers:
        assert rows.answers.data_ptr() == rows.input[2:].data_ptr()
        is_trained = any(value.requires_grad for value in model.method.parameters())
        assert rows.answers.requires_grad == is_trained


@every_method
def test_report_counts_every_trained_value_once(name: str, options, tiny_config) -> None:
    config = tiny_config(name, **options)
    model = build_model(config)
    kept = [*model.method.parameters(), *model.method.buffers()]
    counts = parameter_counts(config, model)

    assert counts["trained"] == sum(p.numel() for p in model.parameters() if p.requires_grad)
    assert counts["stored"] == sum(value.numel() for value in kept if not value.requires_grad)


@every_method
def test_renamings_are_injections_into_the_training_table(name: str, options) -> None:
    method = build(name, options)
    renamings = method.renamings(50, 4, stream())
    if renamings is not None:
        assert renamings.shape == (50, 4)
        assert all(len(set(row)) == 4 for row in renamings.tolist())
        assert renamings.max() < method.training_symbols(4)


def test_interchangeable_answers_follow_a_permutation_of_codes_and_names(
    tiny_config, encoded: EncodedRows
) -> None:
    model = build_model(tiny_config()).eval()
    rows = model.rows(3, stream())
    batch = batch_of(encoded, torch.arange(64).numpy())
    order = torch.tensor([0, 1, 2, 4, 5, 3])  # ids; the last three are symbols
    places = order.argsort()
    moved = Rows(rows.input[order], rows.answers[order[2:] - 2])
    renamed = batch._replace(source=places[batch.source], target=places[batch.target])

    logits, moved_logits = model.answer_logits(batch, rows), model.answer_logits(renamed, moved)

    assert torch.allclose(logits[..., order[2:] - 2], moved_logits, atol=1e-5)


def test_interchangeable_parameters_do_not_grow_with_the_vocabulary(tiny_config) -> None:
    configs = [tiny_config(vocabulary=size) for size in (3, 900)]
    small, large = (parameter_counts(config, build_model(config)) for config in configs)

    assert small == large


def test_alpha_renaming_deals_rows_of_its_pool(tiny_config) -> None:
    model = build_model(tiny_config("alpha-renaming", pool=9))
    tables = [model.rows(3, stream(seed)).input[3:] for seed in range(40)]
    seen = torch.unique(torch.cat(tables).round(decimals=4), dim=0)

    assert len(seen) == 9
