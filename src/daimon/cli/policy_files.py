"""`daimon policy show`, `check` and `test`. None of them needs a running gateway."""

import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from rich.text import Text

from daimon import config, homes, law, tooling
from daimon.abi.errors import Misconfigured
from daimon.cli import exits, screen
from daimon.policy.cases import Outcome
from daimon.steward.policies import outcomes, strange_tools

if TYPE_CHECKING:
    from daimon.policy.cedar import Statement


def show(given: Path | None, as_json: bool) -> None:
    found, warnings = law.in_force(homes.home_at(given))
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
    home = homes.home_at(given)
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


def _strange_tools(home: homes.Home, statements: "list[Statement]") -> list[str]:
    try:
        known = [manifest.name for manifest in tooling.manifests(config.settings_of(home), home)]
    except Misconfigured:
        return []
    return strange_tools(statements, known)


def test(given: Path | None, as_json: bool) -> None:
    outcomes = tuple(run(homes.home_at(given)))
    failed = [outcome for outcome in outcomes if not outcome.is_met]
    if as_json:
        screen.emit_value({"ok": not failed, "cases": [_as_value(outcome) for outcome in outcomes]})
    else:
        for outcome in failed:
            decided = ", ".join(outcome.ruling.policies) or "no policy permits it"
            screen.say(f"FAILED  {outcome.place}, {outcome.name}: expected {outcome.expect}, found {outcome.ruling.verdict} ({decided})")
        screen.say(f"{len(outcomes) - len(failed)} of {len(outcomes)} cases are as expected")
    sys.exit(exits.FAILED if failed else exits.OK)


def run(home: homes.Home) -> list[Outcome]:
    settings = config.settings_of(home)
    return outcomes(home, settings, tooling.manifests(settings, home), datetime.now(UTC))


def _as_value(outcome: Outcome) -> dict[str, object]:
    return {
        "place": outcome.place,
        "name": outcome.name,
        "ok": outcome.is_met,
        "expect": outcome.expect,
        "found": outcome.ruling.verdict,
        "policies": list(outcome.ruling.policies),
    }
