"""Skills over HTTP: the port `Librarian`, one entry for each of its operations. A source that is a path is one of the gateway's machine."""

from dataclasses import dataclass, replace

from pydantic.dataclasses import dataclass as checked

from daimon.abi.access import Right
from daimon.abi.errors import Outdated
from daimon.abi.invisible import visible
from daimon.abi.skill import Deed, Installed, Librarian, Offer, Removal, Tested
from daimon.gateway.asked import CHECKED, Needed
from daimon.gateway.entry import Call, Entry


@checked(frozen=True, slots=True, kw_only=True, config=CHECKED)
class Wanted:
    source: Needed
    """A directory, an archive, a repository, or the name of a skill that is installed."""


@checked(frozen=True, slots=True, kw_only=True, config=CHECKED)
class Installing:
    source: Needed
    version: str = ""
    """As it was offered; 409 where it is another one by now."""
    is_approved: bool = False
    """Yes to what it requires."""


@checked(frozen=True, slots=True, kw_only=True, config=CHECKED)
class Changing:
    deed: Deed
    version: str = ""
    """As it was shown; 409 where it is another one by now. Empty: whichever it is."""


@dataclass(frozen=True, slots=True)
class SkillRoutes:
    librarian: Librarian

    def all(self) -> tuple[Entry, ...]:
        path, one, read, admin = "/v1/skills", "/v1/skills/{name}", Right.READ, Right.ADMIN
        offer, install = "What a source holds, before it is installed", "Install a skill, or put it in the place of the one of that name"
        change = "Approve what it requires, vouch for its words or not any more, switch it off or on"
        test, gone = "Whether it is well: its files, and its own tests in its box", "Take it away with all that came of it; what went"
        return (
            Entry("GET", path, self._list, tuple[Installed, ...], "All skills, without their texts", read),
            Entry("GET", one, self._show, Installed, "A skill, with its text as the model reads it", read),
            Entry("GET", f"{one}/removal", self._foresee, Removal, "What would go with it", read),
            Entry("POST", f"{path}/offer", self._offer, Offer, offer, admin, body=Wanted, is_act=True),
            Entry("POST", path, self._install, Installed, install, admin, body=Installing, status=201, fails=(409,), is_act=True),
            Entry("POST", f"{one}/state", self._change, Installed, change, admin, body=Changing, fails=(409,), is_act=True),
            Entry("POST", f"{one}/test", self._test, Tested, test, admin, is_act=True),
            Entry("DELETE", one, self._remove, Removal, gone, admin, is_act=True),
        )

    async def _list(self, call: Call[None, None]) -> tuple[Installed, ...]:
        return tuple(replace(each, skill=replace(each.skill, body="")) for each in await self.librarian.all())

    async def _show(self, call: Call[None, None]) -> Installed:
        found = await self.librarian.one(call.path["name"])
        return replace(found, skill=replace(found.skill, body=visible(found.skill.body)[0]))

    async def _offer(self, call: Call[None, Wanted]) -> Offer:
        return await self.librarian.offer(call.body.source)

    async def _install(self, call: Call[None, Installing]) -> Installed:
        wish = call.body
        return await self.librarian.install(wish.source, wish.version, wish.is_approved)

    async def _change(self, call: Call[None, Changing]) -> Installed:
        name, wish = call.path["name"], call.body
        if wish.version and (await self.librarian.one(name)).version != wish.version:
            raise Outdated(f"the skill {name} is another version by now; look at it again")
        return await self.librarian.change(name, wish.deed)

    async def _test(self, call: Call[None, None]) -> Tested:
        return await self.librarian.test(call.path["name"])

    async def _foresee(self, call: Call[None, None]) -> Removal:
        return await self.librarian.foresee_removal(call.path["name"])

    async def _remove(self, call: Call[None, None]) -> Removal:
        return await self.librarian.remove(call.path["name"])
