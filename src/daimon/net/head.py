"""Heads of requests and answers, read strictly.

Smuggling lives where two readers differ. So there is one reading: lines end with CR LF; names are tokens, at once followed by a colon; no
folding, no control characters, one Host, one Content-Length or one Transfer-Encoding. What is not so is `Malformed`, from either side. A
head that passed is written anew from its parts, so what goes on is what was checked.

It does not know which headers matter; `framing` and `forward` do.
"""

import re
from dataclasses import dataclass

from daimon.net.refusal import Malformed

Item = tuple[bytes, bytes]
_REQUEST = re.compile(rb"([A-Z][A-Z-]{0,31}) ([\x21-\x7e]+) HTTP/1\.([01])")
_STATUS = re.compile(rb"HTTP/1\.([01]) ([1-5][0-9]{2})(?: ([\t\x20-\x7e\x80-\xff]*))?")
_ITEM = re.compile(rb"([!#$%&'*+.^_`|~0-9A-Za-z-]+):([\t\x20-\x7e\x80-\xff]*)")
_DISGUISED = {b"content_length", b"transfer_encoding"}
"""Some servers read an underscore as a hyphen, and would find a length that we did not see."""


@dataclass(frozen=True, slots=True)
class Headers:
    items: tuple[Item, ...]

    def all(self, name: bytes) -> list[bytes]:
        return [value for key, value in self.items if key.lower() == name]

    def one(self, name: bytes) -> bytes | None:
        """Raises Malformed when it is there twice, even with one value."""
        found = self.all(name)
        if len(found) > 1:
            raise Malformed(f"{name.decode()} is there {len(found)} times")
        return found[0] if found else None

    def words(self, name: bytes) -> set[bytes]:
        """Of a header that is a list."""
        return {word.strip().lower() for value in self.all(name) for word in value.split(b",") if word.strip()}

    def without(self, names: set[bytes]) -> "Headers":
        return Headers(tuple(item for item in self.items if item[0].lower() not in names))

    def plus(self, *items: Item) -> "Headers":
        return Headers(self.items + items)


@dataclass(frozen=True, slots=True)
class Request:
    method: str
    target: str
    minor: int
    """1 for HTTP/1.1."""
    headers: Headers

    def head(self) -> bytes:
        return _written(f"{self.method} {self.target} HTTP/1.1".encode("ascii"), self.headers)


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    phrase: bytes
    minor: int
    headers: Headers

    def head(self) -> bytes:
        return _written(b"HTTP/1.1 %d %s" % (self.status, self.phrase), self.headers)


def read_request(raw: bytes, most: int) -> Request:
    """Raises Malformed; OverflowError for more than `most` headers."""
    first, headers = _read(raw, most)
    found = _REQUEST.fullmatch(first)
    if found is None:
        raise Malformed("the first line is no HTTP/1 request line")
    minor = int(found[3])
    if headers.one(b"host") is None and minor:
        raise Malformed("there is no Host header")
    return Request(found[1].decode(), found[2].decode(), minor, headers)


def read_answer(raw: bytes, most: int) -> Answer:
    """Raises as `read_request` does."""
    first, headers = _read(raw, most)
    found = _STATUS.fullmatch(first)
    if found is None:
        raise Malformed("the first line is no HTTP/1 status line")
    return Answer(int(found[2]), found[3] or b"", int(found[1]), headers)


def _read(raw: bytes, most: int) -> tuple[bytes, Headers]:
    """`raw` ends with the empty line."""
    first, *lines = raw[:-4].split(b"\r\n")
    if len(lines) > most:
        raise OverflowError
    return first, Headers(tuple(_item(line) for line in lines))


def _item(line: bytes) -> Item:
    found = _ITEM.fullmatch(line)
    if found is None:
        raise Malformed("a header line is folded, or holds characters that it may not hold")
    if found[1].lower() in _DISGUISED:
        raise Malformed(f"{found[1].decode()} looks like a header that says how long the body is")
    return found[1], found[2].strip(b"\t ")


def _written(first: bytes, headers: Headers) -> bytes:
    return b"\r\n".join([first, *(b"%s: %s" % item for item in headers.items), b"\r\n"])
