"""Items of a feed, from bytes that somebody else wrote: RSS, Atom, RDF or JSON Feed.

An item is told from others by its own id, else by its link, else by what it says. `feedparser` gets a stream, never a text: a text it
would take for an address or a file name, and open it. Everything is cut to what a brief needs.
"""

import io
import json
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from pydantic import JsonValue

from daimon.abi.errors import WatchFailed
from daimon.abi.invisible import visible
from daimon.tools.links import led_to
from daimon.tools.markup import stripped
from daimon.tools.readable import readable

MOST_ITEMS = 20_000
_LONGEST, _SUMMARY = 300, 500


@dataclass(frozen=True, slots=True)
class Entry:
    id: str
    told: dict[str, JsonValue]


def entries(data: bytes, kind: str, url: str) -> list[Entry]:
    """In the order of the feed, each once. Raises WatchFailed for what is no feed."""
    start = data.lstrip(b"\xef\xbb\xbf \t\r\n")[:256].lower()
    found = list(_json(data, url) if start.startswith(b"{") or "json" in kind else _xml(data, start, kind, url))
    return list({each.id: each for each in reversed(found[:MOST_ITEMS])}.values())[::-1]


def _xml(data: bytes, start: bytes, kind: str, url: str) -> Iterator[Entry]:
    import feedparser  # type: ignore[import-untyped]  # slow to load: only where a feed is read

    if start.startswith((b"<!doctype html", b"<html")):
        raise WatchFailed(_is_html(data, url))
    read = feedparser.parse(
        io.BytesIO(data), response_headers={"content-type": kind or "application/xml"}, sanitize_html=False, resolve_relative_uris=False
    )
    if not read.get("version"):
        raise WatchFailed(
            _is_html(data, url) if "html" in kind or b"<html" in start else f"{url} is no feed: it is neither RSS, Atom nor JSON Feed"
        )
    for each in read.get("entries", []):
        summary = each.get("summary") or next((part.get("value", "") for part in each.get("content", [])), "")
        yield _entry(
            url,
            each.get("id", ""),
            each.get("link", ""),
            each.get("title", ""),
            summary,
            each.get("published") or each.get("updated") or "",
        )


def _json(data: bytes, url: str) -> Iterator[Entry]:
    try:
        read: Any = json.loads(data)
    except (ValueError, RecursionError) as broken:
        raise WatchFailed(f"{url} is no feed: it begins like JSON and is none") from broken
    items = read.get("items") if isinstance(read, dict) else None
    if not isinstance(items, list) or "jsonfeed.org" not in str(read.get("version", "")):
        raise WatchFailed(f"{url} is JSON, but no JSON Feed: it has no version of jsonfeed.org, or no items")
    for each in items:
        if isinstance(each, dict):
            summary = each.get("summary") or each.get("content_text") or each.get("content_html") or ""
            id_, link, title, published = (str(each.get(name) or "") for name in ("id", "url", "title", "date_published"))
            yield _entry(url, id_, link, title, str(summary), published)


def _entry(feed: str, id_: str, link: str, title: str, summary: str, published: str) -> Entry:
    name = id_ or link or f"{title}\n{summary}"
    told: dict[str, JsonValue] = {
        "title": _short(title, _LONGEST), "link": led_to(link, feed), "published": _short(published, 60),
        "summary": _short(summary, _SUMMARY),
    }  # fmt: skip
    return Entry(sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:12], {key: value for key, value in told.items() if value})


def _short(text: str, most: int) -> str:
    flat = visible(stripped(text[: most * 20]))[0]
    return flat if len(flat) <= most else flat[: most - 1] + "…"


def _is_html(data: bytes, url: str) -> str:
    feeds = readable(data[:500_000].decode("utf-8", "replace"), url).about.feeds
    hint = f"it names these feeds: {', '.join(feeds)}" if feeds else "it names no feed either"
    return f"{url} is a web page, no feed; {hint}"
