"""Secrets on their way to one site, and back.

On the way out a placeholder becomes the value: in header values, inside of `Authorization: Basic`, in the target, in the body. Never in
Host, and never where the value would become something else than a value: line breaks do not get into a head, and in a target it is
percent-encoded. In a body the bytes are put in as they are, since a length that was announced must stay true.

On the way back the value becomes the placeholder again, in each coding that a server is likely to echo. A mask has the length of what it
covers. This is a net against echoes, not a proof: a host that cuts, reverses or encrypts what it was sent gives away its own secret.
"""

import base64
import binascii
import html
import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from urllib.parse import quote, quote_plus

from daimon.abi.errors import Misconfigured
from daimon.abi.secret import Injection
from daimon.net.head import Answer, Headers, Item, Request
from daimon.net.refusal import Refusal
from daimon.net.swap import Pair, Swap

SHORTEST = 8
"""A shorter value is found in ordinary text."""
_IN_TARGET = ":@!$'()*,-._~"
_CONTROL = re.compile(rb"[\x00-\x08\x0a-\x1f\x7f]")
_BASIC = re.compile(rb"([Bb][Aa][Ss][Ii][Cc] +)([A-Za-z0-9+/]+={0,2})")


@dataclass(frozen=True, slots=True)
class Armed:
    """A secret and all that is looked for on its account: made once, used for every request."""

    name: str
    placeholder: bytes
    value: bytes = field(repr=False)
    coded_placeholder: re.Pattern[str] = field(repr=False)
    coded_value: re.Pattern[str] = field(repr=False)
    out: Pair = field(repr=False)
    back: tuple[Pair, ...] = field(repr=False)


def arm(injection: Injection) -> Armed:
    """Raises Misconfigured."""
    if len(injection.placeholder) != len(injection.value):
        raise Misconfigured(f"the placeholder of {injection.name} has another length than its value")
    if len(injection.value) < SHORTEST:
        raise Misconfigured(f"the secret {injection.name} has fewer than {SHORTEST} bytes, and would be found in ordinary text")
    name, placeholder, value = injection.name, injection.placeholder, injection.value
    return Armed(name, placeholder, value, _coded(placeholder), _coded(value), Pair(name, placeholder, value), tuple(_echoes(injection)))


class Keyring:
    def __init__(self, secrets: Sequence[Armed]) -> None:
        self._secrets = secrets
        self._out = [secret.out for secret in secrets]
        self._back = [pair for secret in secrets for pair in secret.back]
        self.put_in: set[str] = set()
        """Names of the secrets that have left in heads."""

    @property
    def is_empty(self) -> bool:
        return not self._secrets

    def fill(self, request: Request) -> Request:
        """The head as the site gets it."""
        if self.is_empty:
            return request
        headers = Headers(tuple(self._item(item) for item in request.headers.items))
        return Request(request.method, self._target(request.target), request.minor, headers)

    def blank(self, answer: Answer) -> Answer:
        """The head as the box gets it."""
        if self.is_empty:
            return answer
        items = tuple((self._blanked(name), self._blanked(value)) for name, value in answer.headers.items)
        return Answer(answer.status, self._blanked(answer.phrase), answer.minor, Headers(items))

    def outward(self) -> Swap:
        return Swap(self._out)

    def inward(self) -> Swap:
        return Swap(self._back)

    def _item(self, item: Item) -> Item:
        name, value = item
        if name.lower() == b"host":
            return item
        if name.lower() == b"authorization" and (basic := _BASIC.fullmatch(value)):
            return name, basic[1] + self._basic(basic[2])
        for secret in self._secrets:
            if secret.placeholder in value:
                value = value.replace(secret.placeholder, self._for_head(secret))
        return name, value

    def _basic(self, coded: bytes) -> bytes:
        try:
            plain = base64.b64decode(coded, validate=True)
        except binascii.Error:
            return coded
        for secret in self._secrets:
            if secret.placeholder in plain:
                self.put_in.add(secret.name)
                plain = plain.replace(secret.placeholder, secret.value)
        return base64.b64encode(plain)

    def _for_head(self, secret: Armed) -> bytes:
        if _CONTROL.search(secret.value):
            raise Refusal(403, f"the secret {secret.name} holds a line break or the like, which cannot stand in a header")
        self.put_in.add(secret.name)
        return secret.value

    def _target(self, target: str) -> str:
        for secret in self._secrets:
            pieces = secret.coded_placeholder.split(target)
            if len(pieces) > 1:
                self.put_in.add(secret.name)
                target = quote(secret.value, safe=_IN_TARGET).join(pieces)
        return target

    def _blanked(self, value: bytes) -> bytes:
        for secret in self._secrets:
            pieces = secret.coded_value.split(value.decode("latin-1"))
            value = quote(secret.placeholder, safe=_IN_TARGET).join(pieces).encode("latin-1")
        return Swap(self._back).all(value)


def _coded(data: bytes) -> re.Pattern[str]:
    """These bytes, each as it is or percent-encoded."""
    return re.compile("".join(f"(?:{re.escape(chr(byte))}|%(?i:{byte:02x}))" for byte in data))


def _echoes(injection: Injection) -> Iterator[Pair]:
    """The value in each likely coding, and a mask of the same length; the plain one first."""
    value, placeholder = injection.value, injection.placeholder
    pairs = {value: placeholder}
    for form in _texts(value):
        pairs.setdefault(form, (placeholder + b"-" * len(form))[: len(form)])
    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        for offset in range(3):
            pairs.setdefault(_inner(encode, value, offset), _inner(encode, placeholder, offset))
    for old, new in [(value.hex(), placeholder.hex()), (value.hex().upper(), placeholder.hex().upper())]:
        pairs.setdefault(old.encode(), new.encode())
    return (Pair(injection.name, old, new) for old, new in pairs.items() if old != new and len(old) >= SHORTEST)


def _texts(value: bytes) -> Iterator[bytes]:
    upper = quote(value, safe="")
    lower = re.sub("%[0-9A-F]{2}", lambda code: code[0].lower(), upper)
    yield from (form.encode() for form in (upper, lower, quote_plus(value), quote(value)))
    try:
        text = value.decode("utf-8")
    except UnicodeDecodeError:
        return
    for form in (json.dumps(text)[1:-1], json.dumps(text, ensure_ascii=False)[1:-1]):
        yield form.encode()
        yield form.replace("/", "\\/").encode()
    yield html.escape(text).encode()


def _inner(encode: Callable[[bytes], bytes], data: bytes, offset: int) -> bytes:
    """What is in base64 whatever stands before and behind it, if it begins `offset` bytes after a multiple of three."""
    coded = encode(b"\0" * offset + data)
    return coded[(offset * 4 + 2) // 3 : (offset + len(data)) * 4 // 3]
