"""Commands that run shell text: where that text stands, and what is left for it to read."""

from collections.abc import Sequence
from dataclasses import dataclass

from daimon.policy.shell.names import SHELLS
from daimon.policy.shell.scene import STDIN, Scene
from daimon.policy.shell.words import UNKNOWN

VALUED = frozenset({"-o", "+o", "-O", "+O", "--rcfile", "--init-file"})
SSH_VALUED = "BbcDEeFIiJLlmOopQRSWw"


@dataclass(frozen=True, slots=True)
class Code:
    text: str
    stdin: str = UNKNOWN
    arguments: tuple[str, ...] = ()
    is_apart: bool = True
    """It runs in a shell of its own."""


def code(name: str, words: Sequence[str], stdin: str, scene: Scene) -> Code | None:
    """None: it runs no shell text."""
    if name in SHELLS:
        return _of_shell(words, stdin, scene)
    if name in ("at", "batch"):
        return Code(stdin)
    match name:
        case "eval":
            return Code(" ".join(words[1:]), stdin, is_apart=False)
        case "source" | ".":
            return Code(_content(words[1], stdin, scene), stdin, is_apart=False) if len(words) > 1 else Code("")
        case "trap":
            return Code(words[1], stdin) if len(words) > 2 and not words[1].startswith("-") else Code("")
        case "ssh" | "mosh" | "dbclient":
            return _of_remote(words, stdin)
        case _:
            return None


def _of_shell(words: Sequence[str], stdin: str, scene: Scene) -> Code:
    left = list(words[1:])
    is_text, is_fed = False, False
    while left and left[0][:1] in ("-", "+") and left[0] not in ("-", "--"):
        option = left.pop(0)
        if option in VALUED or (not option.startswith("--") and option.endswith("o")):
            del left[:1]
        if option == "--command" or (not option.startswith("--") and "c" in option):
            is_text = True
        is_fed = is_fed or (not option.startswith("--") and "s" in option)
    if left[:1] in (["-"], ["--"]):
        del left[0]
    if is_text:
        return Code(left[0] if left else "", stdin, tuple(left[2:]))
    if is_fed or not left:
        return Code(stdin, "", tuple(left))
    return Code(_content(left[0], stdin, scene), stdin, tuple(left[1:]))


def _of_remote(words: Sequence[str], stdin: str) -> Code:
    left = list(words[1:])
    while left and left[0].startswith("-"):
        option = left.pop(0)
        if len(option) == 2 and option[1] in SSH_VALUED:
            del left[:1]
    return Code(" ".join(left[1:]), stdin) if len(left) > 1 else Code(stdin)


def _content(file: str, stdin: str, scene: Scene) -> str:
    content = stdin if file in STDIN else scene.content(file)
    return UNKNOWN if content is None else content
