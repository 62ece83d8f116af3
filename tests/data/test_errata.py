from symshift.data.errata import ERRATA, VERDICTS, errata_of, read_errata

TEXT = """
[[erratum]]
id = "E1"
fingerprint = "f"
text = "Row 3 is wrong."

[[verdicts]]
version = "verdicts-1"
changes = "The first."

[[verdicts]]
version = "verdicts-2"
changes = "The second."
"""


def test_the_last_version_of_verdicts_counts_and_errata_keep_their_text() -> None:
    errata, verdicts = read_errata(TEXT)

    assert verdicts == "verdicts-2"
    assert [(e.id, e.fingerprint, e.text) for e in errata] == [("E1", "f", "Row 3 is wrong.")]


def test_the_shipped_errata_have_their_own_ids() -> None:
    assert len({erratum.id for erratum in ERRATA}) == len(ERRATA)
    assert VERDICTS.startswith("verdicts-")
    assert errata_of("") == ()
