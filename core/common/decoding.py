"""From uploaded bytes to bytes of UTF-8 text: unpacked with a count, decoded with what was assumed said."""

from __future__ import annotations

import codecs
import gzip
import io
import zlib
from dataclasses import dataclass

from core.common.errors import InputError

__all__ = ["Decoded", "decode", "gunzip", "is_gzip"]

_CHUNK = 1 << 22
_MARKS = (
    (codecs.BOM_UTF8, "utf-8", "UTF-8"),
    (codecs.BOM_UTF32_LE, "utf-32", "UTF-32"),
    (codecs.BOM_UTF16_LE, "utf-16", "UTF-16"),
    (codecs.BOM_UTF16_BE, "utf-16", "UTF-16"),
)


@dataclass(frozen=True)
class Decoded:
    """Text as UTF-8 bytes without a mark, the name of the encoding that it was in, and notes for the visitor."""

    data: bytes
    encoding: str
    notes: tuple[str, ...] = ()


def is_gzip(data: bytes) -> bool:
    """Whether the bytes start as a gzip file does."""
    return data[:2] == b"\x1f\x8b"


def gunzip(data: bytes, limit: int) -> bytes:
    """The unpacked bytes; InputError as soon as they exceed ``limit``, and for a file that is cut off or damaged.

    >>> gunzip(gzip.compress(b"a;b"), limit=3)
    b'a;b'
    """
    parts, size = [], 0
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as packed:
            while part := packed.read(min(_CHUNK, limit + 1 - size)):
                size += len(part)
                if size > limit:
                    raise InputError(f"the file unpacks to more than {limit / 1e6:,.0f} MB", remedy="Split it.")
                parts.append(part)
    except EOFError:
        raise InputError("the gzip file ends too early", remedy="Pack or upload it again.") from None
    except (zlib.error, OSError):
        raise InputError("the gzip file is damaged", remedy="Pack or upload it again.") from None
    return b"".join(parts)


def decode(data: bytes, encoding: str | None) -> Decoded:
    """UTF-8 if the bytes are UTF-8, UTF-16 if they carry its mark, else Windows-1252 (which holds Latin-1's letters).

    A given ``encoding`` is used as it is. InputError for bytes that are no text.

    >>> decode("é".encode("utf-16"), None).encoding, decode("é".encode("latin-1"), None).encoding
    ('UTF-16', 'Windows-1252')
    """
    found = _found(data) if encoding is None else _as(data, encoding, encoding)
    if b"\x00" in found.data:
        raise InputError(
            "this is not a text table",
            remedy="Save it as CSV, Excel (.xlsx) or Parquet; if it is text, choose its encoding.",
        )
    return found


def _found(data: bytes) -> Decoded:
    for mark, codec, name in _MARKS:
        if data.startswith(mark):
            return _as(data, codec, name)
    broken = _first_broken_line(data)
    if not broken or b"\x00" in data:
        return Decoded(data, "UTF-8")
    try:
        found = _as(data, "cp1252", "Windows-1252")
    except InputError as error:
        what = f"the text is neither UTF-8 (line {broken:,} shows it) nor Windows-1252"
        raise InputError(what, remedy=error.remedy) from None
    note = (
        f"The text is not UTF-8 (line {broken:,} shows it) and was read as Windows-1252 (Latin-1). "
        "If letters look wrong, choose the encoding."
    )
    return Decoded(found.data, found.encoding, (note,))


def _as(data: bytes, codec: str, name: str) -> Decoded:
    try:
        text = data.decode(codec).removeprefix("\ufeff")
        return Decoded(text.encode("utf-8"), name)
    except (UnicodeError, LookupError, ValueError):
        raise InputError(
            f"the text cannot be read as {name}", remedy="Choose another encoding, or save it as UTF-8."
        ) from None


def _first_broken_line(data: bytes) -> int:
    """The first line that is not UTF-8, from 1; 0 if all are."""
    if data.isascii():
        return 0
    decoder = codecs.getincrementaldecoder("utf-8")()
    for start in range(0, len(data), _CHUNK):
        kept = len(decoder.getstate()[0])  # bytes of a letter that the last chunk began
        try:
            decoder.decode(data[start : start + _CHUNK], final=start + _CHUNK >= len(data))
        except UnicodeDecodeError as error:
            return data.count(b"\n", 0, start - kept + error.start) + 1
    return 0
