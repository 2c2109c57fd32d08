"""What a command prints in the box, and how it ends: lines that came and went. Without a network; what it leaves running ends with it."""

from pydantic import JsonValue

from daimon.abi.box import Box, Command, Output
from daimon.abi.errors import Misconfigured, ToolFailed, WatchFailed
from daimon.abi.ids import OWNER, SELF
from daimon.abi.label import Author, Label, Origin
from daimon.abi.resources import Resources
from daimon.abi.watch import Look, Watch, WatchOutput
from daimon.heartbeat.watchers.difference import MOST_KEPT, difference, mark

KEY = f"{SELF}:watch"
"""A box of its own: what a session left in its box is not there."""
TIMEOUT_S = 120.0


class OutputWatcher:
    def __init__(self, boxes: Resources[Box]) -> None:
        self._boxes = boxes

    async def look(self, watch: Watch, state: JsonValue) -> Look:
        assert isinstance(watch, WatchOutput)
        try:
            async with self._boxes.lease(KEY) as lease:
                ran = await lease.resource.run(Command(argv=("/bin/sh", "-c", watch.command), timeout_s=TIMEOUT_S))
        except (ToolFailed, Misconfigured) as failed:
            raise WatchFailed(f"the command could not be run: {failed}") from failed
        if ran.end != "exited":
            raise WatchFailed(f"the command was ended ({ran.end}); it may take {TIMEOUT_S:g} s and what the box may")
        text = _text(ran.out) + _text(ran.err)
        after: JsonValue = {"mark": mark(text), "exit": ran.code, "text": text[:MOST_KEPT]}
        if not isinstance(state, dict):
            return Look(after, note=f"first look: exit {ran.code}, {len(text):,} characters")
        if (state.get("mark"), state.get("exit")) == (mark(text), ran.code):
            return Look(after, note="unchanged")
        change: dict[str, JsonValue] = {"exit": ran.code}
        if state.get("exit") != ran.code:
            change["exit_before"] = state.get("exit")
        if state.get("mark") != mark(text):
            change["change"] = difference(str(state.get("text") or ""), text)
        return Look(after, change, Label.of(Origin(Author.STRANGER, "box"), readers=(OWNER,)), f"changed: exit {ran.code}")


def _text(output: Output) -> str:
    gap = f"\n… {output.cut_bytes:,} bytes left out …\n" if output.cut_bytes else ""
    return f"{output.head.decode(errors='replace')}{gap}{output.tail.decode(errors='replace')}"
