"""What happens by itself: automations and what they watch, summaries of long conversations, backups."""

from collections.abc import Coroutine
from dataclasses import dataclass
from typing import Any

from daimon import config, lines, mind
from daimon.backup.plan import plan_of
from daimon.backup.schedule import Schedule, child_of
from daimon.boot.gate import Gatehouse
from daimon.boot.ground import Ground
from daimon.boot.kernel import Kernel
from daimon.boot.knowledge import Knowledge
from daimon.boot.post import Post
from daimon.boot.workplace import Workplace
from daimon.heartbeat.clerk import LocalClerk
from daimon.heartbeat.hearing import hear
from daimon.heartbeat.looking import Looking
from daimon.heartbeat.prospects import Setup, setup_of
from daimon.heartbeat.ticking import Around, Ticking
from daimon.heartbeat.watchers.table import watchers
from daimon.kernel.feed import Feed
from daimon.kernel.summaries import Summaries


@dataclass(frozen=True, slots=True)
class Heart:
    ticking: Ticking
    clerk: LocalClerk
    summaries: Summaries | None
    backups: Schedule

    @property
    def warnings(self) -> tuple[str, ...]:
        return (*self.backups.warnings, *self.ticking.warnings)

    def beats(self, feed: Feed) -> tuple[Coroutine[Any, Any, None], ...]:
        """What runs for as long as the gateway does."""
        summing_up = () if self.summaries is None else (self.summaries.serve(),)
        return (self.backups.tend(), self.ticking.serve(), hear(feed, self.ticking.poke), *summing_up)


def make_heart(ground: Ground, knowledge: Knowledge, workplace: Workplace, gate: Gatehouse, kernel: Kernel, post: Post) -> Heart:
    settings, journal, clock = ground.settings, ground.journal, ground.clock
    thinking = knowledge.mind
    at_work = workplace.boxes if workplace.sandboxes.can_be_made else None
    watched = watchers(web=gate.served.web, ground=workplace.sites.ground, boxes=at_work, hooks=journal, mail=post.lines.new_mail)
    around = Around(kernel.scheduler.wake, ground.redactor.clean_known, thinking.jobs, post.forwarding.whom)
    ticking = Ticking(journal, Looking(watched, clock), around, clock, ground.ids)

    async def setup() -> Setup:
        now = thinking.settings
        channels, models = lines.names_of(now, ground.kit.channels), mind.names_of(now, ground.kit.models)
        return await setup_of(journal, channels, models, has_only_built_in=mind.has_only_built_in(now))

    clerk = LocalClerk(journal, ticking, clock, str(config.zone(settings)), setup)
    backups = Schedule(ground.home, plan_of(settings, ground.home), clock, child_of(ground.home.path))
    return Heart(ticking, clerk, _summaries(ground, knowledge, post), backups)


def _summaries(ground: Ground, knowledge: Knowledge, post: Post) -> Summaries | None:
    if not ground.settings.context.summarizer:
        return None
    is_wanted = lambda: bool(knowledge.mind.settings.context.summarizer)  # noqa: E731
    return Summaries(ground.journal, ground.feed, post.inbox.accept, ground.clock, ground.ids, is_wanted)
