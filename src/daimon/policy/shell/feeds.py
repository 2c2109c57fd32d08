"""Commands that make other commands out of what they are fed or find: xargs, find, parallel; and those that move files about."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from daimon.policy.shell.paths import is_whole_system
from daimon.policy.shell.scene import Scene
from daimon.policy.shell.words import FETCHED, UNKNOWN

XARGS_VALUED = "IELPnsda"
MOST_ITEMS, LONGEST_ITEM = 200, 500
NARROWING = frozenset(
    [
        "-name",
        "-iname",
        "-path",
        "-ipath",
        "-wholename",
        "-regex",
        "-iregex",
        "-mtime",
        "-mmin",
        "-atime",
        "-amin",
        "-ctime",
        "-cmin",
        "-newer",
        "-size",
        "-empty",
        "-user",
        "-group",
        "-perm",
        "-nouser",
        "-nogroup",
        "-lname",
        "-inum",
        "-links",
        "-samefile",
    ]
)
MEANING_ALL = frozenset({"*", "**", ".*", "?*", "/*"})


@dataclass(frozen=True, slots=True)
class Fed:
    words: list[str]
    stdin: str = ""


def commands(name: str, words: Sequence[str], stdin: str, scene: Scene) -> list[Fed]:
    """Those that it would start; none if it starts none."""
    match name:
        case "xargs" | "gxargs":
            return [_xargs(words, stdin)]
        case "parallel":
            return list(_parallel(words, stdin))
        case "find" | "gfind":
            return list(_find(words, scene))
        case _:
            return []


def _items(stdin: str) -> list[str]:
    if UNKNOWN in stdin or not stdin.strip():
        return [FETCHED if FETCHED in stdin else UNKNOWN]
    return [item[:LONGEST_ITEM] for item in stdin[: LONGEST_ITEM * MOST_ITEMS].replace("\x00", " ").split()[:MOST_ITEMS]]


def _xargs(words: Sequence[str], stdin: str) -> Fed:
    left, mark = list(words[1:]), ""
    while left and left[0].startswith("-"):
        option = left.pop(0)
        if option.startswith("-I"):
            mark = option[2:] or (left.pop(0) if left else "{}")
        elif option in ("-i", "--replace"):
            mark = "{}"
        elif len(option) == 2 and option[1] in XARGS_VALUED:
            del left[:1]
    items = _items(stdin)
    if not mark:
        return Fed([*(left or ["echo"]), *items])
    return Fed([item for word in left for item in (items if word == mark else [word.replace(mark, items[0])])])


def _parallel(words: Sequence[str], stdin: str) -> Iterator[Fed]:
    left = list(words[1:])
    while left and left[0].startswith("-"):
        option = left.pop(0)
        if option in ("-j", "-n", "-N", "--jobs", "-S", "-I"):
            del left[:1]
    cut = left.index(":::") if ":::" in left else len(left)
    command, items = left[:cut], left[cut + 1 :] or _items(stdin)
    for item in items[:MOST_ITEMS]:
        text = " ".join(word.replace("{}", item) for word in command)
        yield Fed(["eval", text if any("{}" in word for word in command) else f"{text} {item}"])


def _find(words: Sequence[str], scene: Scene) -> Iterator[Fed]:
    """What it starts with each thing that it finds. Narrowed down by a name or an age, nobody knows what these are."""
    tests = next(
        (place for place, word in enumerate(words) if place and (word[:1] in ("-", "(", "!") and word not in ("-L", "-H", "-P"))),
        len(words),
    )
    roots = [word[:LONGEST_ITEM] for word in words[1:tests] if not word.startswith("-")] or ["."]
    found = [UNKNOWN] if _is_narrow(words[tests:]) else [root for root in roots if is_whole_system(scene.path(root))] or [UNKNOWN]
    if "-delete" in words:
        yield Fed(["rm", "-r", *found])
    for place, word in enumerate(words):
        if word in ("-exec", "-execdir", "-ok", "-okdir"):
            rest = words[place + 1 :]
            end = next((at for at, each in enumerate(rest) if each == ";" or (each == "+" and at)), len(rest))
            yield Fed([item for each in rest[:end] for item in (found if each == "{}" else [each.replace("{}", found[0])])])
    yield Fed(["echo", *found])


def _is_narrow(tests: Sequence[str]) -> bool:
    negated = False
    for place, word in enumerate(tests):
        value = tests[place + 1] if place + 1 < len(tests) else ""
        if word in NARROWING and value not in MEANING_ALL and not negated:
            return True
        negated = word in ("!", "-not")
    return False


def moved(name: str, words: Sequence[str], scene: Scene) -> None:
    """A known file under another name is known there too."""
    given = [word for word in words[1:] if not word.startswith("-")]
    if name in ("cd", "pushd"):
        _go(given, words, scene)
    elif name in ("cp", "mv", "ln", "install") and len(given) == 2 and (content := scene.content(given[0])) is not None:
        scene.write(given[1], content)
        scene.write(f"{given[1]}/{re.sub(r'.*/', '', given[0])}", content)


def _go(given: Sequence[str], words: Sequence[str], scene: Scene) -> None:
    scene.place = UNKNOWN if "-" in words else scene.path(given[0] if given else scene.home)
