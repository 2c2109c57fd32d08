"""What commands print that only turn text into text. A text that went through one of these to a shell is still the text."""

import base64
import binascii
import re
from collections.abc import Callable, Sequence
from itertools import cycle, islice

from daimon.policy.shell.scene import STDIN, Scene, like
from daimon.policy.shell.words import FETCHED, UNKNOWN, unescaped

LONGEST = 100_000


def echo(words: Sequence[str], stdin: str, scene: Scene) -> str:
    given = list(words[1:])
    options = ""
    while given and re.fullmatch(r"-[neE]+", given[0]):
        options += given.pop(0)
    text = " ".join(given)
    return (unescaped(text) if "e" in options else text) + ("" if "n" in options else "\n")


def printf(words: Sequence[str], stdin: str, scene: Scene) -> str:
    given = list(words[1:])
    if given[:1] == ["-v"] and len(given) > 2:
        scene.variables[given[1]] = _formatted(given[2], given[3:])
        return ""
    if given[:1] == ["--"]:
        given.pop(0)
    return _formatted(given[0], given[1:]) if given else ""


def _formatted(form: str, values: list[str]) -> str:
    pieces = re.split(r"(%[-+ #0]*\d*(?:\.\d+)?[sbqcdiouxX%])", unescaped(form))
    slots = sum(piece.startswith("%") and not piece.endswith("%") for piece in pieces)
    rounds = max(1, -(-len(values) // slots)) if slots else 1
    left, done = list(values), ""
    for piece in islice(cycle(pieces), rounds * len(pieces)):
        if piece == "%%" or not (piece.startswith("%") and len(piece) > 1):
            done += piece[:1] if piece == "%%" else piece
        else:
            value = left.pop(0) if left else ""
            done += unescaped(value) if piece.endswith("b") else value[:1] if piece.endswith("c") else value
        if len(done) > LONGEST:
            return UNKNOWN
    return done


def same(words: Sequence[str], stdin: str, scene: Scene) -> str:
    """cat: files that are known, or what it is fed."""
    files = [word for word in words[1:] if not word.startswith("-") or word == "-"]
    return "".join(scene.budget.take(_content(file, stdin, scene)) for file in files) if files else stdin


def passed(words: Sequence[str], stdin: str, scene: Scene) -> str:
    return stdin


def _content(file: str, stdin: str, scene: Scene) -> str:
    content = stdin if file in STDIN else scene.content(file)
    return f"{UNKNOWN}\n" if content is None else content


def tee(words: Sequence[str], stdin: str, scene: Scene) -> str:
    for file in words[1:]:
        if not file.startswith("-"):
            scene.write(file, stdin)
    return stdin


def decoded(words: Sequence[str], stdin: str, scene: Scene) -> str:
    """base64 and base32, also of openssl."""
    if not any(word in ("-d", "-D", "--decode", "-di", "-id") for word in words):
        return like(stdin)
    files = [word for word in words[1:] if not word.startswith("-") and word not in ("enc", "base64")]
    text = _content(files[-1], stdin, scene) if files else stdin
    decode = base64.b32decode if "32" in words[0] else base64.b64decode
    return _or_like(text, lambda: decode(re.sub(r"\s", "", text) + "=" * (-len(re.sub(r"\s", "", text)) % 4)))


def hexed(words: Sequence[str], stdin: str, scene: Scene) -> str:
    """xxd -r -p"""
    options = "".join(word for word in words if word.startswith("-"))
    return _or_like(stdin, lambda: bytes.fromhex(re.sub(r"\s", "", stdin))) if "r" in options and "p" in options else like(stdin)


def _or_like(text: str, decode: Callable[[], bytes]) -> str:
    if len(text) > LONGEST:
        return like(text)
    try:
        return decode().decode("utf-8").replace("\x00", "")
    except (binascii.Error, ValueError):
        return like(text)


def turned(words: Sequence[str], stdin: str, scene: Scene) -> str:
    return "\n".join(line[::-1] for line in stdin.split("\n"))


def translated(words: Sequence[str], stdin: str, scene: Scene) -> str:
    given = [word for word in words[1:] if not word.startswith("-") or len(word) == 1]
    options = "".join(word for word in words[1:] if word not in given)
    if "c" in options.lower() or "[:" in "".join(given) or len(given) not in (1, 2):
        return like(stdin)
    first = _signs(given[0])
    if "d" in options:
        return "".join(sign for sign in stdin if sign not in first)
    second = _signs(given[-1])
    last = second[-1:] or ""
    table = {ord(sign): second[place] if place < len(second) else last for place, sign in enumerate(first)}
    return stdin.translate(table)


def _signs(given: str) -> str:
    spread = re.sub(r"([^\\])-(.)", lambda found: "".join(map(chr, range(ord(found[1]), ord(found[2]) + 1)[:300])), unescaped(given)[:300])
    return spread[:5_000]


def variables(words: Sequence[str], stdin: str, scene: Scene) -> str:
    """read: a line of what it is fed, in variables."""
    names = [word for word in words[1:] if word.isidentifier()] or ["REPLY"]
    line = stdin.split("\n")[0]
    values = line.split(None, len(names) - 1) if stdin not in ("", UNKNOWN) else []
    for place, name in enumerate(names):
        scene.variables[name] = values[place] if place < len(values) else FETCHED if FETCHED in stdin else UNKNOWN
    return ""


Filter = Callable[[Sequence[str], str, Scene], str]
FILTERS: dict[str, Filter] = {
    "echo": echo, "printf": printf, "cat": same, "tac": same, "zcat": same, "tee": tee, "sponge": tee, "head": passed, "tail": passed,
    "sort": passed, "uniq": passed, "pv": passed, "base64": decoded, "base32": decoded, "gbase64": decoded, "openssl": decoded,
    "xxd": hexed, "rev": turned, "tr": translated, "read": variables,
}  # fmt: skip
