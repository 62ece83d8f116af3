"""Nothing that a file says steers a terminal, or forges a line there."""

import json

import click
from hypothesis import given
from hypothesis import strategies as st

from symshift.data import console
from symshift.data.errors import DataError
from symshift.data.terminal import printable, printable_json

ATTACK = "a\x1b[2J\ncorrect  1.0000\x9b\u202e\ufffe"


@given(st.text(st.characters()))
def test_a_printable_text_is_one_line_of_signs_and_stays_as_it_is(text):
    shown = printable(text)

    assert shown.isprintable()
    assert printable(shown) == shown


def test_ordinary_names_in_any_script_are_not_changed():
    assert printable("Größe 模型 ⊕ 🙂 a\\b") == "Größe 模型 ⊕ 🙂 a\\b"


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_json_without_control_characters_has_the_same_value(text):
    shown = printable_json(json.dumps({text: text}, ensure_ascii=False))

    assert json.loads(shown) == {text: text}
    assert not any(ord(c) < 32 or 0x7F <= ord(c) <= 0x9F for c in shown)


def test_what_commands_print_and_errors_hold_no_control_characters(capsys):
    @click.command()
    @click.option("--json", "as_json", is_flag=True)
    @click.option("--fail", is_flag=True)
    def command(as_json, fail):
        console.show({"name": ATTACK}, as_json, ATTACK)
        if fail:
            raise DataError(f"key {ATTACK}")

    for arguments in (["--fail"], ["--json"]):
        console.run(command, arguments)
        found = capsys.readouterr()
        assert all(line.isprintable() for line in found.err.split("\n"))
        assert not set(found.out) & set("\x1b\x9b")
