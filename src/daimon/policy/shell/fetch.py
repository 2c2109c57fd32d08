"""Where a download goes: to the next in the pipe, or into a file that somebody may run."""

import re
from collections.abc import Sequence

from daimon.policy.shell.names import base
from daimon.policy.shell.scene import Scene
from daimon.policy.shell.words import FETCHED

_OPTIONS = {
    "curl": ("-o", "--output"),
    "wget": ("-O", "--output-document"),
    "wget2": ("-O", "--output-document"),
    "fetch": ("-o", "--output"),
    "aria2c": ("-o", "--out"),
    "http": ("-o", "--output"),
    "https": ("-o", "--output"),
    "xh": ("-o", "--output"),
}
_BY_NAME = frozenset({"wget", "wget2", "fetch", "aria2c"})
"""Without an option they write into a file that is called like the last part of the address."""
_ADDRESS = re.compile(r"https?://|ftp://|[\w.-]+\.[a-z]{2,}/")
_FLAGS = "[fsSLkgijJlnNpqRvI#460cdbrxH]"
"""Letters that may stand before the one with the file, without a value of their own."""
_QUERIES = frozenset({"--version", "-V", "--help", "-h"})


def output(name: str, words: Sequence[str], scene: Scene) -> str:
    if len(words) == 2 and words[1] in _QUERIES:
        return "\n"
    files = _files(name, words)
    for file in files:
        if file not in ("-", "/dev/stdout", "/dev/null"):
            scene.write(file, f"{FETCHED}\n")
    is_aside = files and not any(file in ("-", "/dev/stdout") for file in files)
    return "" if is_aside else f"{FETCHED}\n"


def _files(name: str, words: Sequence[str]) -> list[str]:
    short, long = _OPTIONS.get(name, ("", ""))
    if not short:
        return []
    found = []
    for place, word in enumerate(words):
        if word.startswith(f"{long}="):
            found.append(word.partition("=")[2])
        elif word == long:
            found += words[place + 1 : place + 2]
        elif together := re.fullmatch(rf"-{_FLAGS}*{short[1]}(.*)", word):
            found += [together[1]] if together[1] else words[place + 1 : place + 2]
    if found:
        return found
    is_named = name in _BY_NAME or any(re.fullmatch(r"-\w*O\w*|--remote-name(?:-all)?", word) for word in words[1:])
    return [base(word.partition("?")[0]) for word in words[1:] if _ADDRESS.match(word)] if is_named else []
