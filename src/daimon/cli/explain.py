"""`daimon policy explain`: why a call was allowed, asked or denied, and what would become of another."""

import asyncio
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from daimon import config, homes, law, tooling
from daimon.abi.codec import encode
from daimon.abi.errors import BadInput, NotFound
from daimon.abi.ids import HOME_SPACE, StepRef
from daimon.abi.judgement import Gate, Grant
from daimon.abi.step import Intended
from daimon.cli import screen
from daimon.cli.look import find
from daimon.cli.reach import source
from daimon.policy.cases import Case, World

VERDICTS = {
    "allow": "allowed: it ran without a question",
    "ask": "asked: it ran only if the owner said yes",
    "deny": "denied",
    "invalid": "not judged: it did not fit the tool",
}
SHOWN = {
    "owner": "the owner's words",
    "store": "a trusted store",
    "named": "what the owner named",
    "plan": "the plan",
    "grant": "a grant",
    "own": "the agent's own making",
    "untrusted": "untrusted text",
    "unknown": "nothing that is known",
}


def recorded(given: Path | None, step: str, as_json: bool) -> None:
    home = homes.home_at(given)
    intended, grants = asyncio.run(_intended(home, step))
    gate, (rules, _) = intended.gate, law.in_force(home)
    says = {id_: rules.says(id_, grants) for id_ in gate.rules}
    if as_json:
        screen.emit(b'{"tool":%s,"gate":%s,"says":%s}' % (encode(str, intended.tool), encode(Gate, gate), encode(dict[str, str], says)))
        return
    rows = (("call", intended.tool), ("verdict", VERDICTS[gate.verdict]), *_reasons(gate), *_policies(says))
    screen.out().print(screen.facts(rows))
    if gate.version != rules.version:
        screen.remark(f"judged by policies of version {gate.version or '-'}; today it is {rules.version}, and the sentences are today's")


async def _intended(home: homes.Home, text: str) -> tuple[Intended, tuple[Grant, ...]]:
    """The call, and every grant that ever was."""
    turn, _, number = text.rpartition(":")
    try:
        n = StepRef.parse(text).n
    except ValueError as bad:
        raise BadInput(str(bad)) from None
    async with source(home) as journal:
        found = await find(journal, turn)
        calls = {step.n: step.body for step in await journal.steps(found.id) if isinstance(step.body, Intended)}
        grants = tuple(each.grant for each in await journal.given(HOME_SPACE))
    if n not in calls:
        made = f"its tool calls are {', '.join(map(str, calls))}" if calls else "this turn called no tool"
        raise NotFound(f"step {number} of {found.id} is no tool call; {made}")
    return calls[n], grants


def _reasons(gate: Gate) -> tuple[tuple[str, str], ...]:
    return (
        *((("reason", gate.reason),) if gate.reason else ()),
        *((("stands on", gate.by),) if gate.by else ()),
        *((f"{p.argument} ({p.role})", f"{p.value!r}: {SHOWN[p.shown]}{f' ({p.note})' if p.note else ''}") for p in gate.provenance),
    )


def _policies(says: dict[str, str]) -> tuple[tuple[str, str], ...]:
    return tuple((f"policy {id_}", words or "it says nothing of itself (@says), or is no longer there") for id_, words in says.items())


def supposed(given: Path | None, asked: dict[str, Any], as_json: bool) -> None:
    home = homes.home_at(given)
    try:
        case = Case.model_validate(asked)
    except ValidationError as bad:
        first = bad.errors(include_url=False)[0]
        raise BadInput(f"{first['loc'][0]}: {first['msg']}, found {first['input']!r:.80}") from None
    settings, (rules, _) = config.settings_of(home), law.in_force(home)
    manifests = tooling.manifests(settings, home)
    ruling = World(rules, law.agents_of(settings, manifests), manifests, datetime.now(UTC)).decide(case)
    says = {id_: rules.says(id_) for id_ in ruling.policies}
    if as_json:
        screen.emit_value({"verdict": ruling.verdict, "policies": list(ruling.policies), "says": says, "version": ruling.version})
        return
    verdict = {"allow": "would be allowed", "ask": "would be asked", "deny": "would be denied: no policy permits it"}[ruling.verdict]
    if ruling.verdict == "deny" and ruling.policies:
        verdict = "would be denied: a policy forbids it"
    screen.out().print(screen.facts((("verdict", verdict), *_policies(says))))
