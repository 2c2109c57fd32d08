"""The turns and who runs them: what a model is told, what was granted ahead, the loop, the scheduler."""

from dataclasses import dataclass
from datetime import timedelta

from daimon import config
from daimon.abi.codec import fingerprint
from daimon.abi.ids import HOME_SPACE, READER, SAMPLER, SUMMARIZER
from daimon.abi.turn import Pins
from daimon.boot.gate import Gatehouse
from daimon.boot.ground import Ground
from daimon.boot.knowledge import Knowledge
from daimon.boot.skills import Skills
from daimon.boot.workplace import Workplace
from daimon.context.assemble import FOR_OTHERS, Pager, Paging, Sources
from daimon.context.budget import TokenBudget
from daimon.context.held import EXPLAINED
from daimon.context.summaries import SUMMARIZERS_SYSTEM
from daimon.kernel.acting import Acting
from daimon.kernel.decide import Limits
from daimon.kernel.desk import Desk
from daimon.kernel.dispatcher import LocalDispatcher
from daimon.kernel.estimate import Estimator
from daimon.kernel.grants import Standing
from daimon.kernel.manner import Manner, quiet_hours
from daimon.kernel.outflow import Outflow
from daimon.kernel.record import Record
from daimon.kernel.scheduler import Scheduler
from daimon.kernel.thinking import Thinking
from daimon.kernel.turn import Turns
from daimon.mcp.sampling import SAMPLERS_SYSTEM
from daimon.tools.quarantine import READERS_SYSTEM

SYSTEM = """You are Daimon, a personal agent that runs on its owner's own machine. You act through tools and say plainly what you did.
Stay silent (an empty answer) when an event needs no answer."""
OTHERS_SYSTEM = """You are Daimon, the agent of somebody who lets others talk to you as well. Here you talk with one of those, or in a
group. You have nothing of your owner's before you: no notes, no files, no plans. Say so plainly when you are asked for such things, and do
not promise what you cannot do. Help with what you know and with what they tell you. Stay silent (an empty answer) when nothing is asked."""


@dataclass(frozen=True, slots=True)
class Kernel:
    grants: Standing
    dispatcher: LocalDispatcher
    scheduler: Scheduler


async def make_kernel(ground: Ground, knowledge: Knowledge, workplace: Workplace, gate: Gatehouse, skills: Skills) -> Kernel:
    settings, journal, clock, mind = ground.settings, ground.journal, ground.clock, knowledge.mind
    system = _system(settings)
    systems = {READER: READERS_SYSTEM, SUMMARIZER: SUMMARIZERS_SYSTEM, SAMPLER: SAMPLERS_SYSTEM, FOR_OTHERS: _others_system(settings)}
    sources = Sources(journal, journal, knowledge.memory, workplace.filing, skills.chooser)
    pager = Pager(sources, system, _paging(settings), ground.redactor, systems)
    thinking = Thinking(mind.brain, pager, gate.dispatch, ground.feed, clock, Estimator(), ground.redactor)
    await (grants := Standing(journal, HOME_SPACE)).load(clock.now())
    await (outflow := _outflow(settings)).load(journal, HOME_SPACE, clock.now())
    desk = Desk(grants, manner_of(settings), outflow)
    acting = Acting(gate.dispatch, Record(journal))
    turns = Turns(thinking, acting, Limits(**settings.limits.model_dump()), settings.kernel.newer, desk)
    dispatcher = LocalDispatcher(clock)

    def pins() -> Pins:
        return Pins(mind.pin, gate.judge.version, fingerprint(str, system), gate.registry.hash, mind.name)

    return Kernel(grants, dispatcher, Scheduler(journal, dispatcher, turns, ground.feed, clock, pins))


def _system(settings: config.Settings) -> str:
    who = f"\nYour owner is called {settings.owner.name}." if settings.owner.name else ""
    return f"{SYSTEM}{_on_held(settings)}{who}\n{settings.context.system}".rstrip()


def _others_system(settings: config.Settings) -> str:
    """For turns that do not serve the owner: nothing of the settings is in it."""
    return f"{OTHERS_SYSTEM}{_on_held(settings)}"


def _on_held(settings: config.Settings) -> str:
    return "" if settings.context.hold == "never" else f"\n{EXPLAINED}"


def manner_of(settings: config.Settings) -> Manner:
    asked = settings.asking
    return Manner(config.zone(settings), timedelta(hours=asked.timeout_h), quiet_hours(asked.quiet), timedelta(seconds=asked.undo_s))


def _outflow(settings: config.Settings) -> Outflow:
    asked = settings.asking
    return Outflow(config.zone(settings), {"private": asked.private_characters, "other": asked.other_characters})


def _paging(settings: config.Settings) -> Paging:
    asked = settings.context
    budget = TokenBudget(asked.budget_tokens, asked.system_tokens, asked.tools_tokens, asked.output_tokens)
    return Paging(budget, asked.recall_tokens, bool(asked.summarizer), asked.patience_s)
