"""Separators, headers, encodings and gzip, beside Python's csv writer and codecs."""

import csv
import gzip
import io

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from core.common.decoding import decode, gunzip, is_gzip
from core.common.dialect import NO_SEPARATOR, find_separator, split_header
from core.common.errors import InputError

SEPARATORS = ",;\t|"
fields = st.text("ab,;\t|\"'\r\n é0", max_size=6)
names = st.text("abcé", min_size=1, max_size=6)


def lines(rows, separator, ending="\n"):
    out = io.StringIO(newline="")
    csv.writer(out, delimiter=separator, lineterminator=ending, quoting=csv.QUOTE_ALL).writerows(rows)
    return out.getvalue().encode()


@settings(deadline=None)
@given(st.lists(names, min_size=2, max_size=6), st.sampled_from(SEPARATORS), st.sampled_from(["\n", "\r\n", "\r"]))
def test_plain_names_show_their_separator(header, separator, ending):
    data = (separator.join(header) + ending).encode()
    assert find_separator(data) == (separator, 0)
    assert find_separator(b"\n\r\n \t\n" + data) == (separator, 6)


@settings(deadline=None)
@given(
    st.lists(fields, min_size=1, max_size=5), st.sampled_from([*SEPARATORS, ""]), st.sampled_from(["\n", "\r\n", "\r"])
)
def test_a_header_is_split_as_the_csv_module_wrote_it(header, separator, ending):
    assume(separator or len(header) == 1)
    before, after = b"skipped\n", b"1,2\n"
    written = lines([header], separator or NO_SEPARATOR, ending)
    found = split_header(before + written + after, len(before), separator)
    assert found.fields == tuple(header)
    assert found.end == len(before) + len(written)


@pytest.mark.parametrize(
    ("text", "separator"),
    [
        ("x\n0,25\n0,5\n", ""),
        ('"a,b"\n0,25\n0,5\n', ""),
        ('"a,b";"c"\n1,5;2\n', ";"),
        ('"a\nb,c";d\n1,5;2\n', ";"),
        ("a;b, c;d\n1;2;3\n", ";"),
        ("id|text\n1|a, b\n2|c\n", "|"),
        ("id,note;more\n1,x\n2,y\n", ","),
        ('size (5"),b\n1,2\n', ","),
        ("a\tb,c\n1,5\t2\n3,5\t4\n", "\t"),
        ("sep=|\na|b\n", "|"),
        ("SEP=\t\r\na,b\n", "\t"),
        ("sep=a\n1\n", ""),
        ('sep="\n1\n', ""),
    ],
)
def test_separators_of_real_headers(text, separator):
    assert find_separator(text.encode())[0] == separator


@settings(deadline=None)
@given(st.binary(max_size=300), st.sampled_from([*SEPARATORS, "", " "]))
def test_any_bytes_have_a_header_or_are_refused_in_words(data, separator):
    try:
        found, start = find_separator(data)
        header = split_header(data, start, separator)
    except InputError:
        return
    assert len(found) <= 1
    assert 0 <= start < header.end <= len(data) or header.end == start == len(data)
    assert header.fields


@pytest.mark.parametrize("data", [b"", b" \n\t\r\n", b"\n\n"])
def test_blank_files_are_empty(data):
    with pytest.raises(InputError, match="file is empty"):
        find_separator(data)


def test_a_header_without_end_is_refused():
    with pytest.raises(InputError, match="header line does not end"):
        split_header(b'"a' + b"\n" * 2_000_000, 0, ",")
    with pytest.raises(InputError, match="header line does not end"):
        split_header(b"a" * 2_000_000, 0, ",")


texts = st.text(st.characters(codec="utf-8", exclude_characters="\x00\ufeff"), min_size=1)


@settings(deadline=None)
@given(texts, st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "utf-32"]))
def test_marked_and_utf8_text_is_decoded_without_a_word(text, encoding):
    found = decode(text.encode(encoding), None)
    assert found.data.decode("utf-8") == text
    assert found.notes == ()
    assert found.encoding == encoding.removesuffix("-sig").upper()


@settings(deadline=None)
@given(st.text("abc äöüßéñ\n", min_size=1), st.sampled_from(["latin-1", "cp1252"]))
def test_western_letters_are_read_as_windows_text_and_said(text, encoding):
    data = ("ä\n" + text).encode(encoding)
    found = decode(data, None)
    assert found.data.decode("utf-8") == "ä\n" + text
    assert "line 1 shows it" in found.notes[0]
    assert decode(data, encoding).data == found.data
    assert decode(data, encoding).notes == ()


@pytest.mark.parametrize("before", [0, 1, 7, (1 << 22) - 2, (1 << 22) - 1, 1 << 22, (1 << 22) + 1])
@pytest.mark.parametrize("broken", [b"\xff", "é".encode()[:1] + b"z", "€".encode()[:2] + b"z"])
def test_the_first_line_that_is_not_utf8_is_named(before, broken):
    """Also where a letter of several bytes lies across two pieces of the file."""
    good = ("é" * 9 + "\n").encode() * (before // 19) + b"y" * (before % 19)
    assert len(good) == before
    line = good.count(b"\n") + 1
    assert f"line {line:,} shows" in decode(good + broken + b"\nlater \xff\n", None).notes[0]


def test_text_in_neither_encoding_is_refused_with_its_line():
    with pytest.raises(InputError, match=r"neither UTF-8 \(line 2 shows it\) nor Windows-1252"):
        decode(b"a\n\x81\n", None)


@pytest.mark.parametrize(
    ("data", "encoding"),
    [
        (b"a\x00b", None),
        (b"a" * 5_000_000 + b"\x00", None),
        (b"\x00\xff", None),
        ("a\x00".encode("utf-16"), None),
        ("a,b\n".encode("utf-16-le"), None),
        (b"a\x00", "utf-8"),
        (b"\xff", "utf-8"),
        (b"\x81", None),
        (b"a", "no such"),
        (b"a", "hex"),
        (b"a", "\x00"),
        (b"+2AA-", "utf-7"),
        (b"\xff", "punycode"),
    ],
)
def test_what_is_no_text_is_refused(data, encoding):
    with pytest.raises(InputError):
        decode(data, encoding)


@settings(deadline=None)
@given(st.lists(st.binary(max_size=2000), min_size=1, max_size=3))
def test_gzip_is_unpacked_up_to_its_limit_and_no_further(members):
    data, packed = b"".join(members), b"".join(map(gzip.compress, members))
    assert is_gzip(packed)
    assert gunzip(packed, len(data)) == data
    assert gunzip(packed + b"\x00" * 512, len(data)) == data
    if data:
        with pytest.raises(InputError, match="unpacks to more than"):
            gunzip(packed, len(data) - 1)


def test_gzip_that_is_cut_or_followed_by_something_else_is_refused():
    packed = gzip.compress(b"a,b\n1,2\n")
    for end in range(2, len(packed)):
        with pytest.raises(InputError, match="gzip file"):
            gunzip(packed[:end], 100)
    for damaged in (packed + b"more", packed[:-6] + b"\x00\x00" + packed[-4:], packed[:12] + b"\xff" + packed[13:]):
        with pytest.raises(InputError, match="gzip file is damaged"):
            gunzip(damaged, 100)
