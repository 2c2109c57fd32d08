"""Claim: whatever a provider does, nothing crashes, hangs, is lost or happens twice, and the trace says what was wrong.

Every fault that the provider server knows, and a few more, at every shape of API and every client class that speaks it. Each case is a
whole Daimon with a gateway of its own against a provider on loopback, over real sockets. A fault is tried

    once      it goes wrong at the first call, then never again
    always    it goes wrong at every call
    stand-in  it goes wrong at every call of the first model, and a second one stands by

and what became of the turn is read from its trace. `lab/handling.py` says which outcomes there are and what else is looked at: that every
request is in the trace, every reservation settled, no half call run, no half reply shown, no key written down; that a question names the
remedy and a pause its end; that the turn ends well when the owner has answered.
"""

import asyncio
import os
import sys
import tempfile
import traceback
from collections import Counter
from pathlib import Path

from lab import report
from lab.encounter import Case, meet
from lab.handling import UNHANDLED, Handling, judge
from lab.trouble import LONG, Way, troubles

from daimon.testing.provider.faults import FAULTS

SHAPES = ("compatible", "anthropic", "google")
CLIENTS = (*SHAPES, "openai", "deepseek", "openrouter", "ollama")
"""Of one shape, but other classes of the library speak for them, or with other settings."""
WAYS: tuple[Way, ...] = ("once", "always", "stand-in")
AT_ONCE = 16
LONGEST_S = 150.0


def plan(is_quick: bool) -> list[Case]:
    """A trouble that goes on is handled by the kernel, so it is tried with one client of each shape only."""
    known = troubles(FAULTS) | ({} if is_quick else LONG)
    tried: dict[Way, tuple[str, ...]] = {"once": CLIENTS, "always": SHAPES, "stand-in": SHAPES}
    if is_quick:
        tried = {"once": SHAPES, "always": SHAPES[:1], "stand-in": SHAPES[:1]}
    cases = [
        Case(name, trouble, vendor, way)
        for way, vendors in tried.items()
        for name, trouble in known.items()
        for vendor in vendors
        if trouble.outcomes(way)
    ]
    return sorted(cases, key=lambda case: not case.trouble.is_slept_over)  # what takes longest begins first


async def run(case: Case, place: Path, slots: asyncio.Semaphore) -> Handling:
    async with slots:
        try:
            async with asyncio.timeout(LONGEST_S):
                return judge(case, await meet(case, place))
        except Exception as broken:  # noqa: BLE001 - a case that cannot be run has failed, and the others go on
            where = "".join(traceback.format_exception(broken)[-3:])
            return Handling(case, UNHANDLED, [f"{type(broken).__name__}: {broken}\n{where}"])


def show(found: list[Handling]) -> None:
    words = {(each.case.way, each.case.name, each.case.vendor): each.word for each in found}
    for way in WAYS:
        names, vendors = (list(dict.fromkeys(key[n] for key in words if key[0] == way)) for n in (1, 2))
        if names:
            report.table((way, *vendors), [(name, *(words[way, name, vendor] for vendor in vendors)) for name in names])


async def main() -> int:
    asked = report.options(__doc__)
    os.umask(0o077)  # many start and end in this one process, and each puts back what it found
    planned = plan(asked.quick)
    slots = asyncio.Semaphore(AT_ONCE)
    with tempfile.TemporaryDirectory(prefix="daimon-providers-") as place:
        found = await asyncio.gather(*(run(case, Path(place) / str(n), slots) for n, case in enumerate(planned)))
    show(found)
    broken = [each for each in found if each.problems]
    for each in broken:
        for problem in each.problems:
            print(f"{each.case.name} × {each.case.vendor}, {each.case.way}: {problem}")
    counts = Counter(each.outcome for each in found if not each.problems)
    print(f"unhandled: {len(broken)}\n")
    fields = {"cases": len(found), "unhandled": len(broken), **{word.replace(" ", "_"): n for word, n in sorted(counts.items())}}
    return report.finish(asked, fields, not broken)


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
