"""Letters through one gateway over many lives, while it is killed and the services make trouble.

    open     the services; the gateway once, until it listens everywhere; the people are let in
    rage     each place gets its letters one after the other: handed in over the API, or said by a person in the service.
             At random moments the gateway is killed, also while it starts; at random moments a service makes trouble
    calm     no more of both, until nothing is on its way any more
    judge    what is seen at the services against what was handed in, and what the journal has against what people said

What was handed in and not acknowledged is handed in again, with the same key, before the next letter of that place.
"""

import asyncio
import random
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from daimon.abi.codec import blob_hash
from lab import wire
from lab.delivered import Delivered, TakenIn, Told, judge, judge_taken
from lab.echo import CONTENT, FILE
from lab.letter import MARK, Kind, Letter
from lab.process import Died, Process
from lab.services.service import Service

SETTINGS = 'extensions = [{extensions}]\nmodel.use = "echo"\nbackup.every = "off"\n'
AT_ONCE = 4
"""So many sends of one channel are under way at most: a kill leaves no more of them in doubt."""
ATTACHED = {"kind": "file", "blob": blob_hash(FILE), "name": "a.txt", "media_type": "text/plain", "size": len(FILE)}
"""Named by the event too, so that nobody clears it away."""
MOST_WAITING = 48
POLL_S = 0.1
LISTEN_S = 60.0


