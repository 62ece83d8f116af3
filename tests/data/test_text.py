from symshift.data.text import rename_text, rename_values, tokens_of


def test_symbols_are_renamed_all_at_once_and_nothing_else():
    names = {"a": "b", "b": "a", "p26": "c"}

    assert rename_text("a U b -> p26 & (ab | !a)", names) == "b U a -> c & (ab | !b)"
    assert rename_text("facts: a; rules: ; query: a", names) == "facts: b; rules: ; query: b"
    assert rename_text("", names) == ""


def test_texts_and_lists_of_texts_are_renamed_and_other_values_stay():
    values = {"rules": ["a -> b", "b -> c"], "query": "a", "label": True, "depth": None, "no": []}

    assert rename_values(values, {"a": "x", "c": "a"}) == {
        "rules": ["x -> b", "b -> a"],
        "query": "x",
        "label": True,
        "depth": None,
        "no": [],
    }


def test_headings_are_no_symbols():
    assert tokens_of("facts: a;rules:b->c") == (
        "facts",
        ":",
        "a",
        ";",
        "rules",
        ":",
        "b",
        "->",
        "c",
    )
