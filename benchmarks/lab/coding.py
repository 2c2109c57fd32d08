"""In what form a value comes: those that the redactor promises to know (docs/redaction.md), and those that it says it does not."""

import base64
import codecs
import gzip
import html
import json
import shlex
import textwrap
from collections.abc import Callable, Mapping
from urllib.parse import quote

Coding = Callable[[str], str]


def _base64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def _part(begin: float, end: float) -> Coding:
    return lambda text: text[int(len(text) * begin) : int(len(text) * end)]


PROMISED: Mapping[str, Coding] = {
    "plain": str,
    "reversed": lambda text: text[::-1],
    "upper case": str.upper,
    "lower case": str.lower,
    "base64": _base64,
    "base64 for URLs, no padding": lambda text: base64.urlsafe_b64encode(text.encode()).decode().rstrip("="),
    "base64, one byte in": lambda text: _base64(f"u{text}tail"),
    "base64, two bytes in": lambda text: _base64(f"u:{text}:and more"),
    "base64, on lines": lambda text: "\n".join(textwrap.wrap(_base64(text), 19)),
    "hex": lambda text: text.encode().hex(),
    "HEX": lambda text: text.encode().hex().upper(),
    "percent, each byte": lambda text: "".join(f"%{byte:02X}" for byte in text.encode()),
    "percent, as needed": lambda text: quote(text, safe=""),
    "JSON": lambda text: json.dumps(text),
    "JSON in JSON": lambda text: json.dumps(json.dumps({"key": text})),
    "HTML": html.escape,
    "Python": repr,
    "shell": shlex.quote,
    "spaced": lambda text: " ".join(text),
    "a character a line": lambda text: "\n".join(text),
    "no width between": lambda text: "\u200b".join(text),
    "quotes between": lambda text: '","'.join(text),
    "its beginning": _part(0, 0.75),
    "its middle": _part(0.15, 0.85),
    "its end": _part(0.25, 1),
}
UNPROMISED: Mapping[str, Coding] = {
    "gzip and base64": lambda text: base64.b64encode(gzip.compress(text.encode())).decode(),
    "rot13": lambda text: codecs.encode(text, "rot13"),
    "base32": lambda text: base64.b32encode(text.encode()).decode(),
    "base64 of hex": lambda text: _base64(text.encode().hex()),
    "half and half, words between": lambda text: f"{text[: len(text) // 2]} goes before {text[len(text) // 2 :]}",
    "every character doubled": lambda text: "".join(letter * 2 for letter in text),
}
"""Whoever has a value can always give it another form. These are told, and not counted."""
EXACT = frozenset({"plain", "JSON", "Python", "shell"})
"""In these a value of fewer than eight characters is a word of its own."""
