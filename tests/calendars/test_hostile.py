"""What a server or a stranger may send: nothing of it hangs, expands, or reaches further than it should."""

import asyncio
from datetime import UTC

import pytest
from tests.calendars.rig import CALL, DEADLINE_S, HOST, Server, at, vevent
from tests.net.rig import Names
from tests.net.test_web import answer
from tests.ports import free_port

from daimon.abi.errors import ToolFailed
from daimon.calendars.account import Access, Account
from daimon.calendars.caldav import CalDav
from daimon.calendars.dav import NotXml, resources
from daimon.machine.clock import SystemClock
from daimon.net.client import WebClient
from daimon.testing.upstream import Upstream

BOMB = b'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;">]><x>&b;</x>'
FILE = b'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]><x>&a;</x>'


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (BOMB, "document type"),
        (FILE, "document type"),
        (BOMB.decode().encode("utf-16"), "document type"),
        (b"<a>" * 100_000, "levels deep"),
        (b"<html><body>Sign in</body></html>", "expected a multistatus"),
        (b"not xml", "no XML"),
        (b"", "no XML"),
        (b"\xff\xfe\x00", "no XML"),
    ],
)
def test_what_is_no_answer_is_refused_in_words(body: bytes, words: str) -> None:
    with pytest.raises(NotXml, match=words):
        resources(body)


async def test_one_event_that_cannot_be_read_hides_no_other(server: Server) -> None:
    server.put("good", *vevent("DTSTART:20260316T080000Z", "DURATION:PT1H", "SUMMARY:good"))
    server.put("odd", *vevent("DTSTART:20260316T090000Z", "RRULE:FREQ=DAILY;INTERVAL=1;COUNT=2", "DTEND:20260316T070000Z", "SUMMARY:odd"))
    server.put("long", *vevent("DTSTART:20260316T100000Z", f"DESCRIPTION:{'x' * 300_000}", "SUMMARY:long"))
    events = await server.events("2026-03-16", "2026-03-17")
    assert [each.title for each in events] == ["good", "odd", "long"]
    assert len(events[2].text) == 4_000


def bare(server: Server, port: int) -> CalDav:
    web = WebClient(resolver=Names(), local={HOST: ("127.0.0.1", port)}, secrets=server.vault, clock=SystemClock())
    return CalDav({"work": Account(Access(name="work", url=f"http://{HOST}/cal/"), web)}, "work", UTC)


async def test_a_server_that_is_gone_or_none_at_all_says_so(server: Server) -> None:
    async with Upstream() as upstream, asyncio.timeout(DEADLINE_S):
        page = b"<html>Sign in</html>"
        upstream.answers["/cal/"] = answer(page, "Content-Type: text/html", status="207 Multi-Status")
        with pytest.raises(ToolFailed, match="is no calendar server"):
            await bare(server, upstream.port).events(at("2026-03-16"), at("2026-03-17"), "", CALL)
    async with asyncio.timeout(DEADLINE_S):
        with pytest.raises(ToolFailed, match="the calendar work") as gone:
            await bare(server, free_port()).events(at("2026-03-16"), at("2026-03-17"), "", CALL)
    assert gone.value.retryable


async def test_a_server_cannot_lead_the_password_elsewhere(server: Server) -> None:
    led = b"""<d:multistatus xmlns:d="DAV:"><d:response><d:href>/</d:href><d:propstat><d:prop><d:current-user-principal>
    <d:href>http://evil.test/me/</d:href></d:current-user-principal></d:prop><d:status>HTTP/1.1 200 OK</d:status></d:propstat></d:response>
    </d:multistatus>"""
    async with Upstream() as upstream:
        upstream.answers["/.well-known/caldav"] = answer(led, "Content-Type: application/xml", status="207 Multi-Status")
        web = WebClient(resolver=Names(), local={HOST: ("127.0.0.1", upstream.port)}, secrets=server.vault, clock=SystemClock())
        calendars = CalDav({"work": Account(Access(name="work", url=f"http://{HOST}/"), web)}, "work", UTC)
        with pytest.raises(ToolFailed, match="another server"):
            await calendars.events(at("2026-03-16"), at("2026-03-17"), "", CALL)
