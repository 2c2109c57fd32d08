"""One Daimon over many lives: what it was told, what it accepted, how fast it came back.

The driver behaves as a channel does: an event whose acceptance it did not hear of is delivered again, with the same key, to the next life.
"""

import asyncio
import random
import time
from pathlib import Path
from typing import Any
from urllib.parse import quote

from lab import wire
from lab.dial import Dial
from lab.fuse import Fuse
from lab.process import Died, Process
from lab.script import Script
from lab.verdict import Intent, Outcome, Story
from lab.world import Remote

REST_S = 60.0
POLL_S = 0.01
POLICY = """@id("lab.gated")
@says("This tool is always asked for.")
forbid (principal, action == Action::"act", resource == Tool::"gated_effect");
"""
SETTINGS = """extensions = ["lab.extension"]
model.use = "scripted"
"""


class Subject:
    def __init__(self, home: Path, world: Remote, chance: random.Random, faults: tuple[str, ...] = ("fuse",), settings: str = "") -> None:
        home.mkdir(mode=0o700, exist_ok=True)
        (home / "daimon.toml").write_text(SETTINGS + settings)
        (home / "policy").mkdir(exist_ok=True)
        (home / "policy" / "lab.cedar").write_text(POLICY)
        self.home = home
        self.world = world
        self.fuse = Fuse(self._dial("fuse"))
        self.disk = Dial(self._dial("disk"))
        self.clock = Dial(self._dial("clock"))
        self.accepted: dict[str, Script] = {}
        self.recoveries_s: list[float] = []
        self.kills = 0
        self.environment: dict[str, str] = {"LAB_WORLD": str(world.port)}
        """What the laboratory's extension is told."""
        self.faults: list[str] = []
        """Events that were taken twice, as the answers to redeliveries tell."""
        self.environment |= {f"LAB_{fault.upper()}": str(self._dial(fault)) for fault in faults}
        self._chance = chance
        self._events: dict[str, str] = {}
        self._undelivered: dict[str, dict[str, Any]] = {}
        self._scripts: dict[str, Script] = {}
        self._answered: set[str] = set()
        self._ignored: set[str] = set()
        self._process: Process | None = None
        self._marks = 0

    # -- life and death

    @property
    def process(self) -> Process:
        assert self._process is not None
        return self._process

    @property
    def is_alive(self) -> bool:
        return self._process is not None and self._process.is_alive

    async def close(self) -> None:
        if self.is_alive:
            self.process.kill()
            await self.process.exit()

    async def up(self) -> bool:
        """A new life, until it is ready and every turn that was interrupted rests again; False if it dies on the way."""
        begun = time.monotonic()
        self._process = await self.start()
        try:
            await self.process.ready()
            interrupted = await self._turns("running")
            while interrupted & await self._turns("running"):  # noqa: ASYNC110 - seen from outside
                await asyncio.sleep(POLL_S)
            self.recoveries_s.append(time.monotonic() - begun)
            await self.redeliver()
        except Died:
            await self.bury()
            return False
        return True

    async def start(self) -> Process:
        return await Process.start(self.home, **self.environment)

    async def bury(self) -> None:
        """Counts the death that was asked for. Any other is a failure of the system."""
        code = await self.process.exit()
        if code != -9:
            raise RuntimeError(f"the process ended with {code} by itself: {self.process.last_words()}")
        self.kills += 1
        self.fuse.put_out()
        await self.world.disarm()
        await self.world.quiet()

    async def kill(self) -> None:
        self.process.kill()
        await self.bury()

    async def rest(self, with_timers: bool = False) -> None:
        """Until there is nothing left to do, seen twice: the counts of one status need not be of one moment. Raises Died."""
        idle = 0
        async with asyncio.timeout(REST_S):
            while idle < 2:
                count = (await self._get("/v1/status"))["count"]
                busy = count["turns"]["queued"] + count["turns"]["running"] + count["outgoing"] + (count["timers"] if with_timers else 0)
                idle = 0 if busy else idle + 1
                await asyncio.sleep(POLL_S)

    # -- talking to it

    async def say(self, rounds: str, conversation: str) -> None:
        """A new message. Raises Died; then it is delivered again to the next life."""
        self._marks += 1
        mark = f"{self.home.name}x{self._marks}"
        script = self._scripts[mark] = Script.parse(f"{mark} | {rounds}")
        self._undelivered[mark] = {
            "type": "message", "text": str(script), "conversation": conversation, "reply_to": {"channel": "world", "to": conversation},
        }  # fmt: skip
        await self._deliver(mark)

    async def redeliver(self, accepted: int = 0) -> None:
        """What was not acknowledged, and some of what was."""
        for mark in list(self._undelivered):
            await self._deliver(mark)
        for mark in self._chance.sample(sorted(self.accepted), min(accepted, len(self.accepted))):
            event = await self._get(f"/v1/events/{self._events[mark]}")
            again = (await self.process.event({"type": "message", "text": str(self._scripts[mark])}, mark)).data
            if again["new"] or again["event"] != event["event"]["id"]:
                self.faults.append(f"{mark}: delivered again, taken as {again}")

    async def answer_some(self, ignore: float = 0.3) -> bool:
        """Answers what it asks, leaving a share of unknown outcomes open. True if there was something to answer."""
        asked = [q for q in await self._get("/v1/questions") if _ref(q["to"]) not in self._answered | self._ignored]
        for question in asked:
            ref, about = _ref(question["to"]), question["question"]
            if about["type"] == "outcome" and self._chance.random() < ignore:
                self._ignored.add(ref)
                continue
            choice = {"outcome": "leave", "authorise": "allow", "choose": "go"}[about["type"]]
            self._answered.add(ref)
            self._undelivered[f"answer {ref}"] = {"type": "answer", "to": ref, "choice": choice}
            await self._deliver(f"answer {ref}")
        return bool(asked)

    async def _deliver(self, key: str) -> None:
        try:
            said = await self.process.event(self._undelivered[key], key)
        except wire.Unanswered:
            return
        if said.status != 202:
            raise RuntimeError(f"{key} was refused: {said.status} {said.body!r}")
        del self._undelivered[key]
        if key in self._scripts:
            self.accepted[key] = self._scripts[key]
            self._events[key] = said.data["event"]

    # -- what it tells

    async def stories(self) -> dict[str, Story]:
        """What it knows of each accepted event; one that it does not know is missing."""
        open_ = [_ref(q["to"]) for q in await self._get("/v1/questions")]
        self.faults += [f"{ref}: answered, and still asked" for ref in self._answered & set(open_)]
        return {mark: _story(trace, open_) for mark, trace in (await self.traces()).items()}

    async def traces(self) -> dict[str, dict[str, Any]]:
        """The turns of accepted events with all their steps, by mark."""
        found = {}
        for mark, event in self._events.items():
            answer = await self.process.call("GET", f"/v1/events/{event}")
            if answer.status == 200 and answer.data["turn"] is not None:
                found[mark] = await self._get(f"/v1/turns/{answer.data['turn']['id']}")
        return found

    def _dial(self, name: str) -> Path:
        return self.home.with_name(f"{self.home.name}.{name}")

    @property
    def an_event(self) -> str:
        """The id of some accepted event."""
        return next(iter(self._events.values()))

    async def questions(self) -> list[dict[str, Any]]:
        return await self._get("/v1/questions")

    async def status(self) -> dict[str, Any]:
        return await self._get("/v1/status")

    async def _turns(self, state: str) -> set[str]:
        return {turn["id"] for turn in await self._get(f"/v1/turns?state={quote(state)}&limit=1000")}

    async def _get(self, path: str) -> Any:
        answer = await self.process.call("GET", path)
        if answer.status != 200:
            raise RuntimeError(f"GET {path}: {answer.status} {answer.body!r}")
        return answer.data


