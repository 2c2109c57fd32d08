"""The benchmark of conformance can say no: what was not looked at is no pass, and nothing is left out without a reason."""

import asyncio
import json
from pathlib import Path

import conformance
import httpx2
import pytest
from lab.conformed import REASONS, page
from lab.suite import Outcome, Scenario, read
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client

DEADLINE_S = 60.0
PING = Scenario("server", "ping", "2025-06-18,2025-11-25")


def found(place: Path, *statuses: str) -> Outcome:
    checks = [{"id": f"c{n}", "status": status, "errorMessage": "because"} for n, status in enumerate(statuses)]
    (place / "checks.json").write_text(json.dumps(checks))
    return read(PING, place, "said")


@pytest.mark.parametrize(
    ("statuses", "is_passed"),
    [(["SUCCESS"], True), (["SUCCESS", "INFO"], True), ([], False), (["INFO"], False), (["SUCCESS", "FAILURE"], False),
     (["SUCCESS", "WARNING"], False)],
)  # fmt: skip
def test_a_scenario_passes_if_something_was_checked_and_nothing_was_wrong(tmp_path: Path, statuses: list[str], is_passed: bool) -> None:
    assert found(tmp_path, *statuses).is_passed is is_passed


def test_the_page_tells_what_failed_and_why_others_were_left_out(tmp_path: Path) -> None:
    left_out = Scenario("client", "auth/basic-cimd", "2025-11-25")
    told = page((PING, left_out), (found(tmp_path, "FAILURE"),))
    assert "| server | `ping` | 2025-06-18, 2025-11-25 | **failed** | c0: because |" in told
    assert f"| client | `auth/basic-cimd` | 2025-11-25 | left out | {REASONS['auth/basic-cimd']} |" in told
    assert told.count("0 of 1 scenarios") == 1


def test_the_page_in_the_repository_leaves_nothing_open() -> None:
    told = conformance.PAGE.read_text(encoding="utf-8")
    assert "**failed**" not in told
    assert "was not run" not in told
    assert all(f"`{name}`" in told and reason in told for name, reason in REASONS.items())


async def test_the_fixtures_are_served_behind_the_door() -> None:
    """What the suite drives is the real door: under another name nobody is there."""
    async with asyncio.timeout(DEADLINE_S), conformance.fixture_server() as url, httpx2.AsyncClient() as http:
        foreign = await http.post(url, headers={"Host": "evil.example"}, json={})
        assert foreign.status_code == 421
        async with Client(streamable_http_client(url), mode="legacy") as client:
            answer = await client.call_tool("test_simple_text", {})
        assert "simple text response" in answer.content[0].text  # type: ignore[union-attr]
