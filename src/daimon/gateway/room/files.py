"""Stored values for the page to show: pictures in the text, files to save, and what an agent made, in a frame.

Whoever wrote the bytes may have chosen the name and the type as well, so neither is trusted. Pictures of the usual kinds are shown where
they stand; SVG is not among them, because it is a document with scripts. All else is to be saved, never to be opened under the origin of
the page. HTML and SVG can be looked at with `view=frame`: the answer itself says that it is a sandbox (`headers.FRAME`), so it has no
origin, no scripts and no way out even if somebody opens it in a tab of its own.
"""

import re
from dataclasses import dataclass
from typing import Annotated, Literal
from urllib.parse import quote

from pydantic import ConfigDict, Field
from pydantic.dataclasses import dataclass as checked
from starlette.responses import Response

from daimon.abi.access import Right
from daimon.abi.cleaning import cleaned_text
from daimon.abi.errors import BadInput
from daimon.abi.ids import BlobHash
from daimon.abi.plain import clean, is_utf8
from daimon.abi.ports import Store
from daimon.abi.secret import Redactor
from daimon.gateway.entry import Call, Entry
from daimon.gateway.room.headers import FRAME

PICTURES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp", "image/avif"})
FRAMED = frozenset({"text/html", "image/svg+xml"})
PLAIN = "application/octet-stream"
_NAMED = re.compile(r"(audio|video)/[a-z0-9.+-]{1,60}|application/pdf|text/plain")
"""Types that a file to be saved may keep."""
_TYPE = r"^[A-Za-z0-9][A-Za-z0-9!#$&^_.+-]{0,60}/[A-Za-z0-9][A-Za-z0-9!#$&^_.+-]{0,60}$"


@checked(frozen=True, slots=True, kw_only=True, config=ConfigDict(extra="forbid"))
class Shown:
    as_: Annotated[str, Field(alias="as", pattern=_TYPE)] = PLAIN
    """What it is said to be."""
    name: Annotated[str, Field(max_length=200)] = ""
    view: Literal["", "frame"] = ""


@dataclass(frozen=True, slots=True)
class FileRoutes:
    store: Store
    redactor: Redactor

    def all(self) -> tuple[Entry, ...]:
        summary = "A stored value, to be shown or saved"
        return (Entry("GET", "/v1/files/{hash}", self._file, bytes, summary, Right.READ, query=Shown),)

    async def _file(self, call: Call[Shown, None]) -> Response:
        kind = call.query.as_.lower()
        if call.query.view and kind not in FRAMED:
            raise BadInput(f"only {' and '.join(sorted(FRAMED))} can be shown in a frame, not {kind!r}")
        data = await self.store.get(BlobHash(call.path["hash"]))
        if is_utf8(data) or kind in FRAMED or kind.startswith("text/"):
            data = cleaned_text(data, self.redactor.clean_known)
        if call.query.view:
            return Response(data, headers={**FRAME, "content-type": f"{kind}; charset=utf-8"})
        shown, saved = _manner(kind)
        return Response(data, headers={"content-type": shown, "content-disposition": _disposition(saved, call.query.name)})


def _manner(kind: str) -> tuple[str, Literal["inline", "attachment"]]:
    if kind in PICTURES:
        return kind, "inline"
    return (kind if _NAMED.fullmatch(kind) else PLAIN), "attachment"


def _disposition(manner: str, name: str) -> str:
    """A name is a name, not a path, and no line of the head."""
    bare = re.split(r"[/\\]", clean(name))[-1].strip(" .")
    return f"{manner}; filename*=UTF-8''{quote(bare, safe='')}" if bare else manner