def _ref(to: Any) -> str:
    return to if isinstance(to, str) else f"{to['turn']}:{to['n']}"


def _story(trace: dict[str, Any], open_: list[str]) -> Story:
    turn, steps = trace["turn"], trace["steps"]
    bodies = {step["n"]: step["body"] for step in steps}
    text = "".join(part.get("text", "") for part in trace["event"]["body"].get("parts", ()))
    intents = tuple(_intent(n, body, bodies) for n, body in bodies.items() if body["kind"] == "intent")
    asked = sum(ref.startswith(f"{turn['id']}:") for ref in open_)
    has_gaps = [s["n"] for s in steps] != list(range(len(steps)))
    wakes = bool(steps) and _wakes(steps[-1]["body"])
    return Story(text, turn["id"], turn["state"], turn["ending"], intents, asked, has_gaps, wakes)


def _wakes(last: dict[str, Any]) -> bool:
    return last["kind"] == "decision" and any(wait["until"] for wait in last["decision"].get("waits", ()))


def _intent(n: int, body: dict[str, Any], bodies: dict[int, dict[str, Any]]) -> Intent:
    outcomes = [b for b in bodies.values() if b["kind"] == "outcome" and b["intent"] == n]
    asked = {m: b["question"]["type"] for m, b in bodies.items() if b["kind"] == "question" and b["about"] == n}
    permitted = any(b["kind"] == "answer" and b["choice"] == "allow" and asked.get(b["question"]) == "authorise" for b in bodies.values())
    outcome = Outcome(outcomes[-1]["code"], outcomes[-1]["how"]) if outcomes else None
    return Intent(
        body["key"], body["tool"], body["effect"], body["gate"]["verdict"] == "allow" or permitted, outcome, "outcome" in asked.values()
    )
