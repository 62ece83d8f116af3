import io

from symshift.data.lines import Line, lines_of


def read(content, **limits):
    return list(lines_of(io.BytesIO(content), **limits))


def test_marks_and_line_ends_of_other_systems_are_no_part_of_a_text():
    content = b"\xef\xbb\xbfone\r\n\r\ntwo\n last "

    assert read(content) == [Line(1, "one"), Line(2, ""), Line(3, "two"), Line(4, " last ")]


def test_only_a_line_feed_ends_a_line():
    text = "a\u2028b\u2029c\x85d\x0be\x0cf\rg"

    assert read(text.encode() + b"\n") == [Line(1, text)]


def test_a_line_that_is_no_utf8_is_named_and_reading_goes_on():
    assert read(b"one\n\xff\xfe\ntwo\n") == [
        Line(1, "one"),
        Line(2, "", "not UTF-8 at byte 0"),
        Line(3, "two"),
    ]


def test_a_line_over_the_limit_is_one_problem_however_long_it_is():
    found = read(b"12345\n" + b"x" * 1000 + b"\n1234567\n", max_bytes=8)

    assert found == [Line(1, "12345"), Line(2, "", "longer than 8 bytes"), Line(3, "1234567")]


def test_the_line_end_counts_for_the_limit_only_where_it_is_there():
    assert read(b"1234567\n12345678\n1234567", max_bytes=8) == [
        Line(1, "1234567"),
        Line(2, "", "longer than 8 bytes"),
        Line(3, "1234567"),
    ]


def test_an_empty_file_has_no_line():
    assert read(b"") == []
