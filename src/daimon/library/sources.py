"""Whoever brings a skill from where it is: a directory, an archive, a repository. Nothing of it is run."""

import asyncio
import os
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from daimon.abi.errors import BadInput, TooLarge, WebFailed
from daimon.abi.web import Web, WebRequest
from daimon.library.address import Source, parsed
from daimon.library.archive import MOST_PACKED, unpacked
from daimon.library.library import Brought
from daimon.library.repository import from_repository
from daimon.library.tree import read_tree
from daimon.skills import format as form
from daimon.skills.bundle import is_left_out
from daimon.workshop import Workshop

DOWNLOAD_S = 120.0


@dataclass(frozen=True, slots=True)
class Sources:
    shop: Workshop
    web: Web

    async def bring(self, text: str) -> Brought:
        """Raises BadInput, TooLarge, Misconfigured."""
        source = parsed(text)
        _require_tls(source, self.shop.sandboxes.local)
        match source.kind:
            case "folder":
                return await asyncio.to_thread(_from_folder, source)
            case "packed":
                return await asyncio.to_thread(_from_file, source)
            case "download":
                data = await self._downloaded(source)
                return await asyncio.to_thread(_from_archive, source, data, source.where)
            case "repository":
                commit, bundle = await from_repository(self.shop, source)
                return Brought(skill=form.read(source.folder, bundle), bundle=bundle, source=text.strip(), revision=commit)

    async def _downloaded(self, source: Source) -> bytes:
        try:
            answer = await self.web.request(WebRequest(url=source.where, most_bytes=MOST_PACKED, timeout_s=DOWNLOAD_S))
        except WebFailed as failed:
            raise BadInput(f"{source.where} could not be fetched: {failed}") from failed
        if answer.status != 200:
            raise BadInput(f"{source.where} answers with {answer.status}; is the address right?")
        if answer.is_cut:
            raise TooLarge(f"{source.where} has more than {MOST_PACKED:,} bytes, the most for a skill")
        return answer.body


def _require_tls(source: Source, local: Collection[str]) -> None:
    if source.where.startswith("http://") and source.host not in local:
        raise BadInput(f"{source.where} is not encrypted: anybody on the way could put another skill in its place; use https")


def _from_folder(source: Source) -> Brought:
    path = os.path.expanduser(source.where)
    if not os.path.isdir(path):
        raise BadInput(f"{path[:200]} is no directory; give one that holds a {form.SKILL}, an archive, or the address of a repository")
    try:
        place = Path(path).resolve()
        bundle = read_tree(place, is_left_out)
    except OSError as failure:
        raise BadInput(f"{path} cannot be read: {failure.strerror}") from None
    return Brought(skill=form.read(place.name, bundle), bundle=bundle, source=str(place))


def _from_file(source: Source) -> Brought:
    path = os.path.realpath(os.path.expanduser(source.where))
    if not os.path.isfile(path):
        raise BadInput(f"{path[:200]} is no file; is the path right?")
    try:
        with open(path, "rb") as file:
            data = file.read(MOST_PACKED + 1)
    except OSError as failure:
        raise BadInput(f"{path} cannot be read: {failure.strerror}") from None
    return _from_archive(source, data, path)


def _from_archive(source: Source, data: bytes, where: str) -> Brought:
    folder, bundle = unpacked(data, where, source.below)
    return Brought(skill=form.read(folder, bundle), bundle=bundle, source=f"{where}#{source.below}" if source.below else where)
