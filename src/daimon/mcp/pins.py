"""What the owner agreed to of a server, and what the server said last.

    HOME/mcp/NAME.json   {"version": 1, "approved": {tool: {…}}, "seen": {tool: {…}} | null}

A tool is offered if it was approved and, as far as is known, the server still says the same of it: name, description, schemas and
annotations, by hash. So the tools of a server are there at the start without the server being asked; at its first use it is asked, and what
changed is gone before it is called. What is new or changed waits for the owner, who sees the difference. The file is replaced whole.
"""

import difflib
import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from daimon.abi.connector import Change, Changes
from daimon.abi.errors import Misconfigured, Outdated
from daimon.machine import files
from daimon.mcp.listed import Listed

VERSION = 1
_MOST_LINES = 400


@dataclass(slots=True)
class Pins:
    path: Path
    approved: dict[str, Listed]
    seen: dict[str, Listed] | None
    """What the server said last; None: it was never asked."""

    @classmethod
    def read(cls, path: Path) -> "Pins":
        """Raises Misconfigured for a file that cannot be read: then nothing of it is offered."""
        try:
            data = json.loads(path.read_bytes())
            if data["version"] != VERSION:
                raise ValueError(f"another version of Daimon wrote it: {data['version']}")
            seen = None if data["seen"] is None else _tools(data["seen"])
            return cls(path, _tools(data["approved"]), seen)
        except FileNotFoundError:
            return cls(path, {}, None)
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as broken:
            raise Misconfigured(f"{path} cannot be read ({broken}); remove it, and approve the tools again") from broken

    def offered(self) -> tuple[Listed, ...]:
        """By name."""
        return tuple(tool for name, tool in sorted(self.approved.items()) if self.is_offered(name))

    def is_offered(self, tool: str) -> bool:
        approved = self.approved.get(tool)
        if approved is None:
            return False
        return self.seen is None or ((now := self.seen.get(tool)) is not None and now.hash == approved.hash)

    def saw(self, tools: tuple[Listed, ...]) -> bool:
        """Is anything else than before? Raises OSError."""
        seen = {tool.name: tool for tool in tools}
        if self.seen is not None and _hashes(self.seen) == _hashes(seen):
            return False
        self.seen = seen
        self._write()
        return True

    def waiting(self) -> tuple[str, ...]:
        """The tools that wait for the owner, by name."""
        return tuple(sorted(name for name in self.seen or {} if not self.is_offered(name)))

    def changes(self) -> Changes:
        """What waits for the owner."""
        seen = self.seen or {}
        new = tuple(_change("new", None, tool) for name, tool in sorted(seen.items()) if name not in self.approved)
        changed = tuple(
            _change("changed", was, seen[name])
            for name, was in sorted(self.approved.items())
            if name in seen and seen[name].hash != was.hash
        )
        gone = tuple(
            _change("gone", was, None) for name, was in sorted(self.approved.items()) if self.seen is not None and name not in seen
        )
        return Changes(new + changed, gone, tuple(tool.name for tool in self.offered()))

    def approve(self, hashes: frozenset[str]) -> None:
        """Those of the tools that were seen. Raises Outdated where the server has said something else meanwhile."""
        known = {tool.hash: tool for tool in (self.seen or {}).values()}
        if missing := sorted(hashes - known.keys()):
            raise Outdated(f"no tool with the hash {missing[0][:12]}… is there any more; look at the tools again before you approve them")
        self.approved |= {known[each].name: known[each] for each in hashes}
        self._write()

    def _write(self) -> None:
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        seen = None if self.seen is None else _plain(self.seen)
        data = {"version": VERSION, "approved": _plain(self.approved), "seen": seen}
        files.replace(self.path, json.dumps(data, indent=1, sort_keys=True).encode())


def _hashes(tools: dict[str, Listed]) -> dict[str, str]:
    return {name: tool.hash for name, tool in tools.items()}


def _tools(data: dict[str, Any]) -> dict[str, Listed]:
    return {str(name): Listed(**each) for name, each in data.items()}


def _plain(tools: dict[str, Listed]) -> dict[str, Any]:
    return {name: {key: value for key, value in asdict(tool).items() if key != "hash"} for name, tool in tools.items()}


def _change(kind: Any, was: Listed | None, now: Listed | None) -> Change:
    before, after = (each.text.splitlines()[:_MOST_LINES] if each is not None else [] for each in (was, now))
    lines = list(difflib.unified_diff(before, after, "approved", "now", lineterm="", n=2))[2:] if was and now else after or before
    either = now or was
    assert either is not None
    return Change(either.name, kind, now.hash if now else "", "\n".join(lines))
