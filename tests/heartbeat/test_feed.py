"""Feeds on a server of this machine."""

import asyncio
import json
from collections.abc import AsyncIterator

import pytest
from tests.net.test_web import Place, answer, placed

from daimon.abi.errors import WatchFailed
from daimon.abi.watch import Look, WatchFeed
from daimon.heartbeat.watchers.feed import FeedWatcher

URL = "http://open.test/feed"
WATCH = WatchFeed((URL,))


@pytest.fixture
async def place() -> AsyncIterator[Place]:
    async with placed() as place:
        yield place


def item(n: int | str, **more: str) -> str:
    extra = "".join(f"<{name}>{value}</{name}>" for name, value in more.items())
    return f"<item><guid>{n}</guid><title>Item {n}</title><link>/i/{n}</link>{extra}</item>"


def rss(*items: str) -> bytes:
    text = f"<?xml version='1.0'?><rss version='2.0'><channel><title>T</title>{''.join(items)}</channel></rss>"
    return answer(text.encode(), "Content-Type: application/rss+xml")


async def looked(place: Place, state=None, watch: WatchFeed = WATCH) -> Look:
    async with asyncio.timeout(60):
        look = await FeedWatcher(place.client).look(watch, state)
    return Look(json.loads(json.dumps(look.state)), look.change, look.label, look.note)  # as the journal gives it back


def titles(look: Look) -> list[str]:
    assert isinstance(look.change, dict)
    return [str(each["title"]) for each in look.change["items"]]  # type: ignore[union-attr, index, call-overload]


async def test_the_first_look_takes_stock_and_the_next_hands_over_what_is_new_oldest_first(place: Place) -> None:
    place.plain.answers["/feed"] = rss(item(2), item(1))
    first = await looked(place)
    assert (first.change, first.note) == (None, "first look: 2 items")
    assert (await looked(place, first.state)).change is None
    place.plain.answers["/feed"] = rss(item(4, description="&lt;b&gt;Bold&lt;/b&gt; words"), item(3), item(2))
    look = await looked(place, first.state)
    assert (titles(look), look.note) == (["Item 3", "Item 4"], "2 new items")
    assert look.change["items"][1] == {  # type: ignore[index, call-overload]
        "feed": URL, "title": "Item 4", "link": "http://open.test/i/4", "summary": "Bold words"
    }  # fmt: skip
    assert look.label is not None
    assert [each.source for each in look.label.origins] == ["web:open.test"]
    assert (await looked(place, look.state)).note == "unchanged"


async def test_an_item_that_vanishes_and_comes_back_is_not_new(place: Place) -> None:
    place.plain.answers["/feed"] = rss(item(2), item(1))
    first = await looked(place)
    place.plain.answers["/feed"] = rss(item(2))
    second = await looked(place, first.state)
    place.plain.answers["/feed"] = rss(item(2), item(1))
    assert (await looked(place, second.state)).change is None


async def test_a_feed_that_is_as_it_was_is_asked_by_its_etag(place: Place) -> None:
    body = rss(item(1)).replace(b"\r\n\r\n", b'\r\nETag: "e1"\r\nLast-Modified: yesterday\r\n\r\n', 1)
    place.plain.answers["/feed"] = body
    first = await looked(place)
    place.plain.answers["/feed"] = b'HTTP/1.1 304 Not Modified\r\nETag: "e1"\r\n\r\n'
    look = await looked(place, first.state)
    assert (look.change, look.state) == (None, first.state)
    assert (place.plain.got[-1].header("if-none-match"), place.plain.got[-1].header("if-modified-since")) == ('"e1"', "yesterday")


async def test_what_is_too_much_at_once_waits_and_is_not_hidden_by_an_etag(place: Place) -> None:
    watch = WatchFeed((URL,), most=2)
    place.plain.answers["/feed"] = rss()
    first = await looked(place, None, watch)
    place.plain.answers["/feed"] = rss(*(item(n) for n in (5, 4, 3, 2, 1))).replace(b"\r\n\r\n", b'\r\nETag: "e"\r\n\r\n', 1)
    told, state = [], first.state
    for _ in range(3):
        look = await looked(place, state, watch)
        told += titles(look)
        state = look.state
    assert told == ["Item 1", "Item 2", "Item 3", "Item 4", "Item 5"]
    assert place.plain.got[-1].header("if-none-match") == ""
    assert (await looked(place, state, watch)).change is None


