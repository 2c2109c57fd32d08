"""A file of the web, only if it changed: by its etag and its date, as the site gave them the last time."""

from collections.abc import Mapping
from dataclasses import dataclass

from pydantic import JsonValue

from daimon.abi.errors import WatchFailed, WebFailed
from daimon.abi.label import Author, Label, Origin
from daimon.abi.web import Web, WebRequest, WebResponse
from daimon.tools.links import host_of

TIMEOUT_S = 30.0


@dataclass(frozen=True, slots=True)
class Stamp:
    etag: str = ""
    modified: str = ""

    @property
    def kept(self) -> dict[str, JsonValue]:
        return {"etag": self.etag, "modified": self.modified}


def stamp_of(state: Mapping[str, JsonValue]) -> Stamp:
    return Stamp(str(state.get("etag") or ""), str(state.get("modified") or ""))


async def fetched(web: Web, url: str, known: Stamp) -> tuple[WebResponse | None, Stamp]:
    """None: it is as it was. Raises WatchFailed."""
    headers = {"If-None-Match": known.etag, "If-Modified-Since": known.modified}
    request = WebRequest(url=url, headers={name: value for name, value in headers.items() if value}, timeout_s=TIMEOUT_S)
    try:
        response = await web.request(request)
    except WebFailed as failed:
        raise WatchFailed(f"{url}: {failed}") from failed
    if response.status == 304:
        return None, known
    if response.status != 200:
        raise WatchFailed(f"{url} answered {response.status}; look whether the address is still right")
    return response, Stamp(response.headers.get("etag", "")[:500], response.headers.get("last-modified", "")[:100])


def site_label(*urls: str) -> Label:
    return Label.of(*(Origin(Author.STRANGER, f"web:{host_of(url)}") for url in urls))
