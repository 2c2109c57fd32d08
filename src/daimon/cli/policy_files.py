"""`daimon policy show`, `check` and `test`. None of them needs a running gateway."""

import difflib
import re
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from rich.text import Text

from daimon import boot, config, law
from daimon.abi.errors import Misconfigured
from daimon.cli import exits, screen
from daimon.policy.cases import Outcome, World
from daimon.policy.source import Source

if TYPE_CHECKING:
    from daimon.policy.cedar import Statement

TOOL = re.compile(r'\bTool::"([^"\\]*)"')


def show(given: Path | None, as_json: bool) -> None:
    found, warnings = law.in_force(config.home_at(given))
    statements = found.statements
    if as_json:
        told = [{"id": s.id, "effect": s.effect, "says": s.says, "place": s.place, "text": s.text} for s in statements]
        screen.emit_value({"version": found.version, "warnings": list(warnings), "policies": told})
        return
    rows = screen.table("policy", "effect", "what it says", "from")
    for each in statements:
        rows.add_row(*(Text(screen.plain(cell)) for cell in (each.id, each.effect, each.says or "-", each.place)))
    screen.out().print(rows)
    screen.remark(f"version {found.version}; what no policy permits is denied")
    for warning in warnings:
        screen.remark(warning, "yellow")


def check(given: Path | None, files: list[Path], as_json: bool) -> None:
    home = config.home_at(given)
    texts = law.texts_of(files) if files else law.texts_in(home)
    rules = law.rules_of(texts)
    rules.check()
    warnings = _strange_tools(home, [each for each in rules.statements if each.place.rpartition(":")[0] in texts])
    if as_json:
        told = {"ok": True, "files": list(texts), "policies": len(rules.statements), "version": rules.version, "warnings": warnings}
        screen.emit_value(told)
    else:
        names = ", ".join(texts) or f"{home.policies} holds no policies, so only those that come with Daimon count: they"
        screen.say(f"{names} {'is' if len(texts) == 1 else 'are'} good ({len(rules.statements)} policies in all, version {rules.version})")
        for warning in warnings:
            screen.remark(warning, "yellow")


def _strange_tools(home: config.Home, statements: "list[Statement]") -> list[str]:
    """A policy may speak of a tool that will come; one that is misspelt never counts, and a forbid then closes nothing."""
    try:
        known = [manifest.name for manifest in boot.manifests(boot.settings_of(home), home)]
    except Misconfigured:
        return []
    told = []
    for each in statements:
        for name in dict.fromkeys(TOOL.findall(each.text)):
            if name not in known:
                near = difflib.get_close_matches(name, known, 1)
                told.append(f"{each.place}: no tool is called {name!r}" + (f"; did you mean {near[0]!r}?" if near else ""))
    return told


def test(given: Path | None, as_json: bool) -> None:
    outcomes = tuple(run(config.home_at(given)))
    failed = [outcome for outcome in outcomes if not outcome.is_met]
    if as_json:
        screen.emit_value({"ok": not failed, "cases": [_as_value(outcome) for outcome in outcomes]})
    else:
        for outcome in failed:
            decided = ", ".join(outcome.ruling.policies) or "no policy permits it"
            screen.say(f"FAILED  {outcome.place}, {outcome.name}: expected {outcome.expect}, found {outcome.ruling.verdict} ({decided})")
        screen.say(f"{len(outcomes) - len(failed)} of {len(outcomes)} cases are as expected")
    sys.exit(exits.FAILED if failed else exits.OK)


def run(home: config.Home) -> list[Outcome]:
    """Those of the package against the package's policies, the owner's against all."""
    settings = boot.settings_of(home)
    manifests = boot.manifests(settings, home)
    agents, now = law.agents_of(settings, manifests), datetime.now(UTC)
    shipped = World(law.rules_of({}), agents, manifests, now)
    outcomes = list(shipped.run(Source(law.SHIPPED_TESTS, law.shipped_tests())))
    own = law.rules_of(law.texts_in(home))
    own.check()
    for name, text in law.tests_in(home).items():
        outcomes += World(own, agents, manifests, now).run(Source(name, text))
    return outcomes


def _as_value(outcome: Outcome) -> dict[str, object]:
    return {
        "place": outcome.place,
        "name": outcome.name,
        "ok": outcome.is_met,
        "expect": outcome.expect,
        "found": outcome.ruling.verdict,
        "policies": list(outcome.ruling.policies),
    }
