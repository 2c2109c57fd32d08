"""The tools, and what decides on each call of one: schema, floor, policy, limits."""

from collections.abc import Iterable
from contextlib import AsyncExitStack
from dataclasses import dataclass

from daimon import config, daybook, law
from daimon.abi.ids import AgentId, PrincipalId
from daimon.abi.tool import Manifest, Tool
from daimon.boot.ground import Ground
from daimon.boot.knowledge import Knowledge
from daimon.boot.workplace import Workplace
from daimon.context.reread import Reread
from daimon.kernel.dispatch import Dispatch
from daimon.kernel.held import Holding
from daimon.kernel.limiter import LocalLimiter
from daimon.kernel.printing import Printer
from daimon.kernel.roster import Roster
from daimon.mind import REFLEX
from daimon.policy.judge import Judge
from daimon.policy.ranks import Ranks
from daimon.tooling import Served, registry_of
from daimon.tools.registry import Registry


@dataclass(frozen=True, slots=True)
class Gatehouse:
    served: Served
    registry: Registry
    laws: law.Law
    roster: Roster
    judge: Judge
    dispatch: Dispatch

    def put(self, group: str, tools: Iterable[Tool], settings: config.Settings) -> None:
        """These are the tools of a group from now on. Raises Misconfigured, and then all is as it was."""
        self.registry.put(group, tools)
        self.judge.change(self.judge.rules, law.agents_of(settings, self.registry.manifests()))


async def open_gate(stack: AsyncExitStack, ground: Ground, knowledge: Knowledge, workplace: Workplace) -> Gatehouse:
    settings, journal = ground.settings, ground.journal

    def offered(agent: AgentId, principal: PrincipalId) -> tuple[Manifest, ...]:
        return dispatch.offered(agent, principal)  # the gate, which is made of the tools, knows who holds which

    web = workplace.shop.web()
    served = Served(
        memory=knowledge.memory, texts=Reread(journal), stored=journal, boxes=workplace.boxes,
        can_read=lambda: bool(knowledge.mind.used - {REFLEX}), outputs=workplace.shop.outputs, services=workplace.services,
        progress=Printer(ground.feed, ground.redactor), files=workplace.filing, blobs=journal, offered=offered, web=web,
        calendars=daybook.calendars_of(settings, web),
    )  # fmt: skip
    registry = registry_of(settings, ground.kit, workplace.sandboxes, served)
    laws = law.Law(ground.home)
    await (roster := Roster(journal)).load()
    judge = Judge(laws.rules, law.agents_of(settings, registry.manifests()), Ranks(roster.rank, frozenset(settings.people.guest_tools)))
    holding = Holding(journal, settings.context.hold, settings.context.closed_answers)
    floor = stack.enter_context(law.floor_of(settings))
    dispatch = Dispatch(registry, floor, judge, LocalLimiter(ground.clock), ground.clock, holding, ground.redactor, workplace.sites)
    return Gatehouse(served, registry, laws, roster, judge, dispatch)
