import json

import pytest

pytest.importorskip("transformers", reason="needs the extra hub")

import torch
from tiny_language_models import CHAT_TEMPLATE, save_tiny_model
from transformers import AutoModelForCausalLM, AutoTokenizer

from symshift.data import console
from symshift.data.dataset import open_dataset
from symshift.data.errors import DataError, SymshiftError, UsageError
from symshift.data.prompts import PromptOptions, prompts_for
from symshift.metrics.commands import score
from symshift.models.commands import predict
from symshift.models.hub import asking
from symshift.models.hub.hub_prediction import predict_by_prompting
from symshift.models.streams import cpu_threads

NEW_TOKENS = 10


@pytest.fixture(autouse=True)
def offline(monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with cpu_threads(1):
        yield


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return save_tiny_model(tmp_path_factory.mktemp("models") / "tiny")


@pytest.fixture
def ask(copy_data, tmp_path):
    def run(folder, name="answers.jsonl", **options):
        settings = {"max_new_tokens": NEW_TOKENS, "batch_size": 32, "device": "cpu", **options}
        meta = predict_by_prompting(str(folder), copy_data, tmp_path / name, **settings)
        return meta, (tmp_path / name).read_bytes()

    return run


def texts(content):
    return [json.loads(line)["prediction"] for line in content.splitlines()]


def test_every_row_gets_an_answer_in_order_and_the_file_beside_says_how(ask, model, copy_data):
    meta, content = ask(model, shots=2)

    ids = [json.loads(line)["id"] for line in content.splitlines()]
    assert ids == [row.id for row in open_dataset(copy_data).rows("test")]
    assert meta["name"] == "tiny, 2 shots"
    assert meta["dtype"] == "float32"
    assert meta["options"]["prompt"] == "prompt-v1"
    assert meta["options"]["form"] == "plain"
    assert len(meta["options"]["shot_ids"]) == 2
    assert len(meta["options"]["model"]["config.json sha256"]) == 64
    assert len(meta["options"]["model"]["model.safetensors sha256"]) == 64


def test_batch_size_changes_no_answer(ask, model):
    answers = [ask(model, f"{size}.jsonl", batch_size=size)[1] for size in (1, 7, 64)]

    assert answers[0] == answers[1] == answers[2]
    assert len(set(texts(answers[0]))) > 10


def greedy(folder, dataset, num_rows):
    """Yield the plainest decoding of the first rows' answers, whatever lines they have."""
    prompts = prompts_for(dataset, PromptOptions())
    network = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    for row in list(dataset.rows("test"))[:num_rows]:
        ids = tokenizer(prompts.text(row.input))["input_ids"]
        start = len(ids)
        while len(ids) < start + NEW_TOKENS:
            with torch.no_grad():
                token = int(network(torch.tensor([ids])).logits[0, -1].argmax())
            if token == tokenizer.eos_token_id:
                break
            ids.append(token)
        yield tokenizer.decode(ids[start:])


def test_answers_are_the_lines_of_greedy_decoding_one_token_at_a_time(ask, model, copy_data):
    expected = list(greedy(model, open_dataset(copy_data), 20))

    assert any("\n" in text.strip() for text in expected)
    assert texts(ask(model)[1])[:20] == [text.partition("\n")[0].strip() for text in expected]


def test_a_run_that_was_killed_goes_on_and_ends_in_the_same_bytes(
    ask, model, tmp_path, monkeypatch
):
    _, whole = ask(model, "whole.jsonl", batch_size=9)
    answers, asked = asking.Asker.answers, []

    def stopping(self, prompts):
        if len(asked) == 3:
            raise KeyboardInterrupt
        asked.append(len(prompts))
        return answers(self, prompts)

    monkeypatch.setattr(asking.Asker, "answers", stopping)
    with pytest.raises(KeyboardInterrupt):
        ask(model, batch_size=9)
    assert not (tmp_path / "answers.jsonl").exists()
    [kept] = tmp_path.glob(".answers.jsonl.*/answers.jsonl")
    with kept.open("ab") as file:
        file.write(b'["cut sho')
    asked.clear()
    monkeypatch.setattr(asking.Asker, "answers", lambda *a: asked.append(1) or answers(*a))

    assert ask(model, batch_size=9)[1] == whole
    assert len(asked) == 8 - 3
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "answers.jsonl",
        "answers.jsonl.meta.json",
        "whole.jsonl",
        "whole.jsonl.meta.json",
    ]


def test_answers_of_another_configuration_are_not_taken_over(ask, model, tmp_path, monkeypatch):
    _, whole = ask(model, "whole.jsonl", shots=1)
    answers, asked = asking.Asker.answers, []

    def stopping(self, prompts):
        if asked:
            raise KeyboardInterrupt
        asked.append(1)
        return answers(self, prompts)

    monkeypatch.setattr(asking.Asker, "answers", stopping)
    with pytest.raises(KeyboardInterrupt):
        ask(model, shots=0)
    monkeypatch.setattr(asking.Asker, "answers", answers)

    assert ask(model, shots=1)[1] == whole


