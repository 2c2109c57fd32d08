"""A skill from a git repository, at one commit.

`git` runs in a box of its own, on an empty directory: it reaches the host of the address and nothing else, gets no secret and no setting of
the owner's, and checks nothing out, so neither hooks nor filters run. It prints the directory that is wanted as a tar file, which is read
here like any archive of a stranger's. A repository of this machine is what its box works on, read-only and without a network; its settings
may be a stranger's as well, and name filters that run when files are packed, so they are packed by an empty repository that borrows its
objects.
"""

import asyncio
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path

from daimon.abi.box import Command, Limits, Output, Place, Role
from daimon.abi.errors import BadInput, Misconfigured, TooLarge, ToolFailed
from daimon.abi.ids import SELF
from daimon.library.address import Source
from daimon.library.archive import MOST_UNPACKED, untarred
from daimon.skills.bundle import Bundle
from daimon.workshop import WiredBox, Workshop

TIMEOUT_S = 180.0
_GIT = ("git", "-c", "safe.directory=*")
_APART = """objects=$(cd "$(git -c 'safe.directory=*' rev-parse --git-path objects)" && pwd) && git init -q --bare "$HOME/apart" &&
cd "$HOME/apart" && printf '%s\\n' "$objects" > objects/info/alternates && exec git archive --format=tar "$1" """
"""Packs what is named from a repository without settings and attributes of its own."""
_LIMITS = Limits(disk_mb=512, file_mb=256, memory_mb=1_024)
_ENVIRONMENT = {
    "GIT_TERMINAL_PROMPT": "0", "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_ALLOW_PROTOCOL": "http:https",
    "GIT_ASKPASS": "true", "GIT_OPTIONAL_LOCKS": "0", "GIT_NO_LAZY_FETCH": "1", "GIT_ATTR_NOSYSTEM": "1", "LC_ALL": "C",
}  # fmt: skip


async def from_repository(shop: Workshop, source: Source) -> tuple[str, Bundle]:
    """Commit and files. Raises BadInput, TooLarge, Misconfigured."""
    if not shop.sandboxes.can_be_made:
        raise Misconfigured("git runs in a box, and none can be made here; `daimon doctor` says why. A directory or an archive works")
    if source.host:
        with tempfile.TemporaryDirectory(prefix="daimon-skill-", ignore_cleanup_errors=True) as made:
            places = (Place(source.host, (source.port,)),)
            return await _fetched(shop, source, Path(made), Role(name="skills", write=(".",), places=places))
    if not await asyncio.to_thread(os.path.isdir, source.where):
        raise BadInput(f"{source.where[:200]!a} is no directory; after file:// stands the path of a repository")
    return await _fetched(shop, source, Path(source.where), Role(name="skills"))


async def _fetched(shop: Workshop, source: Source, place: Path, role: Role) -> tuple[str, Bundle]:
    wanted = source.revision or "HEAD"
    box = await shop.open(_with_limits(role), place, SELF)
    try:
        work = _Work(box, source)
        if role.places:
            await work.git("init", "-q", "--bare", ".")
            await work.git("fetch", "-q", "--depth", "1", "--no-tags", source.where, wanted, places=role.places)
            wanted = "FETCH_HEAD"
        commit = (await work.git("rev-parse", "--verify", "-q", f"{wanted}^{{commit}}")).decode(errors="replace").strip()
        tree = f"{commit}:{source.below}" if source.below else commit
        data = await work.done(("sh", "-c", _APART, "sh", tree), "git archive")
    finally:
        await box.close()
    return commit, untarred(data, source.where)


def _with_limits(role: Role) -> Role:
    return Role(name=role.name, write=role.write, places=role.places, environment=_ENVIRONMENT, limits=_LIMITS)


@dataclass(frozen=True, slots=True)
class _Work:
    box: WiredBox
    source: Source

    async def git(self, *words: str, places: tuple[Place, ...] = ()) -> bytes:
        return await self.done((*_GIT, *words), f"git {words[0]}", places)

    async def done(self, argv: tuple[str, ...], what: str, places: tuple[Place, ...] = ()) -> bytes:
        """What it printed. Raises BadInput, TooLarge."""
        try:
            ran = await self.box.run(Command(argv=argv, timeout_s=TIMEOUT_S, places=places, max_output_bytes=MOST_UNPACKED))
        except ToolFailed as failed:
            raise BadInput(f"{self.source.where} could not be fetched: {failed}") from failed
        if ran.end == "exited" and ran.code == 0:
            return self._whole(ran.out)
        said = (ran.err.head + ran.err.tail).decode(errors="replace").strip().splitlines()
        refused = [f"{each.host}: {each.reason}" for each in ran.attempts if each.outcome != "passed"]
        why = "; ".join((*refused[:2], *said[-3:])) or f"{what} ended with {ran.end} {ran.code}"
        source = self.source
        whole = f"{source.where}{f'#{source.below}' if source.below else ''}{f' at {source.revision}' if source.revision else ''}"
        raise BadInput(f"{whole} could not be fetched: {why[:500]!a}; are address, path and revision right?")

    def _whole(self, out: Output) -> bytes:
        if out.cut_bytes:
            raise TooLarge(f"{self.source.where} is larger than a skill may be; name the directory of one in it, as in ADDRESS#PATH")
        return out.head + out.tail
