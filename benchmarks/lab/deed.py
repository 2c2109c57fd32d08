"""A call that changes files: how the model asks for it, what it must leave in the tree, and what the journal says became of it.

Every call has a name (`ax17.0.2`), and what it leaves is made of that name, so that it is found again and counted:

    write   a file of its own, `notes/NAME`
    edit    a line of `edited`, before the last one
    run     two lines of `log`, one at the beginning and one a moment later, by a shell that then goes elsewhere and remembers
            the name; with its first words it says where it was and what it remembered

A call that was done has left its words once. One that was cut off has left what came first, or nothing, and is told as cut off.
"""

import json
import zlib
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal

from pydantic import JsonValue

TOP = "/workspace/project"
LAST, FIRST = "END\n", "BEGIN\n"
BASE = {"edited": LAST, "log": FIRST, **{f"d{n}/keep": "kept\n" for n in range(4)}}
"""What the owner's directory holds at the beginning."""
TOOLS = {"write": "write_file", "edit": "edit_file", "run": "run"}
Told = Literal["done", "open", "nothing"]
"""open: it says itself that it may have been done, wholly or in part."""


@dataclass(frozen=True, slots=True)
class Deed:
    name: str
    tool: str
    told: Told
    place: str = ""
    begun: datetime = datetime.min.replace(tzinfo=UTC)
    ended: datetime | None = None
    how: str = ""
    was: tuple[str, str] | None = None
    """Of a shell: its directory and what it remembered, when the command began."""

    @property
    def words(self) -> tuple[str, ...]:
        """What it leaves, in this order."""
        return (f"{self.name}.a", f"{self.name}.b") if self.tool == "run" else (self.name,)


@dataclass(frozen=True, slots=True)
class Mark:
    """A checkpoint that the journal names."""

    ref: str
    since: datetime
    """When the calls that it was made for were decided: what was over then is in it."""
    at: datetime
    not_yet: frozenset[str]
    """Calls that began after it."""


def room_of(name: str) -> str:
    """Where the shell goes."""
    return f"{TOP}/d{zlib.crc32(name.encode()) % 4}"


def arguments(wish: str, name: str) -> dict[str, JsonValue]:
    match wish:
        case "write":
            return {"path": f"notes/{name}", "content": f"{name}\n"}
        case "edit":
            return {"path": "edited", "edits": [[LAST, f"{name}\n{LAST}"]]}
        case _:
            lines = f"echo {name}.a >> {TOP}/log; sleep 0.05; echo {name}.b >> {TOP}/log"
            return {"command": f'echo "was $PWD ${{MARK-nothing}}"; {lines}; cd {room_of(name)}; export MARK={name}'}


def deeds_of(trace: dict[str, Any]) -> list[Deed]:
    steps = trace["steps"]
    outcomes = {step["body"]["intent"]: step for step in steps if step["body"]["kind"] == "outcome"}
    return [
        _deed(step, outcomes.get(step["n"]), trace["turn"]["conversation"])
        for step in steps
        if step["body"]["kind"] == "intent" and step["body"]["tool"] in TOOLS.values()
    ]


def _deed(intent: dict[str, Any], outcome: dict[str, Any] | None, place: str) -> Deed:
    body, begun = intent["body"], datetime.fromisoformat(intent["at"])
    if outcome is None:
        return Deed(body["call"], body["tool"], "open", place, begun)
    done = outcome["body"]
    data = _data(done)
    was = data["output"].split("\n")[0].split() if "output" in data else []
    return Deed(
        body["call"], body["tool"], _told(done, data), place, begun, datetime.fromisoformat(outcome["at"]), done["how"],
        (was[1], was[2]) if len(was) == 3 and was[0] == "was" else None,
    )  # fmt: skip


def _data(outcome: dict[str, Any]) -> dict[str, Any]:
    text = "".join(part.get("text", "") for part in outcome["result"]["parts"])
    data = json.loads(text).get("data") if text.startswith("{") else None
    return data if isinstance(data, dict) else {}


def _told(outcome: dict[str, Any], data: dict[str, Any]) -> Told:
    if outcome["how"] in ("answered", "cancelled") or data.get("end") or "do not tell" in str(data.get("done", "")):
        return "open"
    return "nothing" if outcome["code"] else "done"


def marks_of(trace: dict[str, Any]) -> list[Mark]:
    """A call that was under way when Daimon died is run again after another checkpoint, and may be in that one."""
    found, waiting, decided = list[Mark](), set[str](), dict[str, datetime]()
    for step in trace["steps"]:
        body, at = step["body"], datetime.fromisoformat(step["at"])
        if body["kind"] == "intent" and body["tool"] in TOOLS.values():
            waiting.add(body["call"])
            decided[body["call"]] = at
        elif body["kind"] == "checkpoint":
            since = min((decided[name] for name in waiting), default=min(decided.values(), default=at))
            found.append(Mark(body["ref"], since, at, frozenset(waiting)))
            waiting.clear()
    return found
