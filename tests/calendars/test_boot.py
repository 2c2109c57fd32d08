"""A whole Daimon with a calendar in its settings: it is there, and without one there is no word of it."""

import asyncio
import json
from pathlib import Path

import pytest
from tests.calendars.rig import HOST, PASSWORD, Server, vevent
from tests.gateway.live import Live

from daimon import boot, config, keeper, settings_file, tooling
from daimon.abi.errors import Misconfigured
from daimon.calendars.account import KEEPER
from daimon.machine.home import Home


def settings(server: Server) -> config.Settings:
    entry = config.Calendar(url=f"http://{HOST}/{server.user}/work/", user=server.user)
    return config.Settings(
        extensions=("tests.calendars.secretary",), model=config.Model(use="secretary"), kernel=config.Kernel(drain_s=0),
        memory=config.Memory(embeddings="off"), network=config.Network(local={HOST: f"127.0.0.1:{server.port}"}), calendars={"work": entry},
    )  # fmt: skip


async def test_the_agent_of_a_running_gateway_sees_the_calendar(server: Server, tmp_path: Path) -> None:
    server.put("a", *vevent("DTSTART:20260316T080000Z", "DURATION:PT1H", "SUMMARY:Dentist"))
    home = Home(tmp_path / "home")
    home.ensure()
    vault = keeper.opened(home, {})
    vault.add("calendar-work", PASSWORD, keeper.Scope(hosts=(f"{HOST}:80",), agents=(KEEPER,)))
    vault.close()
    async with asyncio.timeout(60), boot.running(home, settings(server), port=0) as daimon:
        live = Live(home, daimon.url, home.token())
        turn = await asyncio.to_thread(live.ask, "what is on?", "main")
        trace = await asyncio.to_thread(live.get, f"/v1/turns/{turn['id']}")
    assert "Dentist" in json.dumps(trace)


async def test_a_calendar_comes_and_goes_with_the_settings_without_a_restart(server: Server, tmp_path: Path) -> None:
    server.put("a", *vevent("DTSTART:20260316T080000Z", "DURATION:PT1H", "SUMMARY:Dentist"))
    home = Home(tmp_path / "home")
    home.ensure()
    home.config.write_text(
        'extensions = ["tests.calendars.secretary"]\n[model]\nuse = ["secretary"]\n[kernel]\ndrain_s = 0\n[memory]\nembeddings = "off"\n'
        f'[network.local]\n"{HOST}" = "127.0.0.1:{server.port}"\n'
    )
    vault = keeper.opened(home, {})
    vault.add("calendar-work", PASSWORD, keeper.Scope(hosts=(f"{HOST}:80",), agents=(KEEPER,)))
    vault.close()
    said = {"url": f"http://{HOST}/{server.user}/work/", "user": server.user}
    async with asyncio.timeout(60), boot.running(home, config.load(home.config, {}), port=0) as daimon:
        live = Live(home, daimon.url, home.token())

        async def asked(change: settings_file.Change, place: str) -> str:
            settings_file.edit(home.config, change)
            answer = await asyncio.to_thread(live.call, "POST", "/v1/reload", {})
            assert answer.json["restart"] == []
            turn = await asyncio.to_thread(live.ask, "what is on?", place)
            return json.dumps(await asyncio.to_thread(live.get, f"/v1/turns/{turn['id']}"))

        assert "Dentist" in await asked(settings_file.put_calendar("work", said), "one")
        assert "there is no tool 'calendar_events'" in await asked(settings_file.drop_calendar("work"), "two")


async def test_settings_that_are_refused_leave_no_calendar_behind(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    home.ensure()
    plain = '[model]\nuse = ["reflex"]\n[kernel]\ndrain_s = 0\n[memory]\nembeddings = "off"\n'
    home.config.write_text(plain)
    async with asyncio.timeout(60), boot.running(home, config.load(home.config, {}), port=0) as daimon:
        registry = daimon.whole.gate.registry
        before = registry.hash
        home.config.write_text(f'{plain.replace("reflex", "nobody")}[calendars.work]\nurl = "https://{HOST}/"\n')
        with pytest.raises(Misconfigured, match="nobody"):
            await daimon.whole.reload()
        assert registry.hash == before
        home.config.write_text(plain)
        await daimon.whole.reload()
        assert registry.hash == before


def test_without_a_calendar_there_is_no_tool_for_one(server: Server, tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    names = {each.name for each in tooling.manifests(settings(server), home)}
    none = {each.name for each in tooling.manifests(config.Settings(), home)}
    assert names - none == {
        "calendar_events", "calendar_free", "calendar_add", "calendar_change", "calendar_invite", "calendar_delete", "plan",
    }  # fmt: skip
