"""From uploaded bytes to bytes of UTF-8 text: unpacked with a count, decoded with what was assumed said."""

from __future__ import annotations

import codecs
import zlib
from dataclasses import dataclass

from core.common.errors import InputError

__all__ = ["Decoded", "decode", "gunzip", "is_gzip"]

_CHUNK = 1 << 22
_MARKS = (
    (codecs.BOM_UTF8, "UTF-8"),
    (codecs.BOM_UTF32_LE, "UTF-32"),
    (codecs.BOM_UTF16_LE, "UTF-16"),
    (codecs.BOM_UTF16_BE, "UTF-16"),
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
    """The unpacked bytes; InputError as soon as they exceed ``limit``, and for a file that is cut off or damaged."""
    parts, size, rest = [], 0, data
    try:
        while is_gzip(rest):
            unpacker = zlib.decompressobj(wbits=31)
            while not unpacker.eof:
                part = unpacker.decompress(rest, _CHUNK)
                rest = unpacker.unconsumed_tail
                size += len(part)
                if size > limit:
                    raise InputError(f"the file unpacks to more than {limit / 1e6:,.0f} MB", remedy="Split it.")
                if not part and not rest and not unpacker.eof:
                    raise InputError("the gzip file ends too early", remedy="Pack or upload it again.")
                parts.append(part)
            rest = unpacker.unused_data
    except zlib.error:
        raise InputError("the gzip file is damaged", remedy="Pack or upload it again.") from None
    return b"".join(parts)


def decode(data: bytes, encoding: str | None) -> Decoded:
    """UTF-8 if the bytes are UTF-8, UTF-16 if they carry its mark, else Windows-1252 (which holds Latin-1's letters).

    A given ``encoding`` is used as it is. InputError for bytes that are no text.
    """
    if encoding is not None:
        return _as(data, encoding)
    for mark, name in _MARKS:
        if data.startswith(mark):
            return _as(data, "utf-8-sig" if name == "UTF-8" else name.lower(), name)
    if b"\x00" in data[:_CHUNK]:
        raise InputError("this is not a text table", remedy="Save it as CSV, Excel (.xlsx) or Parquet.")
    if _is_utf8(data):
        return Decoded(data, "UTF-8")
    found = _as(data, "cp1252", "Windows-1252")
    note = "The text is not UTF-8; it was read as Windows-1252 (Latin-1). If letters look wrong, choose the encoding."
    return Decoded(found.data, found.encoding, (note,))


def _as(data: bytes, encoding: str, name: str | None = None) -> Decoded:
    try:
        text = data.decode(encoding)
    except (UnicodeDecodeError, LookupError):
        raise InputError(
            f"the text cannot be read as {name or encoding}", remedy="Choose another encoding, or save it as UTF-8."
        ) from None
    return Decoded(text.removeprefix("\ufeff").encode("utf-8", errors="surrogatepass"), name or encoding)


def _is_utf8(data: bytes) -> bool:
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        for start in range(0, len(data), _CHUNK):
            decoder.decode(data[start : start + _CHUNK], final=start + _CHUNK >= len(data))
    except UnicodeDecodeError:
        return False
    return True
