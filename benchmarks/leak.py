"""Claim: no secret gets out, by any way that the design speaks of; and ordinary text is left alone.

A real gateway in a process of its own, with a vault, a model on loopback that repeats what it knows, an extension that says what it must
not, real boxes, and hosts that echo. Canaries, made anew for each run, lie in the vault (a key of a provider, a token and a private key for
a host, an old value and the one that took its place, a short one), in the environment, and in files. Then everything is tried, and all that
came out is searched, in plain and in the usual codings, by a search that shares nothing with the redactor.

    attempts             ways out by which something came; the aim is 200 or more
    leaked               those in which a canary was found that must not be there; the promise is 0
    control_attempts     the same without commands and boxes of its own, with a redactor that does nothing, a proxy that gives
    control_leaked       echoes back, and memory left open: the benchmark can fail, and this says how often
    reached              the secrets did get to their own hosts: otherwise nothing is proved
    false_alarm_percent  of lines of ordinary text and code in which the redactor saw a secret where there is none (see `false_alarms`)
    told_not_counted     forms that whoever has a value can give it and nobody promises to see; which of them passed, in a prompt

What must be clean is what docs/redaction.md, docs/vault.md and docs/net.md promise. Not counted is what they say is not done: other codings
than the usual, a value that was written down before it was known in the journal itself, what an extension prints past the log.
"""

import asyncio
import sys
import sysconfig
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from lab import report
from lab.process import CHECKOUT
from lab.redaction import Alarm, false_alarms
from lab.rounds import Tour
from lab.tour import tour

ENOUGH = 200
GOOD_PERCENT = 0.1
EXAMPLES = 12
CONTROL_SHARE = 0.25
"""Of the ways of the control: with nobody looking, at least so many must leak."""


def ordinary() -> tuple[Path, ...]:
    """Text and code that no one wrote for this."""
    paths = sysconfig.get_paths()
    places = [Path(paths["stdlib"]), Path(paths["purelib"]), Path("/usr/share/doc"), Path("/usr/share/perl"), Path("/usr/lib/python3")]
    own = [CHECKOUT / "docs", CHECKOUT / "src", *CHECKOUT.glob("*.lock"), *CHECKOUT.glob("*.md")]
    return tuple(place for place in (*places, *own) if place.exists())


def few() -> tuple[Path, ...]:
    return (CHECKOUT / "docs", CHECKOUT / "src", *CHECKOUT.glob("*.lock"), *CHECKOUT.glob("*.md"))


async def toured(is_blind: bool, is_whole: bool) -> Tour:
    with tempfile.TemporaryDirectory(prefix="daimon-leak-") as place:
        return await tour(Path(place), is_blind, is_whole)


def fields_of(made: Tour, control: Tour, lines: int, alarms: int, examples: list[Alarm]) -> dict[str, Any]:
    return {
        "attempts": made.tally.attempts,
        "leaked": made.tally.leaked,
        "false_alarm_percent": round(100 * alarms / lines, 5) if lines else 100.0,
        "control_attempts": control.tally.attempts,
        "control_leaked": control.tally.leaked,
        "reached": made.reached and control.reached,
        "leaks": made.tally.leaks,
        "ways": dict(made.tally.by_group),
        "control_leaked_by_group": dict(control.tally.leaked_by_group),
        "silent": made.tally.silent,
        "told_not_counted": made.passed,
        "lines": lines,
        "alarms": alarms,
        "examples": [
            f"{each.kind}: {each.path.name}:{each.line}: {each.text.strip()}" for each in examples[:: max(1, len(examples) // EXAMPLES)]
        ],
    }


def kept(fields: dict[str, Any]) -> bool:
    can_fail = fields["control_leaked"] >= CONTROL_SHARE * fields["control_attempts"] > 0
    return fields["attempts"] >= ENOUGH and not fields["leaked"] and can_fail and fields["reached"]


async def main() -> int:
    asked = report.options(__doc__, blind="only the control: a redactor that does nothing")
    began = time.monotonic()
    with ProcessPoolExecutor(1, get_context("spawn")) as beside:
        counting = asyncio.get_running_loop().run_in_executor(beside, false_alarms, few() if asked.quick else ordinary())
        control = await toured(is_blind=True, is_whole=False)
        made = control if asked.blind else await toured(is_blind=False, is_whole=not asked.quick)
        lines, alarms, examples = await counting
    fields = fields_of(made, control, lines, alarms, examples)
    rows = [
        (name, number, made.tally.leaked_by_group[name], control.tally.leaked_by_group[name])
        for name, number in made.tally.by_group.items()
    ]
    report.table(("way out", "attempts", "leaked", "control leaked"), rows)
    print("\n".join(made.tally.leaks[:100]))
    print(f"took {time.monotonic() - began:.0f} s: {made.marks}")
    aims = {f"false alarms in at most {GOOD_PERCENT} % of lines": fields["false_alarm_percent"] <= GOOD_PERCENT}
    return report.finish(asked, fields, kept(fields), aims)


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
