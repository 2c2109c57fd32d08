"""A server is forgotten in a home that nobody runs: as completely as in one that runs."""

from contextlib import suppress
from datetime import timedelta
from pathlib import Path

from daimon.abi.automation import Automation, Once
from daimon.abi.errors import NotFound
from daimon.abi.hook import Hook
from daimon.abi.ids import HOME_SPACE, OWNER
from daimon.abi.label import Author, Label, Origin, owned
from daimon.machine.home import Home
from daimon.offline.held import holding
from daimon.offline.memory import curating

THEIRS = owned("automations").joined(Label.of(Origin(Author.STRANGER, "mcp:sample")))


async def test_what_would_still_happen_because_of_a_server_ends_with_its_words_and_what_is_mine_stays(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    async with holding(home) as held:
        later = Once(held.clock.now() + timedelta(days=1))
        for id_, label in (("theirs", THEIRS), ("mine", owned("automations"))):
            await held.journal.automate(HOME_SPACE, Automation(id=id_, when=later, task="look", timezone="UTC"), OWNER, label)
            await held.journal.hook(HOME_SPACE, Hook(name=id_, scheme="generic", secret="x", task="look"), OWNER, label)
    async with curating(home) as curator:
        with suppress(NotFound):  # it said nothing that is kept
            await curator.forget_source("mcp:sample")
    async with holding(home) as held:
        assert [kept.automation.id for kept in await held.journal.automations(HOME_SPACE)] == ["mine"]
        assert [hooked.hook.name for hooked in await held.journal.hooks(HOME_SPACE)] == ["mine"]
