"""Claim: never more than the owner said. Fifty turns at once, kills in between, one limit for the day: nothing is spent beyond it.

The real `./daimon up` works on fifty conversations at once, each with three model calls, against a provider on loopback that keeps its own
books and charges for every request that reached it. The day's limit allows for less than half of them. The process is killed at random
moments and started again. When nothing moves any more, the provider's bill and Daimon's own account are held against the limit. Then
somebody raises it, question by question, until every turn has ended: none may be left behind.

    overspend   dollars that the provider charged beyond the limit, at any look; the promise is 0
    stuck       turns that did not end although the limit was raised far enough; the promise is 0
"""

import asyncio
import random
import tempfile
import time
from decimal import Decimal
from pathlib import Path
from typing import Any

from lab import report
from lab.bill import CALLS, PRICE, Bill
from lab.process import Died, Process

from daimon.testing.provider.server import ProviderServer

TURNS = 50
REST_S = 120.0
POLL_S = 0.05
STILL_S = 1.5
"""So long nothing may move before it counts as rest."""
MOST_OUTPUT = 400
SETTINGS = """
[model]
use = ["paid"]
[models.paid]
vendor = "compatible"
model = "paid"
base_url = "{url}/v1"
key = "lab"
price = {{ input = {input}, output = {output} }}
max_output_tokens = {most_output}
text_calls = false
[budget.day]
cost = {limit}
[budget.month]
cost = 1000
[kernel]
slots = 50
"""


class Bench:
    def __init__(self, home: Path, server: ProviderServer, bill: Bill, limit: Decimal, **environment: str) -> None:
        self.home, self.server, self.bill, self.limit = home, server, bill, limit
        self.environment = environment
        self.allowed = limit
        self.overspend = Decimal(0)
        self.kills = 0
        self.questions = 0
        self.process: Process | None = None
        home.mkdir(mode=0o700)
        settings = SETTINGS.format(url=server.url, input=PRICE.input, output=PRICE.output, most_output=MOST_OUTPUT, limit=limit)
        (home / "daimon.toml").write_text(settings)
        (home / "keys.toml").touch(mode=0o600)
        (home / "keys.toml").write_text('[keys]\nlab = "test-key"\n')

    async def up(self) -> None:
        self.process = await Process.start(self.home, **self.environment)
        await self.process.ready()

    async def kill(self) -> None:
        assert self.process is not None
        self.process.kill()
        await self.process.exit()
        self.kills += 1

    async def close(self) -> None:
        if self.process is not None:
            self.process.kill()
            await self.process.exit()

    async def get(self, path: str) -> Any:
        assert self.process is not None
        return (await self.process.call("GET", path)).data

    async def say(self, n: int) -> None:
        """Until it is accepted, whatever dies."""
        while True:
            try:
                assert self.process is not None
                event = {"type": "message", "text": f"Please work on matter number {n}.", "conversation": f"c{n}"}
                if (await self.process.event(event, f"k{n}")).status == 202:
                    return
            except (Died, Exception):  # noqa: BLE001 - whoever was killed is started again by the other task
                await asyncio.sleep(POLL_S)

    async def states(self) -> dict[str, int]:
        return dict((await self.get("/v1/status"))["count"]["turns"])

    def audit(self) -> None:
        self.overspend = max(self.overspend, self.bill.charged - self.allowed)

    async def still(self) -> dict[str, int]:
        """Until no turn moves: none is running or queued and no call is under way, for a while."""
        since, before = time.monotonic(), (-1, {})
        async with asyncio.timeout(REST_S):
            while True:
                self.audit()
                states = await self.states()
                now = (self.bill.calls, states)
                busy = states["running"] + states["queued"]
                if busy or now != before:
                    since, before = time.monotonic(), now
                if time.monotonic() - since > STILL_S:
                    return states
                await asyncio.sleep(POLL_S)

    async def raise_limits(self) -> None:
        """Answers what is asked, as an owner would, until nobody asks."""
        assert self.process is not None
        for asked in await self.get("/v1/questions"):
            if asked["question"]["type"] == "money":
                self.questions += 1
                self.allowed += 1
                to = f"{asked['to']['turn']}:{asked['to']['n']}"
                answer = {"type": "answer", "to": to, "choice": "raise", "text": "1", "conversation": asked["conversation"]}
                await self.process.event(answer, f"a{to}")


