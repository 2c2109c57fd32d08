"""Programs in other languages: where their text stands, and which commands it would start.

Best effort, by patterns: a call that starts a program and has its words written out is found, one that makes them up is not.
"""

import re
from collections.abc import Iterator, Sequence

from daimon.policy.shell.names import base
from daimon.policy.shell.scene import STDIN, Never, Scene, like
from daimon.policy.shell.shown import shown
from daimon.policy.shell.words import FETCHED, UNKNOWN, unescaped

_CODE = {
    "python": "c", "pypy": "c", "perl": "eE", "ruby": "e", "node": "ep", "nodejs": "ep", "bun": "ep", "php": "r", "lua": "e",
    "luajit": "e", "Rscript": "e", "osascript": "e", "pwsh": "c",
}  # fmt: skip
_LONG = ("--eval", "--print", "--command", "-Command", "--run")
_QUOTED = r"""(?:[rbf]{0,2}("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'))"""
_STARTS = re.compile(
    r"(?:\bos\.(?:system|popen|exec[lv]p?e?|spawn\w+)|\bsubprocess\.\w+|\b(?:call|run|Popen|check_call|check_output|getoutput)|\bpty\.spawn"
    r"|\b(?:exec|spawn|execFile)(?:Sync)?|\bsystem|\bshell_exec|\bpassthru|\bproc_open|\bpopen|\bos\.execute|\bdo shell script|\bRun)"
    rf"\s*\(?\s*(\[[^\]]{{0,2000}}\]|{_QUOTED}(?:\s*,\s*\[[^\]]{{0,2000}}\]|(?:\s*,\s*{_QUOTED}){{0,20}})?)"
)
_TICKS = re.compile(r"`([^`]{1,2000})`|(?:%x|\bqx)\s*[{(/|]([^})/|]{1,2000})[})/|]")
_DELETES = re.compile(rf"\b(?:rmtree|rmSync|rm|rimraf|removeSync|rm_rf|rm_r|remove_dir_all|remove_tree)\s*\(?\s*{_QUOTED}")
_FETCHES = re.compile(
    r"urlopen|requests\.get|httpx\.get|\bfetch\s*\(|LWP::|Net::HTTP|open-uri|file_get_contents\s*\(\s*['\"]https?:|https?\.get\s*\("
)
_RUNS_TEXT = re.compile(r"\b(?:exec|eval|instance_eval|Function|execSync|os\.system|vm\.run\w*)\s*\(")
_BOMB = re.compile(
    r"\bfork\s+while\s+fork\b|\bwhile\s*\(?\s*(?:1|True|true)\s*\)?\s*[:{]\s*(?:os\.)?fork\b|\bfork\s+while\s+(?:1|true)\b|loop\s*\{\s*fork"
)
_SHELL_ON_WIRE = re.compile(r"socket", re.IGNORECASE)
_HANDED_OVER = re.compile(r"dup2|pty\.spawn|/bin/(?:ba)?sh|open\(STDIN,\s*[\"']>&")
LONGEST = 100_000


def code(kind: str, words: Sequence[str], stdin: str, scene: Scene) -> str:
    """The program's text, as far as it is known."""
    left = list(words[1:])
    if kind == "awk":
        return next((word for word in left if not word.startswith("-")), "")
    if kind == "deno" and left[:1] == ["eval"]:
        return " ".join(left[1:])
    texts = []
    while left and left[0].startswith("-") and left[0] not in STDIN:
        option = left.pop(0)
        if option in _LONG or (not option.startswith("--") and option[-1] in _CODE.get(kind, "")):
            texts += left[:1]
            del left[:1]
        elif kind in ("python", "pypy") and option.startswith("-m"):
            return ""
    if texts:
        return "\n".join(texts)
    if not left or left[0] in STDIN:
        return stdin
    content = scene.content(left[0])
    return "" if content is None else content


def commands(kind: str, text: str, words: Sequence[str]) -> Iterator[str | list[str]]:
    """What it would start: command lines, and lists of words. Raises Never for what needs no other command to do harm."""
    if text.lstrip().startswith(FETCHED):
        raise Never(f"`{shown(words)}` never runs: {base(words[0])} would run what comes from the network, unread")
    text = text[:LONGEST]
    if _FETCHES.search(text) and _RUNS_TEXT.search(text):
        raise Never(f"`{shown(words)}` never runs: its program would run what it gets from the network, unread")
    if _BOMB.search(text):
        raise Never(f"`{shown(words)}` never runs: its program starts itself again and again until the machine stands still")
    if kind != "awk" and _SHELL_ON_WIRE.search(text) and "connect" in text and _HANDED_OVER.search(text):
        raise Never(f"`{shown(words)}` never runs: it would give a shell on this machine to somebody else")
    for found in _STARTS.finditer(text):
        yield from _started(found[1])
    if kind in ("perl", "ruby", "php"):
        for found in _TICKS.finditer(text):
            yield found[1] or found[2]
    for found in _DELETES.finditer(text):
        yield ["rm", "-r", _literal(found[1])]


def _started(given: str) -> Iterator[str | list[str]]:
    parts = [_literal(found[1]) for found in re.finditer(_QUOTED, given)]
    if given.startswith("["):
        yield parts
    elif len(parts) == 1:
        yield parts[0]
    else:
        yield parts  # system("rm", "-rf", "/") and execFile("rm", ["-rf", "/"])
        yield parts[1:]  # os.execvp("rm", ["rm", "-rf", "/"])


def _literal(quoted: str) -> str:
    return unescaped(quoted[1:-1]) if quoted else ""


def output(text: str, stdin: str) -> str:
    return f"{FETCHED}\n" if _FETCHES.search(text[:LONGEST]) else like(stdin, UNKNOWN)
