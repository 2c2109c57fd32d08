"""What the laboratory adds to Daimon, by the way that is open to everybody (`daimon.extension`): a model that follows scripts, tools
that act on the world, a channel that speaks to it, and a fuse on the journal. Found by its name in daimon.toml and by PYTHONPATH;
told by the environment:

    LAB_WORLD   the port of the world
    LAB_FUSE    the dial of the fuse on the journal
    LAB_INDEX   the dial of the fuse on the index of the layers
    LAB_DISK    the dial of the disk under all databases
    LAB_CLOCK   the dial of the wall clock
"""

import asyncio
import os
from contextlib import suppress
from pathlib import Path
from typing import Literal
from urllib.parse import quote

from pydantic import JsonValue

from daimon.abi.channel import Piece, Receipt, Reception, Traits
from daimon.abi.errors import ToolFailed
from daimon.abi.event import Said
from daimon.abi.label import Author
from daimon.abi.message import Text
from daimon.abi.ports import Outgoing
from daimon.abi.tool import ArgumentRole, Call, Capability, Effect, Manifest, Result, ResultLabel
from daimon.extension import Kit
from lab import clock, disk, fuse, wire
from lab.model import ScriptedModel

SLOW_S = 1.0
IMPATIENT_S = 0.3


def extend(kit: Kit) -> None:
    faults = (("LAB_FUSE", fuse.attach), ("LAB_INDEX", fuse.attach_to_layers), ("LAB_DISK", disk.mount), ("LAB_CLOCK", clock.shift))
    for variable, fault in faults:
        if path := os.environ.get(variable):
            fault(Path(path))
    port = int(os.environ["LAB_WORLD"])
    kit.models["scripted"] = ScriptedModel()
    kit.channels.append(WorldChannel(port))
    kit.tools.extend(kind(manifest, port) for kind, manifest in TOOLS)


class WorldTool:
    def __init__(self, manifest: Manifest, port: int) -> None:
        self.manifest = manifest
        self._port = port

    async def run(self, arguments: dict[str, JsonValue], call: Call) -> Result:
        return Result(
            await self._ask(
                "POST", "/act", {"kind": self.manifest.name.removesuffix("_effect"), "key": call.key, "what": arguments["what"]}
            )
        )

    async def verify(self, arguments: dict[str, JsonValue], call: Call) -> Result | None:
        happened = await self._ask("GET", f"/happened?key={quote(call.key)}")
        return Result({"done": arguments["what"]}) if happened else None

    async def _ask(self, method: str, path: str, data: object = None) -> JsonValue:
        try:
            return (await wire.call(self._port, method, path, data)).data  # type: ignore[no-any-return]
        except wire.Unanswered as silence:
            raise ToolFailed("unreachable", str(silence), retryable=True) from silence


class SlowTool(WorldTool):
    """Takes its time, then acts."""

    async def run(self, arguments: dict[str, JsonValue], call: Call) -> Result:
        await asyncio.sleep(SLOW_S)
        return await super().run(arguments, call)


class HangingTool(WorldTool):
    """Never comes back."""

    async def run(self, arguments: dict[str, JsonValue], call: Call) -> Result:
        await asyncio.Event().wait()
        raise AssertionError("unreachable")


class StubbornTool(WorldTool):
    """Never comes back, and takes no notice of being cancelled."""

    async def run(self, arguments: dict[str, JsonValue], call: Call) -> Result:
        while True:
            with suppress(asyncio.CancelledError):
                await asyncio.Event().wait()


class WorldChannel:
    name = "world"
    traits = Traits("harmless")

    def __init__(self, port: int) -> None:
        self._port = port

    def pieces(self, message: Outgoing) -> tuple[Piece, ...]:
        assert isinstance(message.content, Said)
        return (Piece("".join(part.text for part in message.content.parts if isinstance(part, Text))),)

    async def send(self, piece: Piece, to: str, key: str) -> Receipt:
        await wire.call(self._port, "POST", "/reply", {"key": key.rpartition("/")[0], "text": piece.text, "to": to})
        return Receipt("confirmed")

    async def find(self, piece: Piece, to: str, key: str) -> Receipt | None:
        return None

    async def show(self, to: str, doing: Literal["thinking", "nothing"]) -> None:
        return

    async def serve(self, reception: Reception) -> None:
        await asyncio.Event().wait()


def _manifest(kind: str, effect: Effect, capability: Capability = Capability.WRITES, timeout_s: float = 15.0) -> Manifest:
    return Manifest(
        name=f"{kind}_effect",
        description=f"Act on the world; the effect is {kind}.",
        parameters={
            "type": "object",
            "additionalProperties": False,
            "properties": {"what": {"type": "string", "description": "Which wish this is."}},
            "required": ["what"],
        },
        effect=effect,
        roles={"what": ArgumentRole.DESTINATION if capability is Capability.SENDS else ArgumentRole.TARGET},
        capabilities=(capability,),
        timeout_s=timeout_s,
        result=ResultLabel(Author.SERVICE, "world"),
    )


TOOLS: tuple[tuple[type[WorldTool], Manifest], ...] = (
    (WorldTool, _manifest("pure", Effect.PURE)),
    (WorldTool, _manifest("idempotent", Effect.IDEMPOTENT)),
    (WorldTool, _manifest("verifiable", Effect.VERIFIABLE)),
    (WorldTool, _manifest("unsafe", Effect.UNSAFE)),
    (WorldTool, _manifest("gated", Effect.UNSAFE, Capability.SENDS)),
    (SlowTool, _manifest("slow", Effect.UNSAFE)),
    (HangingTool, _manifest("hanging", Effect.IDEMPOTENT, timeout_s=IMPATIENT_S)),
    (StubbornTool, _manifest("stubborn", Effect.IDEMPOTENT, timeout_s=IMPATIENT_S)),
)
