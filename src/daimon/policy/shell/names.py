"""Programs by what they do with a text that they are given."""

import re

SHELLS = frozenset(["sh", "bash", "dash", "zsh", "ksh", "ash", "mksh", "fish", "rbash", "csh", "tcsh", "yash", "oksh", "hush", "osh"])
FETCHERS = frozenset(
    [
        "curl",
        "wget",
        "wget2",
        "fetch",
        "http",
        "https",
        "xh",
        "aria2c",
        "lynx",
        "w3m",
        "links",
        "elinks",
        "ftp",
        "tftp",
        "nc",
        "ncat",
        "netcat",
        "dig",
        "nslookup",
    ]
)
INTERPRETER = re.compile(r"(python|pypy|perl|ruby|node|nodejs|deno|bun|php|lua|luajit|tclsh|Rscript|osascript|pwsh)[\d.]*")
AWK = frozenset(["awk", "gawk", "mawk", "nawk"])
SILENT = frozenset(
    [
        ":",
        "true",
        "false",
        "cd",
        "pushd",
        "popd",
        "set",
        "unset",
        "mkdir",
        "touch",
        "chmod",
        "chown",
        "rm",
        "sleep",
        "test",
        "[",
        "exit",
        "return",
        "mv",
        "cp",
        "ln",
        "wait",
        "shopt",
    ]
)


def base(word: str) -> str:
    """/usr/bin/rm is rm."""
    return word.rstrip("/").rpartition("/")[2]


def language(name: str) -> str:
    """python for python3.11; empty if it is no interpreter of a language."""
    found = INTERPRETER.fullmatch(name)
    return found[1] if found else "awk" if name in AWK else ""
