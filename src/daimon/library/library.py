"""The skills of a home: which are installed, in which version, and what of them may be used.

The index says what counts, the shelves hold the files. The invariant: nothing is handed out whose files are not, byte for byte, the version
that the index names. That is looked at when the library is opened and again at every read; what has changed is not used any more, and the
owner is told (`warnings`) until it is installed again or removed.

    install, update   the files of the new version, forced to disk; then the index; then the old files go
    remove            the index says that it is leaving; whoever has something of it clears it away; then the index; then the files
    a crash           leaves files that no row names, which are swept at the next opening, or a row that is leaving: see `HomeLibrarian`

It speaks for one process that holds the home. It knows nothing of where skills come from, and runs nothing.
"""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from daimon.abi.errors import BadInput, Misconfigured, NoSpace, NotFound, ToolFailed
from daimon.abi.ports import Clock
from daimon.abi.skill import Installed, Skill, State
from daimon.library import rows
from daimon.library.rows import Row
from daimon.library.shelves import INDEX, Shelves
from daimon.skills import format as form
from daimon.skills.bundle import Bundle, version_of
from daimon.skills.catalogue import Chooser
from daimon.skills.requirements import is_wider, worded

T = TypeVar("T")
MOST_TEXT = 256 << 10
AGAIN = "`daimon skills update {0}` puts it right, `daimon skills remove {0}` takes it away"


@dataclass(frozen=True, slots=True, kw_only=True)
class Brought:
    """A skill that somebody wants to have here."""

    skill: Skill
    bundle: Bundle
    source: str
    revision: str = ""


class Library:
    """Open it with `open_library`."""

    def __init__(self, shelves: Shelves, clock: Clock, found: dict[str, Row], broken: str) -> None:
        self.changed: Callable[[str], None] = lambda name: None
        """Called with the name of a skill after anything about it has changed."""
        self._shelves = shelves
        self._clock = clock
        self._rows = found
        self._broken = broken
        """Why the index cannot be read; then nothing is used and nothing changed."""
        self._turn = asyncio.Lock()
        self._held = {name: self._looked_at(row) for name, row in found.items()}
        self._chooser = Chooser(self.ready, 0)

    @property
    def warnings(self) -> tuple[str, ...]:
        told = (each for each in self.all() if each.state in ("changed", "broken"))
        return (*filter(None, (self._broken,)), *(f"the skill {each.name} is not used: {each.why}" for each in told))

    def all(self) -> tuple[Installed, ...]:
        return tuple(held for _, held in sorted(self._held.items()))

    def ready(self) -> tuple[Installed, ...]:
        return tuple(each for each in self.all() if each.state == "ready")

    def get(self, name: str) -> Installed:
        """Raises NotFound."""
        if name not in self._held:
            there = ", ".join(self._held) or "none"
            raise NotFound(f"there is no skill {name[:80]!r}; there are: {there[:400]}")
        return self._held[name]

    async def find(self, query: str) -> tuple[Installed, ...]:
        return await self._chooser.find(query)

    def leaving(self) -> tuple[str, ...]:
        """Those whose removal was begun and not ended."""
        return tuple(sorted(name for name, row in self._rows.items() if row.is_leaving))

    async def files(self, name: str) -> tuple[Installed, Bundle]:
        """Of one that may be used, as they were installed. Raises NotFound, and ToolFailed where it may not be used."""
        held = self.get(name)
        if held.state != "ready":
            raise ToolFailed("not_usable", f"the skill {name} cannot be used: {held.why}")
        row = self._rows[name]
        held, bundle = await asyncio.to_thread(self._verified, row)
        if self._rows.get(name) is not row:
            return await self.files(name)  # it was changed by its owner meanwhile, and is looked at as it is now
        if bundle is None:
            self._held[name] = held
            self.changed(name)
            raise ToolFailed("changed", f"the skill {name} cannot be used: {held.why}")
        return self._held[name], bundle

    async def kept(self, name: str) -> Bundle:
        """The files as they are, whether or not it may be used; none where they cannot be read."""
        held = self.get(name)
        try:
            return await asyncio.to_thread(self._shelves.read, name, held.version)
        except (BadInput, OSError):
            return {}

    async def read(self, name: str, path: str = form.SKILL) -> tuple[Installed, str]:
        held, bundle = await self.files(name)
        if path not in bundle:
            raise ToolFailed("not_found", f"the skill {name} has no file {path[:120]!r}; it has {', '.join(sorted(bundle))[:2_000]}")
        if len(data := bundle[path].data) > MOST_TEXT:
            raise ToolFailed("too_large", f"{path} of the skill {name} has {len(data):,} bytes; {MOST_TEXT:,} can be read")
        try:
            return held, form.body_of(data) if path == form.SKILL else form.decoded(data, path)
        except BadInput as no_text:
            raise ToolFailed("no_text", str(no_text)) from None

    async def put(self, brought: Brought, is_approved: bool) -> Installed:
        """Installs it, or puts it in the place of what there was. Whoever vouched for the old words did not see the new ones."""
        name = brought.skill.name

        def made() -> Row:
            before = self._rows.get(name)
            if before is not None and before.is_leaving:
                raise BadInput(f"the skill {name} is being removed; `daimon skills remove {name}` ends that, then install it")
            return self._put(before, brought, is_approved)

        return await asyncio.shield(self._write(name, made))

    async def mark(self, name: str, change: Callable[[Row], Row]) -> Installed:
        return await asyncio.shield(self._write(name, lambda: change(self._rows[self.get(name).name])))

    async def drop(self, name: str) -> None:
        """The row, then the files."""
        await asyncio.shield(self._drop(name))

    async def _drop(self, name: str) -> None:
        async with self._turn:
            row = self._rows[self.get(name).name]
            left = {each: kept for each, kept in self._rows.items() if each != name}
            await self._disk(lambda: rows.write(self._index, left))
            self._rows = left
            del self._held[name]
            self.changed(name)
            await self._clear(name, row.version)

    @property
    def _index(self) -> Path:
        return index_in(self._shelves.top)

    async def _write(self, name: str, change: Callable[[], Row]) -> Installed:
        """Whoever asked may go away meanwhile: what was begun is ended, so that what is known here is what is on disk."""

        def write() -> tuple[dict[str, Row], Installed]:
            changed = {**self._rows, name: change()}
            rows.write(self._index, changed)
            return changed, self._looked_at(changed[name])

        async with self._turn:
            before = self._rows.get(name)
            self._rows, self._held[name] = await self._disk(write)
            self.changed(name)
            if before is not None and before.version != self._rows[name].version:
                await self._clear(name, before.version)
            return self._held[name]

    async def _clear(self, name: str, version: str) -> None:
        """No row names it: what cannot go now goes with the next opening."""
        with suppress(NoSpace):
            await self._disk(lambda: self._shelves.drop(name, version))

    def _put(self, before: Row | None, brought: Brought, is_approved: bool) -> Row:
        name, version = brought.skill.name, version_of(brought.bundle)
        is_there = before is not None and before.version == version and self._verified(before)[1] is not None
        if not is_there:
            self._shelves.put(name, brought.bundle)
        same = before if before is not None and before.version == version else None
        return Row(
            name=name, version=version, source=brought.source, revision=brought.revision, at=self._clock.now(),
            approved=brought.skill.requires if is_approved or _covers(before, brought) else None,
            is_vouched=same is not None and same.is_vouched, is_disabled=before is not None and before.is_disabled,
        )  # fmt: skip

    async def _disk(self, do: Callable[[], T]) -> T:
        if self._broken:
            raise Misconfigured(self._broken)
        try:
            return await asyncio.to_thread(do)
        except OSError as failure:
            raise NoSpace(f"{self._shelves.top} cannot be written: {failure.strerror}; nothing was changed") from None

    def _looked_at(self, row: Row) -> Installed:
        return self._verified(row)[0]

    def _verified(self, row: Row) -> tuple[Installed, Bundle | None]:
        """What is there, and its files if they are what was installed."""
        state: State
        bundle, why = self._read(row)
        skill = Skill(row.name, "") if bundle is None else form.read(row.name, bundle)
        state, why = ("changed", why) if bundle is None else _standing(row, skill)
        held = Installed(
            skill=skill, version=row.version, source=row.source, revision=row.revision, at=row.at, state=state, why=why,
            is_vouched=row.is_vouched and bundle is not None, is_approved=bundle is not None and row.approved == skill.requires,
            asks=worded(skill.requires),
        )  # fmt: skip
        return held, bundle

    def _read(self, row: Row) -> tuple[Bundle | None, str]:
        """Or why not."""
        try:
            found = self._shelves.read(row.name, row.version)
        except FileNotFoundError:
            return None, f"its files are gone; {AGAIN.format(row.name)}"
        except (BadInput, OSError) as broken:
            return None, f"its files are not as they were installed ({broken}); {AGAIN.format(row.name)}"
        is_it = version_of(found) == row.version
        return (found, "") if is_it else (None, f"its files are not those that were installed; {AGAIN.format(row.name)}")


