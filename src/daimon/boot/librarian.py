"""The owner's hand on the skills: installed, changed, tried, removed with all that came of them."""

from daimon.abi.trace import Traces
from daimon.boot.control import Whole
from daimon.library import removal
from daimon.library.librarian import HomeLibrarian
from daimon.library.removal import Removing, Surroundings
from daimon.library.sources import Sources
from daimon.library.trying import Trying
from daimon.memory.curator import StoreCurator


def librarian_of(whole: Whole) -> HomeLibrarian:
    ground, workplace, library = whole.ground, whole.workplace, whole.skills.library

    def ended(traces: Traces) -> None:
        whole.kernel.grants.drop(traces.grants)
        whole.heart.ticking.poke()

    curator = StoreCurator(whole.knowledge.memory, ground.journal, ground.clock, ground.ids, ground.redactor)
    around = Surroundings(
        curator, ground.journal, workplace.filing, workplace.sites, ground.clock, ended, (whole.schooling.lessons.forget_skill,)
    )
    sources = Sources(workplace.shop, whole.gate.served.web)
    return HomeLibrarian(library, sources, Removing(library, around), Trying(library, workplace.shop, ground.clock))


async def leave(whole: Whole, source: str) -> None:
    granted = (each.tool for each in whole.kernel.grants.current(whole.ground.clock.now()))
    await removal.leave(librarian_of(whole).removing.around, source, granted)