def test_what_the_model_says_of_sampling_and_repetition_is_not_heeded(ask, model, tmp_path):
    settings = {"do_sample": True, "temperature": 9.0, "repetition_penalty": 1.9, "top_k": 200}
    other = save_tiny_model(tmp_path / "sampling", **settings)

    assert ask(other, "other.jsonl")[1] == ask(model)[1]


def test_a_model_with_a_chat_template_gets_messages(ask, model, tmp_path):
    chat = save_tiny_model(tmp_path / "chat", chat_template=CHAT_TEMPLATE)
    meta, content = ask(chat)

    assert meta["options"]["form"] == "chat"
    assert texts(content) != texts(ask(model, "plain.jsonl")[1])


def test_a_template_without_system_messages_gets_the_instructions_in_the_first(ask, tmp_path):
    refusing = "{% if messages[0].role == 'system' %}{{ raise_exception('no') }}{% endif %}"
    chat = save_tiny_model(tmp_path / "chat", chat_template=refusing + CHAT_TEMPLATE)

    assert ask(chat)[0]["options"]["form"] == "chat without a system message"


def test_prompts_that_are_too_long_for_the_model_are_refused_with_the_row(ask, tmp_path):
    short = save_tiny_model(tmp_path / "short", max_length=200)

    with pytest.raises(UsageError, match=r"row copy-\w+: a prompt of \d+ tokens .* takes 200"):
        ask(short)


def test_code_that_comes_with_a_model_is_not_run(ask, tmp_path):
    folder = save_tiny_model(tmp_path / "hostile")
    (folder / "evil.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\n")
    config = json.loads((folder / "config.json").read_text())
    config["auto_map"] = {"AutoConfig": "evil.C", "AutoModelForCausalLM": "evil.M"}
    config["model_type"] = "evil"
    (folder / "config.json").write_text(json.dumps(config))

    with pytest.raises(DataError, match="cannot be loaded"):
        ask(folder)
    assert not (tmp_path / "ran").exists()


def test_pickled_weights_are_refused(ask, tmp_path):
    folder = save_tiny_model(tmp_path / "pickled")
    (folder / "model.safetensors").unlink()
    torch.save({}, folder / "pytorch_model.bin")

    with pytest.raises(DataError, match="cannot be loaded"):
        ask(folder)


def test_weights_that_are_not_whole_are_refused(ask, tmp_path):
    from safetensors.torch import load_file, save_file

    folder = save_tiny_model(tmp_path / "partial")
    weights = load_file(folder / "model.safetensors")
    del weights["model.layers.1.mlp.up_proj.weight"]
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})

    with pytest.raises(DataError, match=r"lack 1 tensors, such as model\.layers\.1\.mlp\.up_proj"):
        ask(folder)


def test_a_name_that_is_neither_here_nor_on_the_hub_is_one_line(ask):
    with pytest.raises(SymshiftError, match="nobody/nothing: no folder") as caught:
        ask("nobody/nothing")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["hf:tiny", "--beam", "2"], "--beam: is for a run"),
        (["run", "--shots", "2"], "--shots: is for hf:NAME_OR_PATH"),
    ],
)
def test_options_of_the_other_kind_are_refused(arguments, message, copy_data, tmp_path, capsys):
    run, *options = arguments
    words = [run, str(copy_data), str(tmp_path / "out.jsonl"), *options]

    assert console.run(predict, words) == 2
    assert message in capsys.readouterr().err


def test_the_command_line_writes_predictions_that_are_scored(model, copy_data, tmp_path, capsys):
    out = tmp_path / "answers.jsonl"
    words = [f"hf:{model}", str(copy_data), str(out), "--max-new-tokens", "4"]
    words += ["--device", "cpu"]

    assert console.run(predict, words) == 0
    assert json.loads((tmp_path / "answers.jsonl.meta.json").read_text())["device"] == "cpu"
    result = str(tmp_path / "result.json")
    assert console.run(score, [str(copy_data), str(out), "-o", result]) == 0
    assert json.loads((tmp_path / "result.json").read_text())["system"]["method"] == "prompting"


def test_an_answer_ends_before_the_models_own_end_token_even_if_that_is_plain_text(
    ask, model, tmp_path
):
    end = AutoTokenizer.from_pretrained(model).convert_tokens_to_ids("w")
    other = save_tiny_model(tmp_path / "ending", eos_token_id=[end])
    unended = texts(ask(model)[1])

    assert any("w" in text.rstrip("w") for text in unended)
    assert texts(ask(other, "other.jsonl")[1]) == [t.partition("w")[0].strip() for t in unended]
