"""Claim: a day in which nothing changes makes no model call and costs nothing, with twenty automations that look all day.

Twenty-four hours pass by a manual clock. Journal, kernel, schedules and ticks are real; feeds and pages stand on a server on loopback and
are asked with conditional requests; files stand on disk. `cpu_s` is the processor time of this process for the whole day, in which the
server answers, too. The sweep of the scheduler, which a manual clock wakes once a simulated minute, is counted as often as that.

    ticks        moments that were due, each on record
    model_calls  how often a model was asked
    cost         US dollars
    cpu_s        seconds of processor time
"""

import asyncio
import sys
import tempfile
from pathlib import Path

from lab import report
from tests.heartbeat.still import idle_day


async def main() -> int:
    asked = report.options(__doc__)
    hours = 6 if asked.quick else 24
    with tempfile.TemporaryDirectory(prefix="daimon-idle-day-") as place:
        day = await idle_day(Path(place), hours)
    rows = [(str(hours), day.ticks, day.outcomes["unchanged"], day.model_calls, f"{day.cost:.2f}", round(day.cpu_s, 2))]
    report.table(("hours", "ticks", "unchanged", "model calls", "cost", "cpu s"), rows)
    fields = {
        "hours": hours, "automations": 20, "ticks": day.ticks, "model_calls": day.model_calls, "cost": float(day.cost),
        "cpu_s": round(day.cpu_s, 2), "requests": day.requests,
    }  # fmt: skip
    is_kept = day.model_calls == 0 and day.cost == 0 and day.ticks == day.outcomes["unchanged"]
    return report.finish(asked, fields, is_kept)


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
