"""What the owner asks of the whole while it runs: how it is, and to read the settings and policies again."""

import os
from dataclasses import dataclass
from datetime import datetime

from daimon import __version__, config, daybook, law
from daimon.abi.ids import HOME_SPACE
from daimon.abi.money import Account
from daimon.abi.ports import Balance
from daimon.boot.gate import Gatehouse
from daimon.boot.ground import Ground
from daimon.boot.heart import Heart
from daimon.boot.kernel import Kernel
from daimon.boot.knowledge import Knowledge
from daimon.boot.lessons import Schooling
from daimon.boot.post import Post
from daimon.boot.skills import Skills
from daimon.boot.workplace import Workplace
from daimon.gateway.answers import LineState, Reloaded, Status
from daimon.machine import user
from daimon.mcp.servers import Servers
from daimon.tooling import CALENDARS, planned_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Whole:
    """All that was put together."""

    ground: Ground
    knowledge: Knowledge
    workplace: Workplace
    gate: Gatehouse
    skills: Skills
    schooling: Schooling
    kernel: Kernel
    post: Post
    heart: Heart
    servers: Servers
    started_at: datetime

    @property
    def warnings(self) -> tuple[str, ...]:
        here = (*self.knowledge.warnings, *self.gate.laws.warnings, *self.ground.vault.warnings, *user.warnings())
        own = (*self.skills.library.warnings, *self.schooling.lessons.warnings, *self.servers.warnings)
        return (*here, *self.workplace.warnings, *own, *self.heart.warnings)

    def accounts(self) -> tuple[Account, ...]:
        return self.knowledge.mind.brain.budget.shared(self.ground.clock.now())

    def lines(self) -> tuple[LineState, ...]:
        return tuple(map(self.post.postman.told, self.post.supervisor.states()))

    async def status(self) -> Status:
        journal, mind = self.ground.journal, self.knowledge.mind
        count, depth = await journal.count(), await self.kernel.dispatcher.stats()
        balances = (*await journal.balances(HOME_SPACE, self.accounts()), *await self._out_of_money())
        here = (__version__, str(self.ground.home.path), os.getpid(), self.started_at, mind.name)
        knocks = await journal.knocks()
        return Status(
            *here, count, depth, journal.commits, self.warnings, balances, self.lines(), len(knocks), self.schooling.lessons.waiting
        )

    async def _out_of_money(self) -> tuple[Balance, ...]:
        """People and groups whose turns wait, since their own limit is reached."""
        journal, budget, now = self.ground.journal, self.knowledge.mind.brain.budget, self.ground.clock.now()
        spent = await journal.spending(HOME_SPACE, "person", budget.shared(now)[0].key)
        names = (*(person.id for person, _ in await journal.people()), *(row.key for row in spent))
        return tuple(each for each in await journal.balances(HOME_SPACE, budget.persons(names, now)) if each.waiting)

    async def reload(self) -> Reloaded:
        mind, lines, gate = self.knowledge.mind, self.post.lines, self.gate
        changed = config.settings_of(self.ground.home)  # first: with a fault in it the policies stay, and so does what is said of them
        lineup = lines.lineup(changed)
        before = mind.settings
        self._plan(before, changed)
        try:
            rules = gate.laws.reread()
            restart = mind.change(changed)
        except BaseException:
            self._plan(changed, before)  # settings that are refused change nothing
            raise
        self.post.board.change((*lines.adopt(changed, lineup), *self.ground.kit.channels))
        gate.judge.change(rules, law.agents_of(mind.settings, gate.registry.manifests()))
        await self.servers.change(mind.settings.mcp)
        await self.ground.journal.reconsider(mind.brain.budget.limits, ())
        self.kernel.scheduler.poke()
        return Reloaded(mind.settings.model.use, restart, gate.judge.version)

    def _plan(self, before: config.Settings, settings: config.Settings) -> None:
        """The tools for calendars, where these are others now."""
        if settings.calendars != before.calendars:
            self.gate.put(CALENDARS, planned_of(settings, daybook.calendars_of(settings, self.gate.served.web)), settings)