async def test_atom_and_json_feeds_are_read_too(place: Place) -> None:
    atom = "<feed xmlns='http://www.w3.org/2005/Atom'><entry><id>x:1</id><title>A</title><link href='http://a.test/1'/></entry></feed>"
    feed = {"version": "https://jsonfeed.org/version/1.1", "items": [{"id": 7, "title": "J", "url": "/j", "date_published": "2099-01-01"}]}
    watch = WatchFeed(("http://open.test/atom", "http://open.test/json"))
    place.plain.answers |= {
        "/atom": answer(b"<feed xmlns='http://www.w3.org/2005/Atom'/>"),
        "/json": answer(b'{"version":"https://jsonfeed.org/version/1","items":[]}'),
    }
    first = await looked(place, None, watch)
    place.plain.answers |= {
        "/atom": answer(atom.encode()),
        "/json": answer(json.dumps(feed).encode(), "Content-Type: application/feed+json"),
    }
    assert titles(await looked(place, first.state, watch)) == ["A", "J"]


async def test_an_item_without_an_id_is_known_by_its_link_or_its_words(place: Place) -> None:
    bare, linked = "<item><title>Words</title></item>", "<item><title>L</title><link>http://x.test/1</link></item>"
    place.plain.answers["/feed"] = rss(bare, linked)
    first = await looked(place)
    place.plain.answers["/feed"] = rss(linked.replace("L<", "renamed<"), bare, bare.replace("Words", "Other words"))
    assert titles(await looked(place, first.state)) == ["Other words"]


async def test_a_broken_feed_does_not_stop_the_others_and_is_said(place: Place) -> None:
    watch = WatchFeed((URL, "http://open.test/broken", "http://gone.test/"))
    place.plain.answers |= {"/feed": rss(), "/broken": answer(b"nothing of the kind")}
    first = await looked(place, None, watch)
    place.plain.answers["/feed"] = rss(item(1))
    look = await looked(place, first.state, watch)
    assert titles(look) == ["Item 1"]
    assert "http://open.test/broken is no feed" in look.note
    assert "gone.test" in look.note


async def test_a_feed_that_begins_late_takes_stock_by_itself(place: Place) -> None:
    watch = WatchFeed((URL, "http://open.test/late"))
    place.plain.answers |= {"/feed": rss(item(1)), "/late": answer(b"", status="500 No")}
    first = await looked(place, None, watch)
    place.plain.answers["/late"] = rss(item(8), item(9))
    assert (await looked(place, first.state, watch)).change is None


async def test_a_web_page_is_no_feed_and_its_feeds_are_named(place: Place) -> None:
    html = b'<!DOCTYPE html><html><head><link rel="alternate" type="application/rss+xml" href="/real.xml"></head><body>Hi</body></html>'
    place.plain.answers["/feed"] = answer(html, "Content-Type: text/html")
    with pytest.raises(WatchFailed, match=r"is a web page, no feed; it names these feeds: http://open\.test/real\.xml"):
        await looked(place)


@pytest.mark.parametrize(
    "hostile",
    [
        b"<?xml version='1.0'?><!DOCTYPE x [<!ENTITY a 'ha'>"
        + b"".join(b"<!ENTITY %c '%s'>" % (98 + n, b"&%c;" % (97 + n) * 10) for n in range(15))
        + b"]><rss version='2.0'><channel><item><guid>1</guid><title>&p;</title></item></channel></rss>",
        b"<?xml version='1.0'?><!DOCTYPE x [<!ENTITY a SYSTEM 'file:///etc/passwd'>]><rss version='2.0'><channel><item><guid>1</guid>"
        b"<title>&a;</title></item></channel></rss>",
        b"<rss version='2.0'><channel>" + b"<item>" * 5_000,
    ],
)
async def test_a_feed_that_was_made_to_hurt_is_read_or_refused(place: Place, hostile: bytes) -> None:
    place.plain.answers["/feed"] = rss()
    first = await looked(place)
    place.plain.answers["/feed"] = answer(hostile, "Content-Type: application/xml")
    try:
        look = await looked(place, first.state)
    except WatchFailed:
        return
    assert len(json.dumps(look.change)) < 2_000_000
    assert "root:" not in json.dumps(look.change)


async def test_ten_thousand_items_are_remembered(place: Place) -> None:
    place.plain.answers["/feed"] = rss(*(item(n) for n in range(10_000)))
    first = await looked(place)
    assert first.note == "first look: 10000 items"
    place.plain.answers["/feed"] = rss(item("new"), *(item(n) for n in range(10_000)))
    look = await looked(place, first.state)
    assert titles(look) == ["Item new"]
    assert len(json.dumps(look.state)) < 400_000
