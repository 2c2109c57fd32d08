"""A command, told without the words of a stranger. Pure.

What a command prints is a stranger's, so from then on whatever the model writes may be. But a working command is mostly made of words that
nobody else had to say: the owner said them, the model had used them before it heard anybody, or every shell has them. These stay, and what
is left between them becomes `<...>`. So a stranger may choose among words that are not theirs, and can add none.
"""

import re
from collections.abc import Collection, Iterable

from daimon.abi.fields import leaves
from daimon.skills.experience import Deed

GONE = "<...>"
PROGRAMS = frozenset(
    """awk cargo cat cd chmod cmake cp cut diff docker du echo find gcc git go grep gunzip gzip head jq ls make mkdir mv mypy node npm npx
    pip pnpm pytest python python3 rg rm ruff sed sort sqlite3 tail tar touch tr uniq unzip uv uvx wc xargs yarn zip""".split()  # noqa: SIM905 - as a list it would be a page
)
_USUAL = frozenset(
    """add all apply branch build check checkout clean clone commit compose config create diff down exec fetch fix force format freeze help
    init install lint list lock log logs merge none null dev main master origin pull push quiet rebase recursive remove reset restore run
    show start stash status stop switch sync tag test tests up update upgrade verbose version""".split()  # noqa: SIM905 - as a list it would be a page
)
_WORD = re.compile(r"\w+")
_PLAIN = re.compile(r"[\w./=:,@+~*\"'{}()\[\]$&|;<>-]*")
_FLAG = re.compile(r"-[A-Za-z0-9]{1,3}")
_NUMBER = re.compile(r"\d{1,4}")
_SPACE = re.compile(r"(\s+)")
_AGAIN = re.compile(rf"{re.escape(GONE)}(?:\s+{re.escape(GONE)})+")


def told(command: str, known: Collection[str]) -> str:
    """`known`: words that no stranger had to say, in small letters. Empty where nothing of it can be told."""
    parts = _SPACE.split(command.strip())
    kept = [part if not part.strip() or _is_known(part, known) else GONE for part in parts]
    return "" if all(part == GONE for part in kept[::2]) else _AGAIN.sub(GONE, "".join(kept))


def words_of(said: Iterable[str], deeds: Iterable[Deed]) -> frozenset[str]:
    """What the owner said, and what the model asked of tools before anybody else was heard."""
    clean = (leaf.value for deed in deeds if deed.is_clean for leaf in leaves(dict(deed.arguments)))
    texts = (*said, *(value for value in clean if isinstance(value, str)))
    return frozenset(word.casefold() for text in texts for word in _WORD.findall(text))


def _is_known(part: str, known: Collection[str]) -> bool:
    """Signs of the shell are nobody's words."""
    if _FLAG.fullmatch(part):
        return True
    words = _WORD.findall(part)
    return _PLAIN.fullmatch(part) is not None and all(_is_word_known(each, known) for each in words)


def _is_word_known(word: str, known: Collection[str]) -> bool:
    return word in PROGRAMS or word in _USUAL or word.casefold() in known or _NUMBER.fullmatch(word) is not None
