import json
from collections.abc import Iterator
from typing import Any

import pytest

from symshift.data.errors import DataError, UsageError
from symshift.data.plugins import plugin_names
from symshift.models.configuration import RunConfig, split_settings


def test_settings_go_to_the_method_or_to_the_training() -> None:
    options, train = split_settings("interchangeable", {"symbol_dim": "9", "steps": "7"})

    assert (options.symbol_dim, train.steps) == (9, 7)


@pytest.mark.parametrize("method", plugin_names("models.embeddings"))
def test_no_option_of_a_method_hides_a_setting(method: str) -> None:
    split_settings(method, {})


@pytest.mark.parametrize(
    ("method", "settings", "message"),
    [
        ("interchangeabel", {}, "Did you mean 'interchangeable'"),
        ("learned", {"stepz": "3"}, "Did you mean 'steps'"),
        ("learned", {"symbol_dim": "3"}, "unknown setting 'symbol_dim'"),
        ("interchangeable", {"randomizer": "hyper-cube"}, "Did you mean 'hypercube'"),
        ("learned", {"steps": "many"}, "steps='many'"),
        ("learned", {"steps": "0"}, "steps=0 must be at least 1"),
        ("learned", {"dropout": "1"}, "dropout=1.0"),
        ("learned", {"lr": "0"}, "lr=0.0"),
        ("learned", {"lr": "inf"}, "must be finite"),
        ("learned", {"weight_decay": "1e300"}, "at most 1e6"),
        ("learned", {"width": "1000000000"}, "width=1000000000 must be .* at most"),
        ("learned", {"threads": "100000"}, "threads=100000 must be .* at most"),
        ("leviathan", {"digits": "1" + "0" * 30}, "digits=10+ must be .* at most 64"),
        ("mlp", {"hidden_dim": "1000000000"}, "hidden_dim=1000000000 must be .* at most"),
        ("factorized", {"rank": "1000000000"}, "rank=1000000000 must be .* at most"),
        ("forgetting", {"every": "0"}, "every=0 must be at least 1"),
        ("alpha-renaming", {"pool": "0"}, "pool=0 must be at least 1"),
        ("learned", {"feature_norm": "false"}, "loss=adacos needs cosines"),
        ("learned", {"body": "decoder"}, "Did you mean 'decoder-only'"),
        ("learned", {"copy_attention": "1", "copy_place": "norm"}, "unknown copy_place 'norm'"),
        ("learned", {"copy_attention": "1", "copy_heads": "3"}, "shared by copy_heads=3"),
        ("learned", {"copy_attention": "1", "copy_heads": "0"}, "copy_heads=0 must be at least 1"),
        *(
            ("learned", {"body": "decoder-only", key: value}, f"{key}={value} is of no use without")
            for key, value in (("encoder_layers", "2"), ("encoder_positions", "sinusoidal"))
        ),
        *(
            ("learned", {key: value}, f"{key}={value} is of no use without {remedy}: leave it out")
            for key, value, remedy in (
                ("copy_heads", "1", "copy_attention=true"),
                ("copy_gate", "learned", "copy_attention=true"),
                ("copy_place", "residual", "copy_attention=true"),
                ("max_positions", "512", "learned positions"),
            )
        ),
    ],
)
def test_bad_settings_are_named(method: str, settings: dict[str, str], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        split_settings(method, settings)


def test_body_settings_that_are_left_open_are_settled() -> None:
    _, pair = split_settings("learned", {})
    _, alone = split_settings("learned", {"body": "decoder-only", "decoder_positions": "learned"})
    _, copying = split_settings("learned", {"copy_attention": "true", "copy_gate": "none"})

    assert (pair.encoder_layers, pair.decoder_layers, pair.encoder_positions) == (2, 2, "auto")
    assert (alone.encoder_layers, alone.decoder_layers, alone.encoder_positions) == (None, 4, None)
    assert (pair.max_positions, alone.max_positions) == (None, 512)
    assert (pair.copy_heads, pair.copy_place) == (None, None)
    assert (copying.copy_heads, copying.copy_gate, copying.copy_place) == (1, None, "residual")


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"body": "decoder-only", "decoder_positions": "learned"},
        {"copy_attention": True, "copy_gate": "learned", "copy_place": "after-norm"},
    ],
)
def test_configuration_survives_json(tiny_config, settings: dict[str, object]) -> None:
    config = tiny_config(**settings)

    assert RunConfig.from_json(json.loads(json.dumps(config.to_json())), "x") == config


def test_differences_are_named(tiny_config) -> None:
    assert tiny_config().differences(tiny_config()) == ""
    assert tiny_config().differences(tiny_config(steps=99)) == "steps 12, not 99"
    assert "method interchangeable, not learned" in tiny_config().differences(
        tiny_config("learned")
    )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"schema_version": 99}, "schema_version 99"),
        ({"train": None}, "train is None, expected dict"),
        ({"train": {}}, "train.vocabulary is None"),
        ({"window": None}, "window is None, expected list"),
        ({"window": [5, 2]}, "names 5-2 is no window"),
        ({"dataset": None}, "dataset is None, expected dict"),
        ({"dataset": {"name": None}}, "expected texts"),
        ({"fixed_tokens": [1]}, "expected texts"),
        ({"method": "learnt"}, "Did you mean 'learned'"),
        ({"options": {"symbol_dimm": 3}}, "Did you mean 'symbol_dim'"),
    ],
)
def test_broken_configuration_is_refused(
    tiny_config, change: dict[str, object], message: str
) -> None:
    with pytest.raises(DataError, match=rf"RUN/config\.json: .*{message}"):
        RunConfig.from_json({**tiny_config().to_json(), **change}, "RUN/config.json")


def places(value: object) -> Iterator[tuple[str | int, ...]]:
    """Yield the way to each value within a parsed file, and the empty one to all of it."""
    yield ()
    parts = value.items() if isinstance(value, dict) else ()
    for key, part in enumerate(value) if isinstance(value, list) else parts:
        yield from ((key, *rest) for rest in places(part))


def replaced(value: Any, place: tuple[str | int, ...], new: object) -> Any:
    if not place:
        return new
    changed = value.copy()
    changed[place[0]] = replaced(value[place[0]], place[1:], new)
    return changed


@pytest.mark.parametrize("method", plugin_names("models.embeddings"))
def test_any_value_in_any_place_of_the_file_is_read_or_refused_by_its_name(
    tiny_config, method: str
) -> None:
    plain = {**tiny_config(method).to_json(), "fixed_tokens": ["a", "b"]}
    refused, messages = set(), set()
    for place in places(plain):
        for value in (None, [], ["x"], "x", -1, 2.5, True, {}, {"x": 1}, 10**30, 10**400):
            try:
                config = RunConfig.from_json(replaced(plain, place, value), "RUN/config.json")
                json.dumps(config.to_json(), allow_nan=False)
            except DataError as error:
                refused.add(place)
                messages.add(str(error))

    assert all(message.startswith("RUN/config.json: ") for message in messages)
    # What is only reported, and names that the building of the model refuses.
    left = {("train", f"{part}_positions") for part in ("encoder", "decoder")}
    reported = {("versions",), *(("versions", name) for name in plain["versions"])}
    assert {*places(plain)} - refused == left | reported
