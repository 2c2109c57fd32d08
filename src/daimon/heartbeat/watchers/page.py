"""A page that changed: by its etag or date, then by the text that counts. What is handed over are the lines that differ, not the page."""

from pydantic import JsonValue

from daimon.abi.errors import WatchFailed
from daimon.abi.watch import Look, Watch, WatchPage
from daimon.abi.web import Web, WebResponse
from daimon.heartbeat.watchers.difference import MOST_KEPT, difference, mark
from daimon.heartbeat.watchers.fetching import fetched, site_label, stamp_of
from daimon.tools.readable import readable, selected


class PageWatcher:
    def __init__(self, web: Web) -> None:
        self._web = web

    async def look(self, watch: Watch, state: JsonValue) -> Look:
        assert isinstance(watch, WatchPage)
        before = state if isinstance(state, dict) else {}
        response, stamp = await fetched(self._web, watch.url, stamp_of(before))
        if response is None:
            return Look(before, note="unchanged (etag)" if stamp.etag else "unchanged (date)")
        text = _text(watch, response)
        after: JsonValue = {**stamp.kept, "mark": mark(text), "text": text[:MOST_KEPT]}
        if not before:
            return Look(after, note=f"first look: {len(text):,} characters")
        if before.get("mark") == mark(text):
            return Look(after, note="unchanged (text)")
        change: JsonValue = {"url": watch.url, "change": difference(str(before.get("text") or ""), text)}
        return Look(after, change, site_label(watch.url, response.url), "changed")


def _text(watch: WatchPage, response: WebResponse) -> str:
    """Raises WatchFailed where the selector takes nothing out: a page that was rebuilt must not look unchanged."""
    html, kind = response.body.decode("utf-8", "replace"), response.headers.get("content-type", "")
    if not watch.selector:
        return readable(html, response.url).text if "html" in kind else html
    try:
        found = selected(html, watch.selector, response.url)
    except ValueError as bad:
        raise WatchFailed(f"{watch.url}: {bad}; choose another selector") from bad
    if found is None:
        raise WatchFailed(f"{watch.url} has nothing at {watch.selector!r}; look at the page and choose another selector")
    return found
