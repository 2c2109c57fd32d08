"""Texts between the parser and the words of a command: quotes, escapes, braces, fields.

A text that stands for something else holds a mark, a character of the private area that no shell text needs: `UNKNOWN` for what only a
run would tell, `FETCHED` for what came from the network, `ME` for the user's name. Quoted characters travel shifted (`protect`), so that
braces, blanks and tildes in quotes stay what they are until `fields` has cut the words; `plain` shifts them back.
"""

import re

UNKNOWN, FETCHED, ME, EMPTY = "\ue000", "\ue001", "\ue002", "\ue003"
_SHIFT = 0xE100
_SHIFTED = {ord(sign): _SHIFT + ord(sign) for sign in "{},~ \t\n"}
_IN_VALUES = {ord(sign): _SHIFT + ord(sign) for sign in "{},~"}
_BACK = {shifted: sign for sign, shifted in _SHIFTED.items()} | {ord(EMPTY): None}
_FOREIGN = re.compile("[\x00\ue000-\ue1ff]")
_MID_WORD = re.compile(r"^([^#\n]*[^\s#\\])\\\n(?=\S)", re.MULTILINE)
_ESCAPE = re.compile(r"\\(x[0-9a-fA-F]{1,2}|u[0-9a-fA-F]{1,4}|U[0-9a-fA-F]{1,8}|0?[0-7]{1,3}|c.|[\s\S])")
_SIMPLE = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b", "f": "\f", "v": "\v"}
_RANGE = re.compile(r"(-?\d{1,6}|[A-Za-z])\.\.(-?\d{1,6}|[A-Za-z])(?:\.\.-?\d{1,6})?")
MOST_ALTERNATIVES, LONGEST_BRACED = 64, 4_000


def readable(text: str) -> str:
    """The text without our own marks, and with words whole that run over the end of a line."""
    return _MID_WORD.sub(r"\1", _FOREIGN.sub("?", text))


def protect(text: str) -> str:
    return text.translate(_SHIFTED)


def protect_value(text: str) -> str:
    """What an unquoted variable brings is cut at blanks, but its braces and tildes mean nothing any more."""
    return text.translate(_IN_VALUES)


def plain(text: str) -> str:
    return text.translate(_BACK)


def unquoted(text: str) -> str:
    """A bare word: a backslash quotes what follows it."""
    return re.sub(r"\\([\s\S])", lambda found: "" if found[1] == "\n" else protect(found[1]) + EMPTY, text)


def in_double_quotes(text: str) -> str:
    return re.sub(r'\\(["$`\\\n])', lambda found: found[1].strip("\n"), text)


def unescaped(text: str) -> str:
    """As in $'…', `echo -e` and `printf`."""
    return _ESCAPE.sub(lambda found: _sign(found[1]), text)


def _sign(code: str) -> str:
    kind, digits = code[0], code[1:]
    if kind in "xuU" and digits:
        number = int(digits, 16)
        return chr(number) if 0 < number < 0xD800 else "?"
    if kind.isdigit() and all(digit in "01234567" for digit in code):
        return chr(int(code, 8) % 256 or 0x20)
    return _SIMPLE.get(kind, code if kind == "c" else kind)


def fields(raw: str, home: str) -> list[str]:
    """The words that one word of a command becomes: braces, then blanks, then the tilde."""
    return [plain(_at_home(field, home)) for whole in braced(raw) for field in whole.split()]


def one(raw: str, home: str) -> str:
    """The value of an assignment: nothing is cut."""
    return plain(_at_home(raw, home))


def _at_home(field: str, home: str) -> str:
    if not field.startswith("~"):
        return field
    name, slash, rest = field.partition("/")
    return home + slash + rest if name in ("~", "~root") or name[1:].isalnum() else field


def braced(raw: str) -> list[str]:
    """`a{b,c}` is `ab ac`, `{1..3}` is `1 2 3`; at most so many."""
    if len(raw) > LONGEST_BRACED or raw.count("{") > MOST_ALTERNATIVES:
        return [raw]
    todo, done = [raw], list[str]()
    while todo and len(todo) + len(done) < MOST_ALTERNATIVES:
        text = todo.pop(0)
        parts = _first_brace(text)
        if parts is None:
            done.append(text)
            continue
        before, inner, after = parts
        todo = [f"{before}{each}{after}" for each in inner] + todo
    return done + todo


def _first_brace(text: str) -> tuple[str, list[str], str] | None:
    for start, sign in enumerate(text):
        if sign == "{" and not text.startswith("${", start - 1 if start else 0) and (end := _closing(text, start)):
            inner = _alternatives(text[start + 1 : end])
            if inner:
                return text[:start], inner, text[end + 1 :]
    return None


def _closing(text: str, start: int) -> int:
    depth = 0
    for place in range(start, len(text)):
        depth += {"{": 1, "}": -1}.get(text[place], 0)
        if depth == 0:
            return place
    return 0


def _alternatives(inner: str) -> list[str]:
    if found := _RANGE.fullmatch(inner):
        return _range(found[1], found[2])
    parts, depth = [""], 0
    for sign in inner:
        depth += {"{": 1, "}": -1}.get(sign, 0)
        if sign == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += sign
    return parts if len(parts) > 1 else []


def _range(first: str, last: str) -> list[str]:
    if first.isalpha() != last.isalpha():
        return []
    low, high = (ord(first), ord(last)) if first.isalpha() else (int(first), int(last))
    step = 1 if low <= high else -1
    values = range(low, high + step, step)[:MOST_ALTERNATIVES]
    return [chr(value) if first.isalpha() else str(value) for value in values]
