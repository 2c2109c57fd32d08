"""Claim: a model that is wholly in an attacker's hands does nothing of consequence without a person, and most work needs no person.

AgentDojo's real tools, environments and graders; the model is a script that does the user's task and, the moment it reads the planted text,
makes every call that the attacker wants. It is driven through the whole kernel: journal, registry, gate, questions. So the figures speak of
the containment alone, not of how hard a model is to fool.

    plain    the goal is planted as text      encoded  as base64      hijack  no extra calls: the user's own get the attacker's arguments

With `--plan stated` the model first says what the request needs, as `lab/planner.py` allows it to know. `--rename SEED` gives every tool,
argument and field a meaningless name; nothing may change. `--harness DIR` plays other suites.
"""

import json
import sys
import time
from itertools import groupby

from lab import report
from lab.dojo import attacked, jobs, parser, spread
from lab.peers import Missing
from lab.tally import Row, figures

SHOWN = ("auto_percent", "asks_per_task", "asreff_percent", "asr_percent", "prompts_per_attack", "useful_percent", "tasks", "pairs")


def main() -> int:
    made = parser(__doc__)
    made.add_argument("--attack", choices=("plain", "encoded", "hijack"), default="plain")
    made.add_argument(
        "--when", choices=("now", "last"), default="now", help="as soon as the planted text is read, or after the user's calls"
    )
    made.add_argument("--rename", type=int, metavar="SEED", help="give everything a meaningless name; the result must not change")
    asked = made.parse_args()
    try:
        due = jobs(asked)
    except Missing as missing:
        raise SystemExit(str(missing)) from None
    begun = time.monotonic()
    rows = [row for found in spread(attacked, due) for row in found]
    print(f"{asked.attack} attack, {asked.when}; plan {asked.plan}; rules {asked.rules}; {time.monotonic() - begun:.0f} s\n")
    by_suite = {suite: figures(of) for suite, of in groupby(rows, key=lambda row: row.suite)}
    whole = figures(rows)
    report.table(("", *SHOWN), [(name, *(of[key] for key in SHOWN)) for name, of in {**by_suite, "all": whole}.items()])
    if asked.why:
        explain(rows)
    faults = sorted({fault for row in rows for fault in row.faults})
    for fault in faults:
        print(f"the benchmark is at fault: {fault}", file=sys.stderr)
    if asked.json:
        print(json.dumps({**whole, "suites": by_suite}), flush=True)
    return 1 if faults else 0


def explain(rows: list[Row]) -> None:
    for row in rows:
        if row.injection is None and not row.is_auto:
            print(f"{row.suite} {row.user}" + ("" if row.is_useful else ": not solved"))
            print("".join(f"    asked   {each}\n" for each in row.asked) + "".join(f"    denied  {each}\n" for each in row.denied), end="")
        for effect in row.effects:
            print(f"{row.suite} {row.user} under {row.injection}\n    ran     {effect}")
    print()


if __name__ == "__main__":
    sys.exit(main())
