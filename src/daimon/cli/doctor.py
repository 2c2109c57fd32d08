"""What `daimon doctor` does: the findings, one a line, what is wrong with what to do about it."""

import asyncio
from pathlib import Path

from rich.text import Text

from daimon import homes
from daimon.abi.cleaning import cleaned
from daimon.abi.plain import clean
from daimon.cli import exits, screen
from daimon.doctor import memory
from daimon.doctor.examination import examined
from daimon.doctor.finding import Finding, worst

STYLES = {"ok": "green", "note": "", "warning": "yellow", "error": "red"}


def show(given: Path | None, everything: bool, as_json: bool) -> None:
    home = homes.home_at(given)
    is_shown = not as_json and screen.hint(f"looking at {home.path} …")
    findings = asyncio.run(examined(home, everything=everything))
    if is_shown:
        screen.take_back()
    is_ok = worst(findings) in ("ok", "note")
    if as_json:
        screen.emit_value({"ok": is_ok, "findings": [_plain(cleaned(each, clean)) for each in findings]})
    else:
        _print(findings)
    if not is_ok:
        raise SystemExit(exits.FAILED)


def rebuild_memory(given: Path | None, as_json: bool) -> None:
    done = memory.set_memory_aside(homes.home_at(given))
    if as_json:
        screen.emit_value({"did": done})
    else:
        screen.say(done)


def _print(findings: tuple[Finding, ...]) -> None:
    rows = screen.table("", "", "")
    rows.show_header = False
    for each in findings:
        text = Text(screen.plain(each.what))
        if each.todo:
            text.append(f"\n→ {screen.plain(each.todo)}", "bold" if each.severity in ("warning", "error") else "dim")
        rows.add_row(Text(each.severity, STYLES[each.severity]), each.area, text)
    screen.out().print(rows)
    faults = sum(each.severity in ("warning", "error") for each in findings)
    screen.remark("all is well" if not faults else f"{faults} to look at")


def _plain(finding: Finding) -> dict[str, object]:
    return {"severity": finding.severity, "area": finding.area, "what": finding.what, "todo": finding.todo}
