"""Bytes as text, and back: encodings, kinds of what is no text, lines. Nothing here looks at files.

UTF-8 is tried first, with or without its mark; UTF-16 only by its mark. What is neither, and has no NUL and few control characters in it,
is taken for an old Western text (cp1252, or latin-1 where even that has gaps), and that is said. All else is no text.
"""

import codecs
from dataclasses import dataclass

HEAD = 8_192
"""So much decides what something is."""
_UTF16 = {codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}
_CONTROLS = bytes(set(range(32)) - {7, 8, 9, 10, 12, 13, 27}) + b"\x7f"
_PICTURES = ((b"\x89PNG\r\n\x1a\n", "image/png"), (b"\xff\xd8\xff", "image/jpeg"), (b"GIF87a", "image/gif"), (b"GIF89a", "image/gif"))
_MAGIC = tuple(magic for magic, _ in _PICTURES)
_KINDS = (
    (b"\x7fELF", "ELF program"), (b"%PDF-", "PDF"), (b"PK\x03\x04", "zip archive"), (b"\x1f\x8b", "gzip data"), (b"BZh", "bzip2 data"),
    (b"\xfd7zXZ\x00", "xz data"), (b"(\xb5/\xfd", "zstd data"), (b"SQLite format 3\x00", "SQLite database"), (b"OggS", "Ogg media"),
    (b"ID3", "MP3 sound"), (b"\x00asm", "WebAssembly"), (b"MZ", "Windows program"), (b"\xca\xfe\xba\xbe", "Java class or Mach-O program"),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Decoded:
    text: str
    encoding: str
    note: str = ""


def decoded(data: bytes) -> Decoded | None:
    """None: it is no text."""
    if data.startswith(codecs.BOM_UTF8):
        return _tried(data, "utf-8-sig")
    for mark, encoding in _UTF16.items():
        if data.startswith(mark):
            return _tried(data[len(mark) :], encoding)
    if b"\0" in data[:HEAD]:
        return None
    if (found := _tried(data, "utf-8")) is not None:
        return found
    head = data[:HEAD]
    if len(head) - len(head.translate(None, _CONTROLS)) > len(head) // 50:
        return None
    return _tried(data, "cp1252") or Decoded(data.decode("latin-1"), "latin-1", _guessed("latin-1"))


def encoded(text: str, encoding: str) -> bytes | None:
    """None: it has characters that the encoding has not. UTF-16 gets its mark back."""
    try:
        return next((mark for mark, name in _UTF16.items() if name == encoding), b"") + text.encode(encoding)
    except UnicodeEncodeError:
        return None


def picture(data: bytes) -> str:
    """The media type of an image that models can see; empty: it is none."""
    if data.startswith(b"RIFF") and data[8:12] == b"WEBP":
        return "image/webp"
    if not data.startswith(_MAGIC):
        return ""
    return next(kind for magic, kind in _PICTURES if data.startswith(magic))


def kind(data: bytes) -> str:
    """What something is that is no text, as far as its beginning says."""
    return picture(data) or next((name for magic, name in _KINDS if data.startswith(magic)), "binary data")


def _tried(data: bytes, encoding: str) -> Decoded | None:
    try:
        return Decoded(data.decode(encoding), encoding, _guessed(encoding) if encoding == "cp1252" else "")
    except UnicodeDecodeError:
        return None


def _guessed(encoding: str) -> str:
    return f"this is not UTF-8; it was read as {encoding}, which is a guess"