@dataclass(frozen=True, slots=True)
class Plan:
    messages: int
    """Of each channel; a quarter of them answers what people say in the service."""
    places: int
    """Of each channel; people speak in a quarter of them."""
    kills: int
    """At least so many, as long as anything is on its way."""
    most_kills: int
    life_s: float = 12.0
    """No life is longer, while there are kills."""
    trouble: float = 0.12
    """So many troubles for each letter. Each meets one call, so some letters meet several."""
    patience_s: float = 120.0
    """When nothing has moved for so long, it will not move any more. Daimon itself waits for 600 s at most."""
    is_patient: bool = True
    """Services are also silent, which takes a minute each time."""
    unheard: int = 0
    """So much of what people say is never taken in, by a system that is broken on purpose."""

    @property
    def spoken(self) -> int:
        return max(1, self.places // 4)

    @property
    def written(self) -> int:
        return self.places - self.spoken


class Storm:
    def __init__(self, home: Path, services: Sequence[Service], chance: random.Random, plan: Plan) -> None:
        self.services = services
        self.plan = plan
        self.extensions = ["lab.echo"]
        self.environment: dict[str, str] = {}
        self.kills = 0
        self.troubles: dict[str, Counter[str]] = {service.name: Counter() for service in services}
        self.letters = {service.name: self._letters(service, chance) for service in services}
        self.unrest: list[str] = []
        """What it looked like when it did not come to rest."""
        self._home = home
        self._chance = chance
        self._process: Process | None = None
        self._is_up = asyncio.Event()
        self._has_room = asyncio.Event()
        self._left = 0
        """Places that have not got all of their letters."""

    def _letters(self, service: Service, chance: random.Random) -> list[list[Letter]]:
        """By place."""
        per_place, more = divmod(self.plan.messages, self.plan.places)
        counts = [per_place + (place < more) for place in range(self.plan.places)]
        kinds = [_kinds(chance, may_attach=place < self.plan.written) for place in range(self.plan.places)]
        return [[_letter(service, place, n, next(kinds[place])) for n in range(count)] for place, count in enumerate(counts)]

    # -- life and death

    @property
    def process(self) -> Process:
        assert self._process is not None
        return self._process

    async def open(self) -> None:
        self._home.mkdir(mode=0o700, parents=True, exist_ok=True)
        extensions = ", ".join(f'"{name}"' for name in self.extensions)
        settings = "".join(service.settings for service in self.services)
        (self._home / "daimon.toml").write_text(SETTINGS.format(extensions=extensions) + settings)
        for service in self.services:
            self.environment |= service.environment
        await self._start()
        for service in self.services:
            for n, sender in enumerate(service.senders):
                wish = {"channel": service.name, "sender": sender, "name": f"owner {n}", "rank": "owner"}
                await self._call("POST", "/v1/people/contacts", wish)
        await self._call("POST", "/v1/blobs", CONTENT)
        async with asyncio.timeout(LISTEN_S):
            while not await self._listens():  # noqa: ASYNC110 - seen from outside
                await asyncio.sleep(POLL_S)

    async def _listens(self) -> bool:
        up = {line["name"] for line in (await self._call("GET", "/v1/status"))["lines"] if line["state"] == "up"}
        return up >= {service.name for service in self.services} and all([await service.joined() for service in self.services])

    async def _start(self) -> None:
        self._process = await Process.start(self._home, **self.environment)
        await self.process.ready()
        self._is_up.set()

    async def _kill(self) -> None:
        self._is_up.clear()
        self.process.kill()
        try:
            code = await self.process.exit()
        except TimeoutError:
            raise RuntimeError("the gateway was killed, and a child of it that hangs still holds its output and its lock") from None
        if code != -9:
            raise RuntimeError(f"the gateway ended with {code} by itself: {self.process.last_words()}")
        self.kills += 1

    async def close(self) -> None:
        if self._process is not None and self._process.is_alive:
            self._process.kill()
            await self._process.exit()

    # -- the storm

    async def rage(self) -> None:
        places = [(service, place) for service in self.services for place in range(self.plan.places)]
        self._left = len(places)
        async with asyncio.TaskGroup() as tasks:
            for service, place in places:
                tasks.create_task(self._fill(service, place))
            pacing = tasks.create_task(self._pace())
            await tasks.create_task(self._kills())
            pacing.cancel()

    async def _fill(self, service: Service, place: int) -> None:
        for letter in self.letters[service.name][place]:
            await self._has_room.wait()
            if self._chance.random() < self.plan.trouble and (what := service.trouble(self._chance, self.plan.is_patient)):
                self.troubles[service.name][what] += 1
            if place < self.plan.written:
                await self._hand_in(letter, service.address(place))
            else:
                await service.say(place, letter.order)
            await asyncio.sleep(self._chance.uniform(0.0, 0.4))
        self._left -= 1

    async def _hand_in(self, letter: Letter, to: str) -> None:
        data: dict[str, object] = {
            "type": "message", "text": letter.order, "conversation": f"{letter.channel}.{letter.place}",
            "reply_to": {"channel": letter.channel, "to": to}, "parts": [ATTACHED] if letter.kind == "file" else [],
        }  # fmt: skip
        while True:
            await self._is_up.wait()
            try:
                said = await self.process.event(data, letter.name)
            except (Died, wire.Unanswered):
                await asyncio.sleep(POLL_S)
                continue
            if said.status != 202:
                raise RuntimeError(f"{letter.name} was refused: {said.status} {said.body!r}")
            return

    async def _pace(self) -> None:
        """Letters come as fast as turns end, so that each life has some of every channel; what waits in the outbox holds up nobody."""
        while self._left:
            with suppress(Died, wire.Unanswered):
                await self._is_up.wait()
                turns = (await self._call("GET", "/v1/status"))["count"]["turns"]
                (self._has_room.set if turns["queued"] + turns["running"] < MOST_WAITING else self._has_room.clear)()
            await asyncio.sleep(POLL_S)

    async def _kills(self) -> None:
        """Until all letters are handed in and nearly all are out; and a life is now and then over before it has begun."""
        while await self._is_raging():
            await asyncio.sleep(self._chance.uniform(0.2, self.plan.life_s))
            await self._kill()
            if self._chance.random() < 0.15:
                self._process = await Process.start(self._home, **self.environment)
                await asyncio.sleep(self._chance.uniform(0.0, 1.5))
                await self._kill()
            await self._start()

    async def _is_raging(self) -> bool:
        if self.kills >= self.plan.most_kills:
            while self._left:  # noqa: ASYNC110 - the rest comes without kills
                await asyncio.sleep(POLL_S)
            return False
        if self._left or self.kills < self.plan.kills:
            return True
        return await self._on_their_way() > len(self.services) * AT_ONCE * 4

    # -- the calm

    async def calm(self) -> None:
        """Until nothing moves: nothing is on its way and all that people said is taken in, or it does not move any more."""
        moved, before, still = time.monotonic(), (-1, -1), 0
        while still < 2 and time.monotonic() - moved < self.plan.patience_s:
            await asyncio.sleep(POLL_S * 5)
            now = (await self._on_their_way(), await self._missing())
            moved, before = (time.monotonic(), now) if now != before else (moved, before)
            still = still + 1 if now == (0, self.plan.unheard) and not self._left else 0
        if still < 2:
            status = await self._call("GET", "/v1/status")
            self.unrest = [f"{now[0]} on their way, {now[1]} not taken in, after {self.plan.patience_s:g} s without a move"]
            self.unrest += [f"{line['name']}: {line['state']} {line['why']}" for line in status["lines"]]
            waiting = [await self._call("GET", f"/v1/outbox?limit=5&state={state}") for state in ("queued", "sending")]
            self.unrest += [
                f"{each['key']} to {each['to']}: {each['state']}, {each['attempts']} tries, {each['note']}, again at {each['retry_at']}"
                for found in waiting
                for each in found
            ]
            self.unrest += [f"{each['to']} asks: {each['question']['text']}" for each in (await self._call("GET", "/v1/questions"))[:5]]
            self.unrest += self.process.last_words().splitlines()[-5:]

    async def _on_their_way(self) -> int:
        """What is parked is not over either: its letter comes later, or never."""
        count = (await self._call("GET", "/v1/status"))["count"]
        return int(sum(count["turns"][state] for state in ("queued", "running", "parked")) + count["outgoing"])

    async def _missing(self) -> int:
        """What people said and is no turn yet."""
        missing = 0
        for service in self.services:
            for place in range(self.plan.written, self.plan.places):
                missing += max(0, len(self.letters[service.name][place]) - len(await self._turns(service, place)))
        return missing

    async def _turns(self, service: Service, place: int) -> list[dict[str, Any]]:
        """The oldest first."""
        conversation = quote(f"{service.name}/{service.address(place)}", safe="")
        found: list[dict[str, Any]] = await self._call("GET", f"/v1/turns?limit=1000&conversation={conversation}")
        return found[::-1]

    async def _call(self, method: str, path: str, data: object = None) -> Any:
        answer = await self.process.call(method, path, data)
        if answer.status not in (200, 201):
            raise RuntimeError(f"{method} {path}: {answer.status} {answer.body!r}")
        return answer.data

    # -- the judgement

    async def delivered(self, service: Service) -> Delivered:
        told, verdict = await self._told(service), Delivered()
        for place, letters in enumerate(self.letters[service.name]):
            verdict.add(judge(letters, await service.seen(place), told))
        return verdict

    async def _told(self, service: Service) -> dict[str, Told]:
        found: dict[str, Told] = {}
        for state in ("unknown", "failed"):
            for mailing in await self._call("GET", f"/v1/outbox?limit=1000&channel={service.name}&state={state}"):
                if mailing["note"]:  # without a reason it is no report
                    found[_name(mailing["text"])] = Told(state, mailing["note"])
        return found

    async def taken_in(self, service: Service) -> TakenIn:
        verdict = TakenIn()
        for place in range(self.plan.written, self.plan.places):
            traces = [await self._call("GET", f"/v1/turns/{turn['id']}") for turn in await self._turns(service, place)]
            verdict.add(judge_taken(self.letters[service.name][place], map(_said, traces)))
        return verdict

    def doubts(self, service: Service) -> int:
        """So many letters can at most have come into doubt."""
        return self.kills * AT_ONCE + self.troubles[service.name].total()


def _kinds(chance: random.Random, *, may_attach: bool) -> Iterator[Kind]:
    while True:
        dice = chance.random()
        yield "long" if dice < 0.04 else "file" if dice < 0.08 and may_attach else "short"


def _letter(service: Service, place: int, n: int, kind: Kind) -> Letter:
    return Letter(service.name, place, n, kind, {"short": "0", "long": str(service.long), "file": str(blob_hash(FILE))}[kind])


def _name(text: str) -> str:
    found = MARK.search(text)
    return "" if found is None else f"{found[1]}-{found[2]}-{found[3]}"


def _said(trace: dict[str, Any]) -> str:
    return "".join(part.get("text", "") for part in trace["event"]["body"].get("parts", ()))
