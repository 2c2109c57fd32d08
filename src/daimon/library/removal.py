"""What goes with a skill: all that came from it, wherever it is.

Labels name the skill on everything that its words went into; what that is, is asked of memory, journal and workspace. The order is the
guard. The index says first that the skill is leaving, so that nothing new comes of it; the journal knows which files its words had made
only until those words are erased, so files go before words; the row and its own files go last. Each part can be done again: a removal that
was cut off is done once more from the beginning, and finds less.

Files that were made are taken away behind a checkpoint, so that the owner can have them back. Files that it changed, or that others changed
after it, hold somebody else's work: they are named, and left.
"""

from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, replace

from daimon.abi.curator import Curator, Forgotten
from daimon.abi.errors import BadInput, DaimonError, NotFound
from daimon.abi.files import FilesOf, meant
from daimon.abi.ids import HOME_SPACE, OWNER, SELF, Conversation, Key
from daimon.abi.label import owned
from daimon.abi.ports import Checkpoints, Clock
from daimon.abi.skill import Removal, origin_of, script_tools_of
from daimon.abi.tool import Call
from daimon.abi.trace import Traced, Traces
from daimon.library.library import Library

SERVER = "mcp:"
"""As labels name what came from a server."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Where something of a skill may be."""

    curator: Curator
    traced: Traced
    files: FilesOf
    checkpoints: Checkpoints
    clock: Clock
    ended: Callable[[Traces], None] = lambda traces: None
    """Whoever keeps some of it in memory looks again."""
    others: tuple[Callable[[str], Awaitable[object]], ...] = ()
    """Whoever else keeps something of a skill, by its name: asked before its row goes, and again if that was cut off."""


@dataclass(frozen=True, slots=True)
class Removing:
    library: Library
    around: Surroundings

    async def foresee(self, name: str) -> Removal:
        held = self.library.get(name)
        source, tools = origin_of(name), script_tools_of(name)
        return Removal(
            name=name, version=held.version, files=tuple(sorted(await self.library.kept(name))), tools=tools,
            forgotten=await self.around.curator.foresee_forgetting(source),
            traces=await self.around.traced.traces(HOME_SPACE, source, tools),
        )  # fmt: skip

    async def remove(self, name: str) -> Removal:
        foreseen = await self.foresee(name)
        held = await self.library.mark(name, lambda row: replace(row, is_leaving=True))
        try:
            undo, notes = await clear(self.around, f"the skill {name}", foreseen.traces.made)
        except DaimonError as failed:
            await self.library.mark(name, lambda row: replace(row, is_leaving=False))
            raise BadInput(f"the files that came of the skill {name} cannot be taken away: {failed}; nothing was removed") from failed
        ended = await self.around.traced.end_traces(HOME_SPACE, held.origin, foreseen.tools)
        self.around.ended(ended)
        forgotten = await self._forget(held.origin)
        for forget in self.around.others:
            await forget(name)
        await self.library.drop(name)
        traces = replace(ended, made=foreseen.traces.made, changed=foreseen.traces.changed)
        return replace(foreseen, forgotten=forgotten, traces=traces, undo=undo, notes=notes)

    async def finish(self) -> None:
        """What a process that died had begun. What cannot go yet stays told in the library's warnings."""
        for name in self.library.leaving():
            with suppress(DaimonError):
                await self.remove(name)

    async def _forget(self, source: str) -> Forgotten:
        with suppress(NotFound):
            return await self.around.curator.forget_source(source)
        return Forgotten(source)


async def leave(around: Surroundings, source: str, granted: Iterable[str]) -> None:
    """What a server left besides words, before these are forgotten: files that were made of them, and what would still happen because of
    them. `granted`: tools for which there are grants. Of other sources the owner means the words alone."""
    if not source.startswith(SERVER):
        return
    name = source.removeprefix(SERVER)
    tools = tuple(sorted({each for each in granted if each.startswith(f"{name}_")}))
    found = await around.traced.traces(HOME_SPACE, source, tools)
    await clear(around, f"the server {name}", found.made)
    around.ended(await around.traced.end_traces(HOME_SPACE, source, tools))


async def clear(around: Surroundings, what: str, made: tuple[str, ...]) -> tuple[str, tuple[str, ...]]:
    """Files that came of it. Gives the checkpoint of before, and what is still there."""
    if not made:
        return "", ()
    call = Call(
        Key(f"remove:{what}"), HOME_SPACE, OWNER, SELF, Conversation(HOME_SPACE, "skills"), None, around.clock.now(),
        owned("skills"),
    )  # fmt: skip
    before, left = await around.checkpoints.before(call, f"removing {what}"), []
    async with around.files.files(call) as files:
        for path in sorted(made, key=lambda path: (-path.count("/"), path)):
            try:
                if await files.exists(meant(path)):
                    await files.delete(meant(path))
            except DaimonError as kept:
                left.append(f"{path} stays in the workspace: {kept}")
    return before, tuple(left)
