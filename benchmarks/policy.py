"""Claim: judging a call takes less than a millisecond, 99 times of 100, with the owner's policies and standing grants in force.

A mix as a busy day has it: mostly reads, some notes, mails on a clean context, mails after a web page was read, an agent that is a
reader, payments that no grant covers; with the shipped policies, twenty of the owner's and fifty grants. Every call goes through
`Judge.judge`, as the gate calls it. Beside it runs the least that a gate could do: one look into a dict of verdicts made beforehand.

    decisions_per_s   one after the other, on one core
    p99_ms            of one decision
    cpu_ms            processor time of one decision, on average: what is left when others do not take the core away
    first_ms          the first decision of a process: the engine is loaded and the policies are read
    ratio_dict        how many times dearer than the look into the dict
    rss_mb            what the engine and the policies add to the process
"""

import random
import time
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from lab import report

from daimon.abi.ids import HOME_SPACE, OWNER, SELF, AgentId, Conversation, Key
from daimon.abi.judgement import Gate, Grant, Situation
from daimon.abi.label import Author, Label, Origin, owned
from daimon.abi.tool import Call, Capability, Effect, Manifest
from daimon.config import Agent, Settings
from daimon.law import agents_of, rules_of
from daimon.policy.judge import Judge

AIM_P99_MS = 1.0
FORBID = (
    '@id("own.{n}")\nforbid (principal, action, resource == Tool::"tool_{n}") when {{ context.destinations.contains("host{n}.org") }};\n'
)
OWN = {"own.cedar": "".join(FORBID.format(n=n) for n in range(20))}
STRANGE = Label.of(*owned("chat").origins, Origin(Author.STRANGER, "web:example.org"))
MIX = (
    ("recall", owned("chat"), SELF),
    ("fetch", STRANGE, SELF),
    ("remember", owned("chat"), SELF),
    ("mail", owned("chat"), SELF),
    ("mail", STRANGE, SELF),
    ("pay", STRANGE, SELF),
    ("mail", owned("chat"), AgentId("scout")),
    ("fetch", STRANGE, AgentId("scout")),
)


def manifest(name: str, *capabilities: Capability) -> Manifest:
    return Manifest(name=name, description=name, parameters={}, effect=Effect.UNSAFE, capabilities=capabilities)


TOOLS = {
    made.name: made
    for made in (
        manifest("recall", Capability.READS_PRIVATE),
        manifest("fetch", Capability.READS_OUTSIDE),
        manifest("remember", Capability.WRITES),
        manifest("mail", Capability.SENDS),
        manifest("pay", Capability.SPENDS),
    )
}


def calls(chance: random.Random, number: int) -> list[tuple[Manifest, Situation]]:
    now, here = datetime.now(UTC), Conversation(HOME_SPACE, "main")
    grants = tuple(Grant(f"g{n}", SELF, (Capability.SPENDS,), "pay", destinations=(f"shop{n}.org",)) for n in range(50))
    bases = []
    for tool, label, agent in MIX:
        call = Call(Key("t:0"), HOME_SPACE, OWNER, agent, here, None, now, label)
        bases.append((TOOLS[tool], Situation(call, grants=grants)))
    picked = [chance.choice(bases) for _ in range(number)]
    return [(tool, replace(base, call=replace(base.call, key=Key(f"t:{n}")))) for n, (tool, base) in enumerate(picked)]


def timed(judge: Judge, asked: list[tuple[Manifest, Situation]]) -> list[float]:
    took = []
    for tool, situation in asked:
        begun = time.perf_counter()
        judge.judge(tool, {"text": "hello"}, situation)
        took.append(time.perf_counter() - begun)
    return took


def looked_up(asked: list[tuple[Manifest, Situation]]) -> float:
    """Seconds for one look into a dict of verdicts, as if all had been decided before."""
    table = {(tool, agent): Gate("allow") for tool in TOOLS for agent in (SELF, AgentId("scout"))}
    begun = time.perf_counter()
    for tool, situation in asked:
        table[tool.name, situation.call.agent]
    return (time.perf_counter() - begun) / len(asked)


def rss_mb() -> float:
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096 / 1e6


def main() -> int:
    asked = report.options(__doc__)
    number = 5_000 if asked.quick else 50_000
    mix = calls(random.Random(asked.seed), number)
    before = rss_mb()
    settings = Settings(agents={"daimon": Agent(may_hold_all=True), "scout": Agent(role="reader")})
    judge = Judge(rules_of(OWN), agents_of(settings, tuple(TOOLS.values())))
    [first] = timed(judge, mix[:1])
    timed(judge, mix[: number // 10])
    grown = rss_mb() - before
    begun = time.thread_time()
    took = timed(judge, mix)
    cpu_ms = (time.thread_time() - begun) / len(took) * 1e3
    verdicts = [judge.judge(tool, {}, situation).verdict for tool, situation in mix[:1_000]]
    report.table(("verdict", "of 1,000"), [(verdict, verdicts.count(verdict)) for verdict in ("allow", "ask", "deny")])
    fields = {
        "decisions_per_s": round(len(took) / sum(took)),
        "p50_ms": round(report.median(took) * 1e3, 4),
        "p99_ms": round(report.percentile(took, 0.99) * 1e3, 4),
        "cpu_ms": round(cpu_ms, 4),
        "first_ms": round(first * 1e3, 1),
        "ratio_dict": round(sum(took) / len(took) / looked_up(mix)),
        "rss_mb": round(grown, 1),
    }
    return report.finish(asked, fields, aims={f"99 of 100 within {AIM_P99_MS:g} ms": fields["p99_ms"] < AIM_P99_MS})


if __name__ == "__main__":
    raise SystemExit(main())
