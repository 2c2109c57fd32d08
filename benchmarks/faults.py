"""Claim: whatever goes wrong around it, nothing that was accepted is lost, and it says what is wrong.

Each case starts the real `./daimon up`, makes one thing go wrong, and looks afterwards whether everything that was acknowledged is
there, finished and answered. Cases run side by side; most of their time is waiting.
"""

import asyncio
import sys
import tempfile
import traceback
from pathlib import Path

from lab import damage, disturbance, report, storage
from lab.case import Case, Lab, Result
from lab.world import Remote

CASES: tuple[Case, ...] = (
    storage.power_cut_of_a_journal,
    storage.power_cut_under_load,
    storage.write_error,
    storage.sync_error,
    storage.no_space_at_write,
    storage.no_space_at_sync,
    storage.full_disk,
    damage.damaged,
    damage.read_only,
    disturbance.clock_ahead,
    disturbance.clock_behind,
    disturbance.two_instances,
    disturbance.frozen,
    disturbance.drained,
    disturbance.silent_model,
    disturbance.hanging_tool,
)
AT_ONCE = 4
LONGEST_S = 240.0


async def run(case: Case, lab: Lab, slots: asyncio.Semaphore) -> Result:
    async with slots:
        try:
            async with asyncio.timeout(LONGEST_S):
                return await case(lab)
        except Exception as broken:  # noqa: BLE001 - a case that cannot be run has failed, and the others go on
            where = "".join(traceback.format_exception(broken)[-2:])
            return Result(case.__name__, problems=[f"{type(broken).__name__}: {broken}\n{where}"])


async def main() -> int:
    asked = report.options(__doc__)
    world = await Remote.start()
    slots = asyncio.Semaphore(AT_ONCE)
    with tempfile.TemporaryDirectory(prefix="daimon-faults-") as place:
        lab = Lab(Path(place), world, asked.quick, asked.seed)
        try:
            results = await asyncio.gather(*(run(case, lab, slots) for case in CASES))
        finally:
            await world.close()
    rows = [(r.name, r.faults, f"{r.present}/{r.accepted}", "FAILED" if r.has_failed else "ok", r.note) for r in results]
    report.table(("fault", "times", "present/accepted", "", "what happened"), rows)
    for result in results:
        for problem in result.problems[:8]:
            print(f"{result.name}: {problem}")
    failed = sum(result.has_failed for result in results)
    fields = {
        "faults": sum(result.faults for result in results),
        "failed": failed,
        "accepted": sum(result.accepted for result in results),
        "present": sum(result.present for result in results),
    }
    return report.finish(asked, fields, not failed)


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
