"""The state of one round through a gateway with canaries in it: who is there, what was tried, what was found."""

import json
import time
from dataclasses import dataclass, field
from typing import Any

from daimon.testing.provider.server import ProviderServer
from daimon.testing.upstream import Upstream
from lab.canary import found
from lab.errand import Errand
from lab.gate import Gate
from lab.outlet import Tally
from lab.planted import Planted


@dataclass(slots=True)
class Tour:
    planted: Planted
    provider: ProviderServer
    own: Upstream
    sealed: Upstream
    other: Upstream
    errands: dict[str, Errand]
    is_whole: bool
    """With commands, starts that fail, and boxes that look round."""
    tally: Tally = field(default_factory=Tally)
    passed: list[str] = field(default_factory=list)
    """Forms that nobody promises to see, and that went through."""
    marks: dict[str, float] = field(default_factory=dict)
    began: float = field(default_factory=time.monotonic)

    def look(self, group: str, name: str, data: bytes, *more: str) -> None:
        self.tally.look(group, name, data, (*self.planted.sealed, *(self.planted.canaries[each] for each in more)))

    def mark(self, name: str) -> None:
        self.marks[name] = round(time.monotonic() - self.began, 1)

    @property
    def reached(self) -> bool:
        """The secrets that are for a host did get there: otherwise nothing is proved."""
        host = (self.planted.canaries["host"],)
        return bool(found(bytes(self.own.bytes), host) and found(bytes(self.sealed.bytes), host))

    async def sinks(self, gate: Gate, id_: str) -> dict[str, bytes]:
        tag = f"errand {id_};".encode()
        turns = await gate.data(f"/v1/turns?conversation={id_}")
        sent = self.planted.sent.read_bytes().splitlines() if self.planted.sent.exists() else []
        return {
            "prompt": b"\n".join(received(seen) for seen in self.provider.requests if tag in seen.body),
            "record": b"\n".join([await gate.get(f"/v1/turns/{turn['id']}") for turn in turns]),
            "live stream": b"\n".join(gate.streamed[id_]) + "\n".join(v for k, v in gate.pieces.items() if k[0] == id_).encode(),
            "channel": b"\n".join(line for line in sent if json.loads(line)["to"] == id_),
        }

    async def results(self, gate: Gate, conversation: str) -> list[bytes]:
        """Of the calls of its last turn, in order."""
        turn = (await gate.data(f"/v1/turns?conversation={conversation}"))[0]["id"]
        steps = (await gate.data(f"/v1/turns/{turn}"))["steps"]
        return [json.dumps(step["body"]).encode() for step in steps if step["body"]["kind"] == "outcome"]


def received(seen: Any) -> bytes:
    """As it came, but for the header of the key, which is masked."""
    head = "".join(f"{name}: {value}\n" for name, value in seen.headers.items())
    return f"{seen.method} {seen.path}\n{head}\n".encode() + bytes(seen.body)
