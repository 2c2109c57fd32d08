"""Claim: a recorded step costs less than three times a bare write of the same bytes, and is ten times cheaper than with LangGraph or DBOS.

Four contestants record steps of a kilobyte, each in a process of its own, in turns, several times; medians count. All write to
SQLite in WAL mode with synchronous=FULL, so a step that has returned is on disk. The main figure has 16 conversations at once, as
the kernel has by default; one alone is shown beside it.

    floor      a thread, a queue, one INSERT a step, commits in groups: the least that keeps the promise
    daimon     journal.record of one step, under a claim that is held
    langgraph  AsyncSqliteSaver: what its loop calls for one step, without the loop
    dbos       one async step of a workflow, its start and end not counted
"""

import asyncio
import sys
import tempfile
from pathlib import Path

from lab import peers, report
from lab.bout import Contestant

CONVERSATIONS = 16
OURS = {"floor": "lab.ground", "daimon": "lab.record"}
PEERS = {"langgraph": "lab.peer_langgraph", "dbos": "lab.peer_dbos"}
AIM_FLOOR, AIM_PEERS = 3.0, 10.0


async def enter(place: Path) -> tuple[list[Contestant], dict[str, str]]:
    """Who takes part, and why others do not."""
    entered = [await Contestant.start(name, sys.executable, module, place) for name, module in OURS.items()]
    absent = {}
    try:
        python = peers.python()
    except peers.Missing as missing:
        return entered, dict.fromkeys(PEERS, str(missing))
    for name, module in PEERS.items():
        try:
            entered.append(await Contestant.start(name, python, module, place))
        except RuntimeError as broken:
            absent[name] = str(broken)
    return entered, absent


async def compete(entered: list[Contestant], times: int, steps: int) -> dict[str, dict[int, list[float]]]:
    """Microseconds a step, by contestant and conversations. The first round only warms up."""
    found: dict[str, dict[int, list[float]]] = {each.name: {1: [], CONVERSATIONS: []} for each in entered}
    for n in range(times + 1):
        for conversations in (1, CONVERSATIONS):
            for each in entered:
                fewer = 8 if each.name in PEERS else 1  # they are slow, and need no more for a steady figure
                took = await each.step_us(conversations, steps // fewer)
                if n:
                    found[each.name][conversations].append(took)
    return found


async def main() -> int:
    asked = report.options(__doc__)
    times, steps = (5, 200) if asked.quick else (15, 400)
    with tempfile.TemporaryDirectory(prefix="daimon-step-") as place:
        entered, absent = await enter(Path(place))
        try:
            found = await compete(entered, times, steps)
        finally:
            for each in entered:
                await each.close()
    rows = [
        (name, *(round(report.median(by[n]), 1) for n in (CONVERSATIONS, 1)), round(min(by[CONVERSATIONS]), 1))
        for name, by in found.items()
    ]
    report.table(("us a step", f"{CONVERSATIONS} at once", "alone", f"best of {CONVERSATIONS}"), rows)
    for name, why in absent.items():
        print(f"{name} takes no part: {why}")
    fields = {
        "daimon_us": round(report.median(found["daimon"][CONVERSATIONS]), 1),
        "floor_us": round(report.median(found["floor"][CONVERSATIONS]), 1),
        "ratio_floor": ratio(found, "daimon", "floor"),
        "ratio_langgraph": ratio(found, "langgraph", "daimon"),
        "ratio_dbos": ratio(found, "dbos", "daimon"),
        "ratio_floor_alone": ratio(found, "daimon", "floor", 1),
    }
    aims = {f"less than {AIM_FLOOR:g} times the floor": fields["ratio_floor"] < AIM_FLOOR}
    aims |= {f"{AIM_PEERS:g} times faster than {name}": fields[f"ratio_{name}"] >= AIM_PEERS for name in PEERS if name not in absent}
    return report.finish(asked, fields, aims=aims)


def ratio(found: dict[str, dict[int, list[float]]], one: str, other: str, conversations: int = CONVERSATIONS) -> float | None:
    """How many times dearer one is than the other: the median over rounds, since both meet the same noise in one round."""
    if one not in found or other not in found:
        return None
    pairs = zip(found[one][conversations], found[other][conversations], strict=True)
    return round(report.median([a / b for a, b in pairs]), 2)


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
