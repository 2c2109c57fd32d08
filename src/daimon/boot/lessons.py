"""What was learned, and whoever learns: both on the library, with the names that lessons must not hold."""

from dataclasses import dataclass

from daimon.boot.gate import Gatehouse
from daimon.boot.ground import Ground
from daimon.boot.knowledge import Knowledge
from daimon.boot.skills import Skills
from daimon.library.learner import Around, Learner
from daimon.library.lessons import HomeLessons
from daimon.library.names import names_of
from daimon.memory.curator import StoreCurator
from daimon.skills.private import Privacy


@dataclass(frozen=True, slots=True)
class Schooling:
    lessons: HomeLessons
    learner: Learner


def make_schooling(ground: Ground, knowledge: Knowledge, gate: Gatehouse, skills: Skills) -> Schooling:
    journal, clock, redactor = ground.journal, ground.clock, ground.redactor
    memory = StoreCurator(knowledge.memory, journal, clock, ground.ids, redactor)

    async def privacy() -> Privacy:
        return Privacy(redactor.clean, await names_of(journal, memory, knowledge.mind.settings.owner.name))

    lessons = HomeLessons(ground.home.lessons, skills.library, journal, clock, redactor.clean)
    around = Around(
        lambda: {manifest.name: manifest for manifest in gate.registry.manifests()}, privacy, lambda: knowledge.mind.settings.skills.learn
    )
    return Schooling(lessons, Learner(journal, ground.feed, lessons, around, clock))
