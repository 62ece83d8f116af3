import json
import re

import pytest
from exchange_files import jsonl

from symshift.data.errors import UsageError
from symshift.generators.exchange.audit import audit
from symshift.generators.exchange.audit_report import to_plain
from symshift.generators.exchange.certificate import certify, to_markdown


def test_a_certificate_is_the_same_bytes_wherever_the_data_lies(tmp_path):
    for place in ("here", "there"):
        jsonl(tmp_path / place / "train.jsonl", ["a U b", "b U a", "a | b"])
        jsonl(tmp_path / place / "test.jsonl", ["c U d", "broken"])
        paths = [tmp_path / place / f"{split}.jsonl" for split in ("train", "test")]
        certify(paths, tmp_path / place / "certificate.json", task="ltl")

    for suffix in ("json", "md"):
        first, second = (tmp_path / p / f"certificate.{suffix}" for p in ("here", "there"))
        assert first.read_bytes() == second.read_bytes()
        assert str(tmp_path) not in first.read_text()


def test_a_certificate_says_what_was_read_and_found(tmp_path):
    path = jsonl(tmp_path / "test.jsonl", ["a | b", "b | a", "`"])
    found = certify([path], tmp_path / "c.json", task="ltl")

    plain = json.loads((tmp_path / "c.json").read_text())
    markdown = (tmp_path / "c.md").read_text()

    assert plain == to_plain(found)
    assert plain["clean"] is False
    assert plain["data_sets"][0]["files"][0]["rows"] == 2
    assert plain["splits"][0]["repeats"] == [{"num_symbols": 2, "size": 3, "rows": 1}]
    assert plain["splits"][0]["examples"][0][1]["input"] == "b | a"
    assert plain["data_sets"][0]["files"][0]["sha256"] in markdown


def test_problems_with_bars_and_ticks_break_no_table(tmp_path):
    path = jsonl(tmp_path / "te|st`.jsonl", ["a | b", "b | a", "`", "|"])

    tables = to_markdown(audit([path], task="ltl")).split("\n\n")

    for table in (text.splitlines() for text in tables if text.startswith("|")):
        assert len({len(re.findall(r"(?<!\\)\|", line)) for line in table}) == 1


def test_a_certificate_that_is_no_json_file_is_refused_before_anything_is_read(tmp_path):
    with pytest.raises(UsageError, match=r"\*\.json"):
        certify([tmp_path / "absent"], tmp_path / "certificate.md", task="ltl")
