"""Skills, lessons and servers by the page: looked at, agreed to and taken away, with a real browser and a server in a box."""

import json
import re
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect
from tests.gateway.live import Live
from tests.mcp.rig import RAW
from tests.room.rig import DEADLINE_S, PHONE, Gateway, Room, axe, gateway, pressed
from tests.skills.written import bundle, put, skill_md

from daimon import config
from daimon.sandbox.plan import has_bwrap
from daimon.skills.bundle import File

EVIL = "<img src=x onerror=alert(1)><b>x</b>"
HIDDEN = "a\U000e0041\u202eb"
NEEDS = "metadata:\n  daimon-hosts: feeds.example.org\n  daimon-files: write\n"
WHOM = "ann@example.org ben@example.org cleo@example.org dora@example.org emil@example.org fred@example.org"
SAYS = "Does something."


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("skills")


@pytest.fixture(scope="module")
def daimon(place: Path) -> Iterator[Gateway]:
    """With a server that says of its tool what stands in a file."""
    own = place / "server"
    own.mkdir()
    (own / "says").write_text(SAYS)
    code = f"{RAW}\nanswers(lambda: [{{**TOOL, 'description': open(__file__[:-len('server.py')] + 'says').read()}}])\n"
    (own / "server.py").write_text(code)
    command = [f"{sys.prefix}/bin/python", str(own / "server.py")]
    sample = config.Server.model_validate({"command": command, "read": [sys.prefix], "write": [str(own)]})
    switched_off = config.Server(command=("/bin/true",), is_on=False)
    servers = {"sample": sample, "quiet": switched_off} if has_bwrap() else {"quiet": switched_off}
    with gateway(place / "home", mcp=servers) as running:
        yield running


def written(place: Path, name: str, *, more: str = NEEDS, body: str = "Steps.") -> str:
    text = skill_md(name, f"Read feeds {json.dumps(EVIL)[1:-1]}", more, body)
    return str(put(place / name, {**bundle(text), "scripts/go.sh": File(b"#!/bin/sh\n", True)}))


def installed(live: Live, source: str) -> None:
    made = live.call("POST", "/v1/skills", {"source": source})
    assert made.status == 201, made.body


def no_overflow(page: Page) -> bool:
    return bool(page.evaluate("() => { const box = document.querySelector('.content'); return box.scrollWidth <= box.clientWidth; }"))


def learned(live: Live) -> Any:
    """A turn of six calls that the owner allowed, when what was learned from it waits."""
    turn = live.ask(f"mail {WHOM}", "letters")
    (asked,) = live.get("/v1/questions")
    with live.feed("letters") as feed:
        to = f"{asked['to']['turn']}:{asked['to']['n']}"
        assert live.call("POST", "/v1/events", {"type": "answer", "to": to, "choice": "allow"}).status == 202
        feed.until_rest()
    until = time.monotonic() + DEADLINE_S
    while not live.get("/v1/lessons"):
        assert time.monotonic() < until, "no lesson came"
    return turn


def test_an_empty_home_says_how_to_begin_and_the_keyboard_leads_there(room: Room) -> None:
    page = room.tab("/health")
    pressed(page, "g", "k")
    expect(page.get_by_role("heading", name="No skill is installed")).to_be_visible()
    expect(page.get_by_text("daimon skills install SOURCE")).to_be_visible()
    assert axe(page) == []
    page.get_by_role("tab", name="Skills").focus()
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("heading", name="No lesson waits")).to_be_visible()
    expect(page).to_have_url(re.compile("tab=lessons"))


def test_a_skill_is_shown_as_a_strangers_approved_vouched_for_and_removed_with_what_goes(room: Room, place: Path) -> None:
    installed(room.live, written(place, "read-feeds", body=f"# Steps\n{EVIL}\n{HIDDEN}"))
    page = room.tab("/skills")
    row = page.get_by_role("row").filter(has_text="read-feeds")
    expect(row).to_contain_text("waits for your yes")
    expect(row).to_contain_text("stranger · skill:read-feeds")
    expect(row).to_contain_text("its scripts may reach feeds.example.org; its scripts may read and change your workspace")
    row.get_by_role("link", name="read-feeds").click()
    expect(page.get_by_role("region", name="Text of SKILL.md")).to_contain_text(f"{EVIL}\nab")
    expect(page.get_by_text("scripts/go.sh")).to_be_visible()
    assert page.locator("main img, main b").count() == 0
    assert axe(page) == []
    page.get_by_role("button", name="Approve").click()
    expect(page.get_by_role("dialog")).to_contain_text("feeds.example.org")
    page.get_by_role("dialog").get_by_role("button", name="Allow").click()
    expect(page.get_by_text("yes, to this version")).to_be_visible()
    page.get_by_role("button", name="Vouch").click()
    page.get_by_role("dialog").get_by_role("button", name="Vouch").click()
    expect(page.get_by_text("you · skill:read-feeds")).to_be_visible()
    held = room.live.get("/v1/skills/read-feeds")
    assert (held["state"], held["is_approved"], held["is_vouched"]) == ("ready", True, True)
    page.get_by_role("button", name="What else to do with read-feeds").click()
    page.get_by_role("menuitem", name="Switch off").click()
    expect(page.get_by_role("button", name="Switch on")).to_be_visible()
    page.get_by_role("button", name="What else to do with read-feeds").click()
    page.get_by_role("menuitem", name="Remove").click()
    expect(page.get_by_role("dialog")).to_contain_text("scripts/go.sh")
    page.get_by_role("dialog").get_by_role("button", name="Remove").click()
    expect(page).to_have_url(re.compile("/skills$"))
    assert room.live.call("GET", "/v1/skills/read-feeds").status == 404


