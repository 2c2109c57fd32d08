"""A conversation of known length with the real `./daimon up`, whose model is a provider on loopback that keeps every request.

hello   a first message to a fresh home, in a conversation of its own
work    a turn of twenty model calls in a new conversation: nineteen that call a tool, and one that answers
more    three further turns in it
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from daimon.testing.provider.line import Call, Line
from daimon.testing.provider.server import ProviderServer
from lab.encounter import KEY, MODEL, MODELS, POLL_S, address, write
from lab.prefix import Sent, share
from lab.process import Process

STEPS = 20
MORE = ("And what did you note last?", "Which of them is the oldest?", "Thank you. Is there anything left to do?")
REST_S = 240.0
"""Ends a hang: a turn of twenty calls takes its time on a busy machine."""
CALLS = (
    lambda n: Call("now", {}),
    lambda n: Call("remember", {"text": f"Guest {n} for the boat trip on Saturday: comes by the train at {n % 12 + 1} and eats no fish."}),
    lambda n: Call("recall", {"query": f"guest {n - 1} boat trip", "limit": 2}),
)
SCRIPT = (
    Line(text="Hello! What can I do for you?"),
    *(Line(calls=(CALLS[n % len(CALLS)](n),)) for n in range(STEPS - 1)),
    Line(text="All guests of the boat trip are noted, with their trains and what they eat."),
    *(Line(text=f"Here is what I know about it, as of note {n}.") for n in range(len(MORE))),
)
EVERYTHING = 'sandbox.role = "online"\ncontext.hold = "strangers"'
"""Settings with which every tool of Daimon's own is there: some need a network, something consequential, or words that are held."""
ONLINE = 'description = "has a network"\nread = ["."]\nwrite = ["."]\ncommands = ["*"]\n\n[[places]]\nhost = "example.org"\n'


@dataclass(frozen=True, slots=True)
class Spoken:
    """What went over the wire, and what Daimon's own record says of it."""

    requests: tuple[Sent, ...]
    usages: tuple[dict[str, Any], ...]
    """As the provider reported them, by request."""

    @property
    def hello(self) -> Sent:
        return self.requests[0]

    @property
    def work(self) -> float:
        """What part of the input of the long turn was sent before in that turn; of its first request, nothing."""
        turn = self.requests[1 : 1 + STEPS]
        return share(turn, (None, *turn[:-1]))

    @property
    def more(self) -> float:
        return share(self.requests[1 + STEPS :], self.requests[STEPS:-1])

    @property
    def work_usages(self) -> Sequence[dict[str, Any]]:
        return self.usages[1 : 1 + STEPS]


async def talk(place: Path, vendor: str, settings: str = "", **environment: str) -> Spoken:
    """`place` must not be there yet. Settings and environment are for a Daimon that has more, or is broken on purpose."""
    async with ProviderServer(SCRIPT, key=KEY) as server:
        model = MODEL.format(name="first", vendor=vendor, model=MODELS[vendor], url=address(server.url, vendor))
        write(place, f'{settings}\nmodel.use = "first"\n{model}')
        (place / "roles").mkdir(mode=0o700)
        (place / "roles" / "online.toml").write_text(ONLINE)
        process = await Process.start(place, **environment)
        try:
            await process.ready()
            usages = [*await say(process, "hello", "Hello"), *await say(process, "work", "Please note all guests of the boat trip.")]
            for text in MORE:
                usages += await say(process, "work", text)
        finally:
            process.kill()
            await process.exit()
        return Spoken(tuple(Sent.of(seen.json) for seen in server.requests), tuple(usages))


async def say(process: Process, conversation: str, text: str) -> list[dict[str, Any]]:
    """The usage of every reply of the turn. Raises RuntimeError for a turn that does not end well."""
    taken = await process.event({"type": "message", "text": text, "conversation": conversation}, f"{conversation}: {text}")
    async with asyncio.timeout(REST_S):
        while True:
            turn = (await process.call("GET", f"/v1/events/{taken.data['event']}")).data["turn"]
            if turn is not None and turn["state"] not in ("queued", "running"):
                break
            await asyncio.sleep(POLL_S)
    steps = (await process.call("GET", f"/v1/turns/{turn['id']}")).data["steps"]
    if turn["ending"] != "answered" or any(step["body"]["kind"] == "model_failed" for step in steps):
        raise RuntimeError(f"{text!r} ended as {turn['state']}, {turn['ending']}: {[step['body'] for step in steps[-4:]]}")
    return [step["body"]["usage"] for step in steps if step["body"]["kind"] == "reply"]
