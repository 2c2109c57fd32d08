"""Claim: through every channel each message arrives once and in order, whatever is killed or breaks; what nobody can know is said.

One real `./daimon up` with all channels, against services on loopback: Telegram's Bot API and Slack's Web API and socket as their
documentation says, mail through a real dovecot, Matrix through a real synapse behind a proxy. It is killed at random moments, and the
services cut lines before and after they act, ask for patience, fail, are slow and are silent (`lab/services/`). What is seen in the
services is compared with what was handed in, and what the journal took in with what people said (`lab/delivered.py`).

A service that cannot run on this machine is left out, and said so. Limits of the services are kept (one message a second to one place of
Telegram and Slack); mail may leave faster than 30 a minute (`per_minute`).
"""

import asyncio
import random
import sys
import tempfile
from pathlib import Path
from typing import Any

from lab import report
from lab.delivered import Delivered, TakenIn
from lab.services.mail import Mail
from lab.services.matrix import Matrix
from lab.services.service import Absent, Service
from lab.services.slack import Slack
from lab.services.telegram import Telegram
from lab.storm import Plan, Storm

FULL = Plan(messages=2_000, places=48, kills=60, most_kills=120, patience_s=660.0)
QUICK = Plan(messages=24, places=8, kills=3, most_kills=5, life_s=4.0, patience_s=45.0, is_patient=False)
SHOWN = 20


async def opened(plan: Plan) -> tuple[list[Service], dict[str, str]]:
    """Those that run, and why the others do not."""
    running: list[Service] = []
    absent: dict[str, str] = {}
    for service in (Telegram(), Slack(), Mail(), Matrix()):
        try:
            await service.open(plan.written, plan.spoken)
        except Absent as why:
            absent[service.name] = str(why)
            continue
        running.append(service)
    return running, absent


def fields(out: Delivered, taken: TakenIn) -> dict[str, int]:
    return {
        "messages": out.messages,
        "lost": len(out.lost),
        "duplicated": len(out.duplicated),
        "out_of_order": len(out.out_of_order),
        "unknown_reported": len(out.unknown),
        "unknown_seen": out.unknown_seen,
        "failed_reported": len(out.failed),
        "misreported": len(out.misreported),
        "inbound": taken.messages,
        "inbound_lost": len(taken.lost),
        "inbound_duplicated": len(taken.duplicated),
        "inbound_out_of_order": len(taken.out_of_order),
    }


def show(name: str, verdict: Delivered | TakenIn) -> None:
    for kind in ("lost", "duplicated", "out_of_order", "misreported", "failed"):
        for fault in getattr(verdict, kind, ())[:SHOWN]:
            print(f"{name}, {kind}: {fault}")


async def judged(storm: Storm) -> tuple[dict[str, Any], bool]:
    """The fields, and whether all was kept."""
    channels, is_kept = {}, True
    out, taken = Delivered(), TakenIn()
    for service in storm.services:
        here, came = await storm.delivered(service), await storm.taken_in(service)
        show(service.name, here)
        show(f"{service.name}, coming in", came)
        channels[service.name] = fields(here, came)
        is_kept &= here.is_kept and came.is_kept and len(here.unknown) <= storm.doubts(service)
        out.add(here)
        taken.add(came)
    return {**fields(out, taken), "channels": channels}, is_kept


async def main() -> int:
    asked = report.options(__doc__)
    plan = QUICK if asked.quick else FULL
    services, absent = await opened(plan)
    with tempfile.TemporaryDirectory(prefix="daimon-delivery-") as place:
        storm = Storm(Path(place) / "a", services, random.Random(asked.seed), plan)
        try:
            await storm.open()
            await storm.rage()
            await storm.calm()
            found, is_kept = await judged(storm)
        finally:
            await storm.close()
            for service in services:
                await service.close()
    for line in storm.unrest:
        print(f"NOT AT REST: {line}")
    for name, why in absent.items():
        print(f"{name}: NOT TRIED: {why}")
    report.table(("trouble", "times"), [(f"{name}, {what}", n) for name, each in storm.troubles.items() for what, n in each.most_common()])
    head = list(next(iter(found["channels"].values())))
    report.table(("", *found["channels"]), [(name, *(each[name] for each in found["channels"].values())) for name in head])
    counted = {**found, "kills": storm.kills, "troubles": sum(each.total() for each in storm.troubles.values()), "absent": sorted(absent)}
    return report.finish(asked, counted, is_kept)


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
