"""The text of a query, in words. What is no part of the language ends here, with its place: other scripts outside of quotes, comments,
semicolons, parameters, half a string."""

import re
from typing import Literal, NamedTuple

from daimon.abi.errors import BadInput, TooLarge
from daimon.abi.text import is_text

LONGEST = 10_000
"""Characters of a query."""

_SPACE = re.compile(r"[ \t\r\n]*")
_TOKEN = re.compile(
    r"""(?P<name>[A-Za-z_][A-Za-z0-9_]*)
    |(?P<number>\d+\.\d+(?:[eE][+-]?\d+)?|\d+)
    |(?P<sign><=|>=|<>|\.\.|[()\[\]{}:,.|*=<>-])
    |`(?P<quoted>[^`\0]{1,64})`
    |(?P<quote>["'])""",
    re.VERBOSE,
)
_PLAIN = re.compile(r"[^\"'\\\0]+")
_ESCAPES = {"\\": "\\", "'": "'", '"': '"', "n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
_HINTS = {
    ";": "give one query, without a semicolon",
    "/": "comments and arithmetic are not part of the language",
    "$": "there are no parameters; write the value in quotes",
    "!": "write <> for unequal",
    "+": "arithmetic is not part of the language",
    "%": "arithmetic is not part of the language",
    "~": "there are no regular expressions; use CONTAINS, STARTS WITH or ENDS WITH",
    "`": "a name in backticks has 1 to 64 characters",
    "\0": "leave zero bytes out",
}
_OTHER = "outside of quotes a query is plain ASCII; put names and texts in quotes"


class Token(NamedTuple):
    kind: Literal["name", "number", "sign", "string", "end"]
    text: str
    """Of a string: what it says."""
    at: int
    is_quoted: bool = False
    """A name in backticks, which is never a keyword."""

    @property
    def word(self) -> str:
        """For keywords, which may be written in any case."""
        return self.text.upper() if self.kind == "name" and not self.is_quoted else ""

    def __str__(self) -> str:
        match self.kind:
            case "end":
                return "the end of the query"
            case "string":
                return f'the text "{self.text[:40]}"'
            case _:
                return f"`{self.text[:40]}`"


def wrong(query: str, at: int, what: str, hint: str = "") -> BadInput:
    """An error that says where."""
    line = query.count("\n", 0, at) + 1
    column = at - (query.rfind("\n", 0, at) + 1) + 1
    return BadInput(f"the query is wrong at line {line}, column {column}: {what}" + (f" ({hint})" if hint else ""))


def tokens(query: str) -> tuple[Token, ...]:
    if len(query) > LONGEST:
        raise TooLarge(f"the query has {len(query)} characters; at most {LONGEST} are read. Ask for less at once")
    if not is_text(query):
        raise BadInput("the query holds half of a surrogate pair, which is no character; leave it out")
    found: list[Token] = []
    at = _skipped(query, 0)
    while at < len(query):
        token, at = _token(query, at)
        found.append(token)
        at = _skipped(query, at) if query[at : at + 1].isspace() else at
    return (*found, Token("end", "", at))


def _skipped(query: str, at: int) -> int:
    match = _SPACE.match(query, at)
    return match.end() if match else at


def _token(query: str, at: int) -> tuple[Token, int]:
    match = _TOKEN.match(query, at)
    if match is not None and match.lastgroup in ("name", "sign"):
        return Token("name" if match.lastgroup == "name" else "sign", match[0], at), match.end()
    if match is None:
        hint = _HINTS.get(query[at], "" if query[at].isascii() else _OTHER)
        raise wrong(query, at, f"found {query[at]!r}, which is no part of a query", hint)
    if match["quote"]:
        return _string(query, at)
    if match["quoted"]:
        return Token("name", match["quoted"], at, is_quoted=True), match.end()
    if match["number"] and query[match.end() : match.end() + 1].isalpha():
        raise wrong(query, at, f"found {query[at : match.end() + 1]!r}, expected a number or a name", "a name begins with a letter")
    return Token("number", match[0], at), match.end()


def _string(query: str, start: int) -> tuple[Token, int]:
    quote, at, parts = query[start], start + 1, [""]
    while at < len(query):
        if query[at] == quote:
            return Token("string", "".join(parts), start), at + 1
        if query[at] == "\\":
            part, at = _escaped(query, at)
        elif match := _PLAIN.match(query, at):
            part, at = match[0], match.end()
        elif query[at] == "\0":
            raise wrong(query, at, "found a zero byte in a text", _HINTS["\0"])
        else:
            part, at = query[at], at + 1
        parts.append(part)
    raise wrong(query, start, f"the text that begins here has no end, expected {quote}", f"write \\{quote} for a {quote} inside")


def _escaped(query: str, at: int) -> tuple[str, int]:
    letter = query[at + 1 : at + 2]
    if letter in _ESCAPES and letter:
        return _ESCAPES[letter], at + 2
    code = query[at + 2 : at + 6]
    if letter == "u" and re.fullmatch(r"[0-9A-Fa-f]{4}", code) and is_text(chr(int(code, 16))) and int(code, 16):
        return chr(int(code, 16)), at + 6
    raise wrong(
        query, at, f"found {query[at : at + 2]!r} in a text", "known are \\\\ \\' \\\" \\n \\t \\r \\b \\f and \\u with four digits"
    )