async def disturb(bench: Bench, chance: random.Random, kills: int) -> None:
    for _ in range(kills):
        await asyncio.sleep(chance.uniform(0.3, 1.2))
        await bench.kill()
        bench.audit()
        await bench.up()


async def run(place: Path, seed: int, kills: int, limit: Decimal, **environment: str) -> dict[str, Any]:
    chance = random.Random(seed)
    bill = Bill(chance)
    async with ProviderServer(bill.answer) as server:
        bench = Bench(place / f"home{seed}", server, bill, limit, **environment)
        try:
            return await figures(bench, chance, kills)
        finally:
            await bench.close()


async def figures(bench: Bench, chance: random.Random, kills: int) -> dict[str, Any]:
    bill = bench.bill
    await bench.up()
    await asyncio.gather(disturb(bench, chance, kills), *(bench.say(n) for n in range(TURNS)))
    at_limit = await bench.still()
    charged_at_limit, asked_at_limit = bill.charged, len(await bench.get("/v1/questions"))
    costs = (await bench.get("/v1/costs"))["balances"][0]
    for _ in range(20):
        await bench.raise_limits()
        states = await bench.still()
        if not states["parked"]:
            break
    total = (await bench.get("/v1/costs"))["balances"][0]
    return {
        "parked_at_limit": at_limit["parked"],
        "questions_at_limit": asked_at_limit,
        "charged_at_limit": charged_at_limit,
        "booked_at_limit": Decimal(costs["spent"]["cost"]),
        "unbooked": max(Decimal(0), bill.charged - Decimal(total["spent"]["cost"])),
        "overspend": max(Decimal(0), bench.overspend),
        "stuck": TURNS - states["done"],
        "calls": bill.calls,
        "kills": bench.kills,
        "unbounded": len(bill.beyond),
        "still_held": Decimal(total["held"]["cost"]),
    }


def kept(row: dict[str, Any]) -> bool:
    return not any(row[name] for name in ("overspend", "stuck", "unbooked", "unbounded", "still_held"))


async def main() -> int:
    asked = report.options(__doc__)
    rounds, kills = (1, 3) if asked.quick else (5, 6)
    limit = Decimal("0.60")
    with tempfile.TemporaryDirectory(prefix="daimon-budget-") as place:
        found = [await run(Path(place), asked.seed + n, kills, limit) for n in range(rounds)]
    names = ("parked_at_limit", "questions_at_limit", "charged_at_limit", "booked_at_limit", "calls", "kills", "overspend", "stuck")
    report.table(("round", *names), [(n, *(row[name] for name in names)) for n, row in enumerate(found, 1)])
    fields: dict[str, Any] = {
        "turns": TURNS * rounds,
        "overspend": float(max(row["overspend"] for row in found)),
        "stuck": sum(row["stuck"] for row in found),
        "kills": sum(row["kills"] for row in found),
        "calls": sum(row["calls"] for row in found),
        "limit": float(limit),
        "parked_at_limit": sum(row["parked_at_limit"] for row in found),
        "questions_at_limit": max(row["questions_at_limit"] for row in found),
        "unbooked": float(max(row["unbooked"] for row in found)),
        "used_percent": round(100 * float(min(row["charged_at_limit"] for row in found) / limit)),
    }
    is_kept = all(map(kept, found))
    has_met_limit = all(row["parked_at_limit"] for row in found)
    aims = {
        f"the limit was met in every round, with {CALLS} calls a turn": has_met_limit,
        "one question to the owner, not one for each turn": fields["questions_at_limit"] == 1,
    }
    return report.finish(asked, fields, is_kept and has_met_limit, aims)


if __name__ == "__main__":
    raise SystemExit(asyncio.run(main()))
