"""The owner's hand on the library: `abi.skill.Librarian`, where skills come from, what is shown before a yes, and what goes with one."""

import asyncio
from dataclasses import dataclass, replace

from daimon.abi.errors import BadInput, Outdated
from daimon.abi.lesson import LEARNED
from daimon.abi.skill import Deed, Installed, Offer, Piece, Removal, Requires, Tested
from daimon.library.difference import difference
from daimon.library.library import Brought, Library
from daimon.library.removal import Removing
from daimon.library.rows import Row
from daimon.library.sources import Sources
from daimon.library.trying import Trying
from daimon.skills.bundle import version_of
from daimon.skills.remarks import remarks_on
from daimon.skills.requirements import added, worded


@dataclass(frozen=True, slots=True)
class HomeLibrarian:
    library: Library
    sources: Sources
    removing: Removing
    trying: Trying

    async def all(self) -> tuple[Installed, ...]:
        return self.library.all()

    async def one(self, name: str) -> Installed:
        return self.library.get(name)

    async def offer(self, source: str) -> Offer:
        return await self._offered(await self._brought(source))

    async def install(self, source: str, version: str = "", is_approved: bool = False) -> Installed:
        brought = await self._brought(source)
        if version and (now := await asyncio.to_thread(version_of, brought.bundle)) != version:
            raise Outdated(f"{source} is version {now[:12]} by now, and {version[:12]} was shown; look at it again. Nothing was changed")
        return await self.library.put(brought, is_approved)

    async def change(self, name: str, deed: Deed) -> Installed:
        held = self.library.get(name)
        if held.state in ("changed", "broken") and deed in ("approve", "vouch"):
            raise BadInput(f"you cannot {deed} {name} now: {held.why}")
        return await self.library.mark(name, lambda row: changed(row, deed, held))

    async def test(self, name: str) -> Tested:
        return await self.trying.test(name)

    async def foresee_removal(self, name: str) -> Removal:
        return await self.removing.foresee(name)

    async def remove(self, name: str) -> Removal:
        return await self.removing.remove(name)

    async def _brought(self, source: str) -> Brought:
        known = {each.name: each.source for each in self.library.all()}
        if known.get(source) == LEARNED:
            raise BadInput(f"{source} was learned here, so there is nowhere to fetch it from; `daimon skills show {source}` shows it")
        brought = await self.sources.bring(known.get(source, source))
        if source in known and brought.skill.name != source:  # else an update of one would take the place of another
            raise BadInput(
                f"what comes from {known[source]} is called {brought.skill.name} by now, and not {source}; "
                f"`daimon skills remove {source}` takes the old one away, and installing the source brings the new one"
            )
        return brought

    async def _offered(self, brought: Brought) -> Offer:
        skill = brought.skill
        before = next((each for each in self.library.all() if each.name == skill.name), None)
        old = {} if before is None else await self.library.kept(skill.name)
        is_next = before is not None and before.is_approved and before.source == brought.source
        more = added(skill.requires, before.skill.requires if before is not None and is_next else Requires())

        def made() -> Offer:
            return Offer(
                skill=skill, version=version_of(brought.bundle), source=brought.source, revision=brought.revision,
                files=tuple(Piece(path, len(file.data), file.is_executable) for path, file in sorted(brought.bundle.items())),
                asks=worded(skill.requires), remarks=remarks_on(skill, brought.bundle), before=before,
                more=() if more is None else worded(more), diff="" if before is None else difference(old, brought.bundle),
            )  # fmt: skip

        return await asyncio.to_thread(made)  # it may be 32 MB


def changed(row: Row, deed: Deed, held: Installed) -> Row:
    """What the owner said of `held`. Raises Outdated where it is another version by now."""
    if row.version != held.version:
        raise Outdated(f"the skill {row.name} is another version by now; look at it again. Nothing was changed")
    match deed:
        case "approve":
            return replace(row, approved=held.skill.requires)
        case "vouch" | "unvouch":
            return replace(row, is_vouched=deed == "vouch")
        case "disable" | "enable":
            return replace(row, is_disabled=deed == "disable")
