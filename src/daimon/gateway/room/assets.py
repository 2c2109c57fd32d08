"""The files of the room: read once, compressed once, served from memory.

That is done when the first of them is asked for, in a thread: it takes some tenths of a second, in which turns and streams go on.

A file is served under the version of all of them (`/room/VERSION/js/main.js`), so a browser may keep it for ever and a new version is never
mixed with an old one. Every path of a page gets the same `index.html`, with a nonce of its own; which page it is, the browser decides.
Only names found in the directory are served: a path is looked up, never opened. Nothing here is the owner's, so no session is needed.
"""

import asyncio
import gzip
import hashlib
import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from daimon.abi.errors import NotFound
from daimon.gateway.room.headers import new_nonce, page_headers

WEB = Path(__file__).parent / "web"
PAGES = frozenset({"", "approvals", "runs", "workspaces", "memory", "automations", "skills", "health", "settings", "welcome"})
"""First words of the paths of pages, as in js/pages.js."""
WORKER = "sw.js"
"""It fetches what it passes on, so it must be allowed to."""
AT_ROOT = ("manifest.webmanifest", WORKER, "icon.svg")
FIRST = (
    "main", "dom", "api", "live", "router", "pages", "icons", "keys", "shell", "parts", "order", "press",
    "parts/form", "parts/show", "parts/float", "parts/format", "parts/code",
)  # fmt: skip
"""Modules that every page needs; asked for before the first of them is read."""
_TYPES = {
    ".js": "text/javascript",
    ".webmanifest": "application/manifest+json",
    ".css": "text/css",
    ".svg": "image/svg+xml",
    ".html": "text/html",
}
_REMARKS = {".js": re.compile(rb"^[ \t]*//[^\n]*\n", re.MULTILINE), ".css": re.compile(rb"/\*.*?\*/\n?", re.DOTALL)}
"""Comments on lines of their own are for who reads the source, and weigh a twelfth of what is loaded."""
_NONE = re.compile(rb"(?!)")
_FOR_EVER = "public, max-age=31536000, immutable"


@dataclass(frozen=True, slots=True)
class Asset:
    data: bytes
    zipped: bytes
    media_type: str

    def answer(self, request: Request, headers: dict[str, str]) -> Response:
        told = {**headers, "vary": "accept-encoding"}
        if "gzip" in request.headers.get("accept-encoding", ""):
            return Response(self.zipped, 200, {**told, "content-encoding": "gzip"}, self.media_type)
        return Response(self.data, 200, told, self.media_type)


class Assets:
    def routes(self) -> list[Route]:
        pages = [Route(f"/{first}", self._page) for first in sorted(PAGES)]
        inner = [Route(f"/{first}/{{rest:path}}", self._page) for first in sorted(PAGES - {""})]
        files = [Route(f"/{name}", self._root) for name in AT_ROOT]
        return [Route("/room/{version}/{name:path}", self._file), Route("/enter", self._enter), *files, *pages, *inner]

    @cached_property
    def _files(self) -> dict[str, Asset]:
        return {file.relative_to(WEB).as_posix(): _asset(file) for file in sorted(WEB.rglob("*")) if file.is_file()}

    @cached_property
    def version(self) -> str:
        whole = hashlib.sha256()
        for name, asset in self._files.items():
            whole.update(name.encode() + b"\0" + asset.data)
        return whole.hexdigest()[:12]

    async def _page(self, request: Request) -> Response:
        return await self._document("index.html")

    async def _enter(self, request: Request) -> Response:
        """Signs a browser in; a page of its own, since the room needs a session."""
        return await self._document("enter.html")

    async def _read(self) -> None:
        """What is slow is done after this; two who come at once may both do it, and get the same."""
        if "version" not in self.__dict__:
            await asyncio.to_thread(lambda: self.version)

    async def nowhere(self, request: Request) -> Response:
        """An address that leads to nothing, for somebody who typed it: the room, which says so."""
        return await self._document("index.html", 404)

    async def _document(self, name: str, status: int = 200) -> Response:
        await self._read()
        nonce, base = new_nonce(), f"/room/{self.version}"
        preloads = "\n".join(f'<link rel="modulepreload" href="{base}/js/{each}.js">' for each in FIRST)
        text = self._files[name].data.decode()
        text = text.replace("{nonce}", nonce).replace("{base}", base).replace("{preloads}", preloads)
        return Response(text, status, page_headers(nonce), "text/html")

    async def _file(self, request: Request) -> Response:
        await self._read()
        name = request.path_params["name"]
        asset = self._files.get(name) if request.path_params["version"] == self.version else None
        if asset is None:
            raise NotFound(f"there is no file {name[:80]!r} of this version in the control room; reload the page")
        return asset.answer(request, {"cache-control": _FOR_EVER})

    async def _root(self, request: Request) -> Response:
        await self._read()
        name = request.url.path[1:]
        reaches = {"content-security-policy": "default-src 'none'; connect-src 'self'"} if name == WORKER else {}
        return self._files[name].answer(request, {"cache-control": "no-cache", **reaches})


def _asset(file: Path) -> Asset:
    data = _REMARKS.get(file.suffix, _NONE).sub(b"", file.read_bytes())
    kind = _TYPES[file.suffix]
    return Asset(data, gzip.compress(data, 9, mtime=0), kind)
