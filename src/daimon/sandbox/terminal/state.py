"""What of a shell can be carried into another one: where it is, what it knows, how it is set. Not what it has running.

As JSON it is `{"directory": …, "variables": {name: "declare …"}, "functions": …, "aliases": …, "options": …, "shopt": …, "umask": …}`.
The texts are as bash itself writes them to be read again. They come from inside, and go only inside again.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from pydantic import JsonValue

from daimon.sandbox.terminal.words import Report, quoted

MOST = 2 << 20
"""Characters; a larger state is not kept."""
_DECLARED = re.compile(r"declare -(\S+) ([A-Za-z_][A-Za-z0-9_]*)(=|$)")
_OWN = frozenset(re.split(
    r"\s+",
    "BASH BASHOPTS BASHPID BASH_ALIASES BASH_ARGC BASH_ARGV BASH_ARGV0 BASH_CMDS BASH_COMMAND BASH_EXECUTION_STRING BASH_LINENO "
    "BASH_LOADABLES_PATH BASH_REMATCH BASH_SOURCE BASH_SUBSHELL BASH_VERSINFO BASH_VERSION COLUMNS COMP_WORDBREAKS DIRSTACK EPOCHREALTIME "
    "EPOCHSECONDS EUID FUNCNAME GROUPS HISTCMD HISTFILE HISTFILESIZE HISTSIZE HOSTNAME HOSTTYPE LINENO LINES MACHTYPE OLDPWD OPTERR "
    "OPTIND OSTYPE PIPESTATUS PPID PS1 PS2 PS4 PWD RANDOM SECONDS SHELL SHELLOPTS SHLVL SRANDOM TMOUT UID _ __daimon_name DAIMON_COMMAND"
))  # fmt: skip
"""Variables that a shell makes for itself, or that would make it end."""
_NOT_SET = frozenset({"emacs", "vi", "monitor", "history", "histexpand", "errexit", "noexec", "onecmd", "interactive-comments"})
"""The first ones, set inside of an `eval`, silently drop what follows; with `errexit` the next failure would end the new shell too."""


@dataclass(frozen=True, slots=True)
class State:
    directory: str = ""
    """As it is called in the box; empty: the workspace."""
    variables: dict[str, str] = field(default_factory=dict)
    functions: str = ""
    aliases: str = ""
    options: str = ""
    shopt: str = ""
    umask: str = ""

    def at(self, directory: str) -> "State":
        return replace(self, directory=directory)

    def to_json(self) -> JsonValue:
        texts: dict[str, JsonValue] = {name: getattr(self, name) for name in _TEXTS}
        return {**texts, "variables": dict(self.variables)}

    @classmethod
    def from_json(cls, data: JsonValue) -> "State":
        """Of anything else, what can be used."""
        if not isinstance(data, dict):
            return cls()
        variables = data.get("variables")
        kept = {k: v for k, v in variables.items() if isinstance(v, str)} if isinstance(variables, dict) else {}
        return cls(variables=kept, **{name: text for name in _TEXTS if isinstance(text := data.get(name), str)})

    @classmethod
    def of(cls, reports: Iterable[Report], directory: str) -> "State | None":
        """None: there is too much of it."""
        texts: dict[str, str] = {}
        variables: dict[str, str] = {}
        size = 0
        for report in reports:
            size += len(report.text)
            found = _DECLARED.match(report.text) if report.kind == "variable" else None
            if found is not None and "r" not in found[1] and found[2] not in _OWN:
                variables[found[2]] = report.text.strip()
            elif report.kind in _TEXTS:
                texts[report.kind] = report.text
        return None if size > MOST else cls(directory, variables, **{**texts, "options": _settable(texts.get("options", ""))})

    def cd(self, top: str) -> str:
        return f"\\builtin cd -- {quoted(self.directory or top)} 2>/dev/null || \\builtin cd -- {quoted(top)}"

    def script(self, top: str) -> str:
        """For a new shell. Where the directory is gone, the top; functions come after aliases, which they must not be expanded by."""
        cd = self.cd(top)
        parts = [self.umask, *self.variables.values(), self.functions, self.shopt, self.aliases]
        return "\n".join((*(f"\\builtin eval {quoted(part)}" for part in parts if part), f"\\builtin eval {quoted(self.options)}", cd))


_TEXTS = ("directory", "functions", "aliases", "options", "shopt", "umask")


def _settable(options: str) -> str:
    return "\n".join(line for line in options.splitlines() if line.split()[-1:] and line.split()[-1] not in _NOT_SET)
