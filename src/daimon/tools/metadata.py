"""What a page says about itself: title, who wrote it, when, in which language, under which address. In JSON-LD, OpenGraph, or plain tags.

All of it is the site's word. The first of several that is there counts, the most telling place first.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from daimon.abi.invisible import visible
from daimon.tools.links import led_to

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser

_LONGEST = 500
_LONGEST_LD = 200_000
_DATE = re.compile(r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?")
_FEEDS = ("application/rss+xml", "application/atom+xml", "application/feed+json", "application/json")


@dataclass(frozen=True, slots=True, kw_only=True)
class About:
    title: str = ""
    byline: str = ""
    site: str = ""
    language: str = ""
    published: str = ""
    description: str = ""
    canonical: str = ""
    feeds: tuple[str, ...] = ()


def about(page: "LexborHTMLParser", base: str) -> About:
    metas = _metas(page)
    linked = _linked(page)

    def first(*candidates: str) -> str:
        return next((_short(each) for each in candidates if each and each.strip()), "")

    time = page.css_first("time[datetime]")
    root = page.css_first("html")
    links = [(node.attributes.get("rel") or "", node) for node in page.css("link[rel]")[:200]]
    canonical = next((node.attributes.get("href") or "" for rel, node in links if "canonical" in rel.lower().split()), "")
    feeds = (node.attributes.get("href") or "" for rel, node in links if (node.attributes.get("type") or "").lower() in _FEEDS)
    return About(
        title=first(metas.get("og:title", ""), linked.get("headline", ""), _text(page, "title"), _text(page, "h1")),
        byline=first(metas.get("author", ""), linked.get("author", ""), metas.get("article:author", "")),
        site=first(metas.get("og:site_name", ""), linked.get("publisher", "")),
        language=first((root.attributes.get("lang") or "") if root else "", metas.get("og:locale", ""), linked.get("inLanguage", ""))[:20],
        published=_dated(
            metas.get("article:published_time", ""),
            linked.get("datePublished", ""),
            metas.get("date", ""),
            (time.attributes.get("datetime") or "") if time else "",
        ),
        description=first(metas.get("og:description", ""), metas.get("description", "")),
        canonical=led_to(canonical, base) or led_to(metas.get("og:url", ""), base),
        feeds=tuple(dict.fromkeys(found for each in feeds if (found := led_to(each, base))))[:5],
    )


def _text(page: "LexborHTMLParser", selector: str) -> str:
    found = page.css_first(selector)
    return found.text() if found else ""


def _metas(page: "LexborHTMLParser") -> dict[str, str]:
    found: dict[str, str] = {}
    for node in page.css("meta")[:300]:
        given = node.attributes
        name = (given.get("property") or given.get("name") or "").lower()
        if name and given.get("content"):
            found.setdefault(name, given["content"] or "")
    return found


def _linked(page: "LexborHTMLParser") -> dict[str, str]:
    """Of the first thing in JSON-LD that has a headline, or a date."""
    found: dict[str, str] = {}
    for script in page.css('script[type="application/ld+json"]')[:10]:
        for thing in _things(script.text()):
            for key in ("headline", "author", "publisher", "datePublished", "inLanguage"):
                if value := _named(thing.get(key)):
                    found.setdefault(key, value)
    return found


def _things(text: str) -> Iterator[dict[str, Any]]:
    if len(text) > _LONGEST_LD:
        return
    try:
        read = json.loads(text)
    except (ValueError, RecursionError):
        return
    for each in (read if isinstance(read, list) else [read])[:50]:
        if isinstance(each, dict):
            graph = each.get("@graph")
            yield each
            yield from (inner for inner in (graph if isinstance(graph, list) else [])[:50] if isinstance(inner, dict))


def _named(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(name for each in value[:10] if (name := _named(each)))
    if isinstance(value, dict):
        return _named(value.get("name"))
    return value if isinstance(value, str) else ""


def _dated(*candidates: str) -> str:
    return next((found[0] for each in candidates if (found := _DATE.match(each.strip()))), "")


def _short(text: str) -> str:
    flat = " ".join(visible(text)[0].split())
    return flat if len(flat) <= _LONGEST else flat[: _LONGEST - 1] + "…"
