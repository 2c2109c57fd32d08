"""The head of a mail as it came: names and values in order, unfolded, not decoded.

Python's own header objects mend what is broken and hide what is doubled; whoever decides whom a mail is from must see both. So these are
plain pairs, and decoding happens where something is only shown.
"""

import re
from dataclasses import dataclass
from email.header import decode_header

MOST_BYTES = 256 * 1024
_FIELD = re.compile(rb"^([!-9;-~]{1,100})[ \t]*:(.*)$", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Headers:
    fields: tuple[tuple[str, str], ...]
    """Names in lower case. Bytes that are not ASCII stand as surrogates."""

    def all(self, name: str) -> tuple[str, ...]:
        return tuple(value for field, value in self.fields if field == name)

    def first(self, name: str) -> str:
        return next((value for field, value in self.fields if field == name), "")


def split(raw: bytes) -> tuple[Headers, bytes]:
    """The head, and what follows it."""
    found = re.search(rb"\r?\n\r?\n", raw[:MOST_BYTES]) if not raw.startswith((b"\r\n", b"\n")) else re.match(rb"()", raw)
    if found is None and len(raw) > MOST_BYTES:
        return Headers(()), b""  # whoever reads only a part of a head may see another sender than the rest of the world
    head, body = (raw[: found.start()], raw[found.end() :]) if found else (raw, b"")
    fields: list[tuple[str, str]] = []
    for line in re.split(rb"\r?\n(?![ \t])", head):
        if field := _FIELD.match(re.sub(rb"\r?\n(?=[ \t])", b"", line)):
            fields.append((field[1].decode("ascii").lower(), field[2].strip().decode("ascii", "surrogateescape")))
    return Headers(tuple(fields)), body


def has_whole_head(raw: bytes) -> bool:
    return re.search(rb"\r?\n\r?\n", raw[:MOST_BYTES]) is not None


def shown(value: str, longest: int = 500) -> str:
    """For people: encoded words are read, whatever charset they claim; nothing that moves a cursor or a reader's eye is left."""
    try:
        pieces = decode_header(value[: longest * 12])
    except Exception:  # noqa: BLE001 - the parser of the library fails in many ways on what strangers write
        pieces = [(value, None)]
    text = "".join(_decoded(piece, charset) for piece, charset in pieces)
    return " ".join("".join(sign if sign.isprintable() else " " for sign in text).split())[:longest]


def _decoded(piece: bytes | str, charset: str | None) -> str:
    data = piece.encode("utf-8", "surrogateescape") if isinstance(piece, str) else piece
    return decode(data, charset or "")


def decode(data: bytes, charset: str) -> str:
    """Never fails. A charset that nobody knows, or that is not one of text, is read as UTF-8, and what that is not as Latin-1."""
    for name in (charset if re.fullmatch(r"[A-Za-z0-9._:-]{1,40}", charset) else "", "utf-8"):
        try:
            if name:
                return data.decode(name)
        except (LookupError, ValueError):
            continue
    return data.decode("latin-1" if not charset else "utf-8", "replace")