def test_a_yes_is_to_the_version_that_was_seen_and_not_to_one_that_came_meanwhile(room: Room, place: Path) -> None:
    room.forgiven = ("409",)
    installed(room.live, written(place, "tidy-up"))
    page = room.tab("/skills/tidy-up")
    page.get_by_role("button", name="Approve").click()
    wider = NEEDS.replace("feeds.example.org", "feeds.example.org evil.example.org")
    installed(room.live, written(place, "tidy-up", more=wider))
    page.get_by_role("dialog").get_by_role("button", name="Allow").click()
    expect(page.get_by_text("another version by now")).to_be_visible()
    expect(page.get_by_text("its scripts may reach evil.example.org")).to_be_visible()
    assert room.live.get("/v1/skills/tidy-up")["is_approved"] is False
    assert room.live.call("DELETE", "/v1/skills/tidy-up").status == 200


def test_a_skill_is_installed_from_where_it_is_after_what_it_needs_was_shown(room: Room, place: Path) -> None:
    source = written(place, "sum-up")
    page = room.tab("/skills")
    expect(page.get_by_role("heading", name="No skill is installed")).to_be_visible()
    page.keyboard.press("n")
    page.get_by_label("Where it is").fill(source)
    page.keyboard.press("Enter")
    offer = page.get_by_role("dialog", name="Install sum-up?")
    expect(offer).to_contain_text("feeds.example.org")
    expect(offer).to_contain_text("can be run")
    assert axe(page) == []
    assert room.live.get("/v1/skills") == []
    offer.get_by_role("button", name="Install and allow what it needs").click()
    expect(page).to_have_url(re.compile("/skills/sum-up$"))
    expect(page.get_by_text("yes, to this version")).to_be_visible()
    phone = room.tab("/skills/sum-up", PHONE)
    expect(phone.get_by_role("region", name="Text of SKILL.md")).to_be_visible()
    assert no_overflow(phone)
    assert axe(phone) == []
    assert room.live.call("DELETE", "/v1/skills/sum-up").status == 200


def test_a_lesson_is_seen_with_the_run_that_it_rests_on_and_accepted(room: Room) -> None:
    page = room.tab("/skills?tab=lessons")
    expect(page.get_by_role("heading", name="No lesson waits")).to_be_visible()
    turn = learned(room.live)
    (lesson,) = room.live.get("/v1/lessons")
    shown = page.get_by_role("region", name=f"What {lesson['skill']} would be")  # the page heard of it by itself
    expect(shown).to_contain_text("+1. `mail`")
    link = page.get_by_role("region", name="Runs behind").get_by_role("link")
    expect(link).to_have_attribute("href", f"/runs/{turn['id']}")
    assert axe(page) == []
    page.get_by_role("button", name="Accept").click()
    expect(page.get_by_role("heading", name="No lesson waits")).to_be_visible()
    (held,) = room.live.get("/v1/skills")
    assert (held["skill"]["name"], held["source"]) == (lesson["skill"], "learned")
    assert room.live.call("DELETE", f"/v1/skills/{lesson['skill']}").status == 200


@pytest.mark.skipif(not has_bwrap(), reason="bwrap is not installed: no box can be made")
def test_a_tool_that_changed_is_approved_after_its_difference_was_seen(room: Room, place: Path) -> None:
    page = room.tab("/skills?tab=servers")
    page.get_by_role("link", name="sample").click()
    page.get_by_role("button", name="Ask it what it has").click()
    new = page.get_by_role("region", name="act", exact=True)
    expect(new).to_contain_text(SAYS)
    expect(new).to_contain_text("sends to others, or changes something elsewhere")
    page.get_by_role("button", name="Approve act").click()
    expect(new).to_contain_text("offered")
    (place / "server" / "says").write_text(f"Does more {EVIL} {HIDDEN}.")
    page.get_by_role("button", name="Ask it what it has").click()
    changed = page.get_by_role("region", name="What is different in act")
    expect(changed.locator(".is-out")).to_contain_text([SAYS])
    expect(changed.locator(".is-in")).to_contain_text([f"Does more {EVIL} ab."])
    assert page.locator("main img, main b").count() == 0
    assert room.live.get("/v1/servers/sample")["status"]["waiting"] == ["act"]
    page.set_viewport_size(PHONE)  # type: ignore[arg-type]
    assert no_overflow(page)
    assert axe(page) == []
    page.get_by_role("button", name="Approve act").click()
    expect(changed).to_be_hidden()
    account = room.live.get("/v1/servers/sample")
    assert account["status"]["waiting"] == []
    assert "sample_act" in account["status"]["tools"]


def test_a_server_that_is_off_can_be_switched_on(room: Room) -> None:
    page = room.tab("/skills?tab=servers", PHONE)
    row = page.get_by_role("row").filter(has_text="quiet")
    expect(row).to_contain_text("off")
    assert no_overflow(page)
    row.get_by_role("link").click()
    expect(page.get_by_role("button", name="Switch on")).to_be_visible()
    assert no_overflow(page)
    assert axe(page) == []


def test_a_device_that_may_only_read_is_offered_nothing_to_press(room: Room, place: Path) -> None:
    installed(room.live, written(place, "look-only"))
    link = room.live.call("POST", "/v1/links", {"rights": ["read"]}).json["urls"][0]
    page = room.tab("/health")
    page.goto("about:blank")  # what the page still asks for ends here: it would be asked without a cookie
    room.context.clear_cookies()
    page.goto(link)
    expect(page).not_to_have_url(re.compile("/enter"))
    page.goto(link.split("/enter")[0] + "/skills/look-only")
    expect(page.get_by_role("region", name="Text of SKILL.md")).to_be_visible()
    expect(page.get_by_role("button", name="Approve")).to_have_count(0)
    assert room.live.call("DELETE", "/v1/skills/look-only").status == 200
