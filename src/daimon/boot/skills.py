"""The skills of the home, as the agent uses them."""

from dataclasses import dataclass

from daimon.boot.gate import Gatehouse
from daimon.boot.ground import Ground
from daimon.boot.knowledge import Knowledge
from daimon.boot.workplace import Workplace
from daimon.library.library import Library, open_library
from daimon.library.nearness import Nearness
from daimon.library.offering import Offering
from daimon.skills.catalogue import Chooser


@dataclass(frozen=True, slots=True)
class Skills:
    library: Library
    chooser: Chooser
    nearness: Nearness | None
    """None: nobody on this machine knows meanings."""


async def open_skills(ground: Ground, knowledge: Knowledge, workplace: Workplace, gate: Gatehouse) -> Skills:
    library = await open_library(ground.home.skills, ground.clock)
    Offering(library, workplace.shop, lambda group, tools: gate.put(group, tools, ground.settings)).begin()
    embedder = knowledge.meaning.on_this_machine
    nearness = None if embedder is None else Nearness(embedder, ground.clock)
    chooser = Chooser(library.ready, ground.settings.skills.suggest, None if nearness is None else nearness.near)
    return Skills(library, chooser, nearness)