def index_in(top: Path) -> Path:
    return top / INDEX


async def open_library(top: Path, clock: Clock) -> Library:
    """Never fails over what it finds: that is told in `warnings`."""
    return await asyncio.to_thread(_opened, top, clock)


def _opened(top: Path, clock: Clock) -> Library:
    shelves = Shelves(top)
    try:
        found = rows.read(index_in(top))
        top.mkdir(mode=0o700, exist_ok=True)
        shelves.sweep({(row.name, row.version) for row in found.values()})
    except Misconfigured as broken:
        return Library(shelves, clock, {}, f"the skills are not used: {broken}")
    except OSError as failure:
        return Library(shelves, clock, {}, f"the skills are not used: {top} cannot be opened: {failure.strerror}")
    return Library(shelves, clock, found, "")


def _covers(before: Row | None, brought: Brought) -> bool:
    """Was a yes given to at least as much, of what comes from there? A skill of somebody else with the same name has no part in it."""
    if before is None or before.approved is None or before.source != brought.source:
        return False
    return not is_wider(brought.skill.requires, before.approved)


def _standing(row: Row, skill: Skill) -> tuple[State, str]:
    if row.is_leaving:
        return "broken", f"its removal was not finished; `daimon skills remove {row.name}` goes on with it"
    if row.is_disabled:
        return "disabled", f"you switched it off; `daimon skills enable {row.name}` switches it on"
    if skill.requires != type(skill.requires)() and row.approved != skill.requires:
        return "unapproved", f"you have not agreed to what it requires; `daimon skills approve {row.name}` shows that"
    return "ready", ""
