"""Services: kept running, stopped by hand, brought back; the ones that cannot be kept running rest."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.workshop_rig import FETCH, Shop, workshop

from daimon.abi.errors import ToolFailed
from daimon.abi.label import UNLABELLED, Author, Label, Origin
from daimon.abi.terminal import Service, ServiceState
from daimon.abi.tool import Call, Result
from daimon.machine.clock import SystemClock
from daimon.sandbox.plan import has_bwrap
from daimon.sandbox.services import DEATHS, MOST, KeptServices
from daimon.tools.services import service_tools
from daimon.tools.shell import owner_of, shell_tools

pytestmark = pytest.mark.skipif(not has_bwrap(), reason="bwrap is not installed: no box can be made")
DEADLINE_S = 60.0
OWNER = "daimon:home/services"


class Quick(SystemClock):
    """Waits a hundredth."""

    async def sleep(self, seconds: float) -> None:
        await super().sleep(seconds / 100)


@asynccontextmanager
async def kept(shop: Shop) -> AsyncIterator[KeptServices]:
    services = KeptServices(shop.workspace.parent / "services.json", shop.pool, Quick(), shop.workshop.outputs)
    services.resume()
    try:
        yield services
    finally:
        await services.close()


def service(command: str, name: str = "one", **more: Any) -> Service:
    return Service(name=name, command=command, **more)


async def until(services: KeptServices, **wanted: Any) -> ServiceState:
    async with asyncio.timeout(DEADLINE_S):
        while True:
            for state in services.list(OWNER):
                if all(getattr(state, name) == value for name, value in wanted.items()):
                    return state
            await asyncio.sleep(0.01)


async def said(services: KeptServices, owner: str, text: str, name: str = "one") -> None:
    async with asyncio.timeout(DEADLINE_S):
        while services.log(owner, name, 1_000).text != text:  # noqa: ASYNC110 - it happens in another process
            await asyncio.sleep(0.01)


async def test_a_service_runs_until_it_is_stopped_and_its_words_are_kept(tmp_path: Path) -> None:
    async with workshop(tmp_path) as shop, kept(shop) as services:
        begun = await services.start(OWNER, service("echo $AGENT_ID begins; exec sleep 1000"), UNLABELLED)
        assert begun.state == "running"
        assert [standing.leases for standing in shop.pool.standing()] == [1]
        again = await services.start(OWNER, service("echo $AGENT_ID begins; exec sleep 1000"), UNLABELLED)
        assert again == begun
        await said(services, OWNER, "daimon begins\n")
        stopped = await services.stop(OWNER, "one")
        assert stopped.state == "stopped"
        assert [standing.leases for standing in shop.pool.standing()] == [0]


async def test_a_service_that_dies_is_started_again_and_one_that_keeps_dying_rests(tmp_path: Path) -> None:
    async with workshop(tmp_path) as shop, kept(shop) as services:
        await services.start(OWNER, service("echo x >> tries; exit 3"), UNLABELLED)
        resting = await until(services, state="resting")
        assert (resting.restarts, resting.last) == (DEATHS - 1, "exit 3")
        assert (shop.workspace / "tries").read_text() == "x\n" * DEATHS
        assert "rests until it is started again" in services.log(OWNER, "one", 1_000).text
        assert (await services.start(OWNER, service("exec sleep 1000"), UNLABELLED)).state == "running"


async def test_when_to_start_again_is_the_service_s_to_say(tmp_path: Path) -> None:
    async with workshop(tmp_path) as shop, kept(shop) as services:
        await services.start(OWNER, service("true", "fine"), UNLABELLED)
        await services.start(OWNER, service("false", "never", restart="never"), UNLABELLED)
        await services.start(OWNER, service("true", "always", restart="always"), UNLABELLED)
        async with asyncio.timeout(DEADLINE_S):
            while [state.state for state in services.list(OWNER)] != ["ended", "ended", "resting"]:  # noqa: ASYNC110 - it happens in another process
                await asyncio.sleep(0.01)


async def test_after_a_restart_those_come_back_that_nobody_stopped(tmp_path: Path) -> None:
    secret = Label.of(Origin(Author.STRANGER, "mail:evil"))
    async with workshop(tmp_path) as shop:
        async with kept(shop) as services:
            await services.start(OWNER, service("exec sleep 1000", "stays"), secret)
            await services.start(OWNER, service("exec sleep 1000", "goes"), UNLABELLED)
            await services.stop(OWNER, "goes")
        async with kept(shop) as services:
            await until(services, state="running")
            assert [state.service.name for state in services.list(OWNER)] == ["stays"]
        assert (tmp_path / "services.json").stat().st_mode & 0o077 == 0
        marks = set().union(*(label.origins for label in shop.workshop.marks.labels.values()))
        assert marks >= set(secret.origins)


async def test_after_the_box_died_a_service_runs_in_a_new_one(tmp_path: Path) -> None:
    async with workshop(tmp_path) as shop, kept(shop) as services:
        await services.start(OWNER, service("echo x >> starts; exec sleep 1000"), UNLABELLED)
        await shop.pool.restart(OWNER, "the owner wanted it")
        state = await until(services, restarts=1, state="running")
        assert "the box is gone" in state.last


async def test_why_there_is_no_box_for_a_service_is_told(tmp_path: Path) -> None:
    async with workshop(tmp_path) as shop, kept(shop) as services:
        shop.vault.remove("token")  # which the role of its box names
        await services.start(OWNER, service("exec sleep 1000"), UNLABELLED)
        resting = await until(services, state="resting")
        assert "token" in resting.last
        assert "token" in services.log(OWNER, "one", 1_000).text


async def test_a_service_whose_start_anew_was_cancelled_is_not_taken_for_running(tmp_path: Path) -> None:
    async with workshop(tmp_path) as shop, kept(shop) as services:
        await services.start(OWNER, service("exec sleep 1000"), UNLABELLED)
        changing = asyncio.create_task(services.start(OWNER, service("exec sleep 1001"), UNLABELLED))
        await asyncio.sleep(0)  # it is ending the one before
        changing.cancel()
        await asyncio.gather(changing, return_exceptions=True)
        await until(services, state="ended")
        assert (await services.start(OWNER, service("exec sleep 1000"), UNLABELLED)).state == "running"
        assert [standing.leases for standing in shop.pool.standing()] == [1]


async def test_a_service_gets_nothing_of_a_command_s_way_out(tmp_path: Path, call: Call) -> None:
    async with workshop(tmp_path) as shop, kept(shop) as services:
        line = f"while :; do {FETCH} http://open.test/stolen; done >/dev/null 2>&1"
        await services.start(owner_of(call), service(line), UNLABELLED)
        [online] = shell_tools(shop.pool, shop.workshop.sandboxes.places())
        result = await online.run({"command": f"sleep 0.5; {FETCH} http://open.test/mine", "hosts": ["open.test"]}, call)
        assert isinstance(result, Result)
        assert {each.what for each in result.touched if each.outcome.startswith("passed")} == {"GET open.test:80/mine"}
        assert [state.state for state in services.list(owner_of(call))] == ["running"]


async def test_there_are_only_so_many_and_each_owner_sees_its_own(tmp_path: Path) -> None:
    async with workshop(tmp_path) as shop, kept(shop) as services:
        await asyncio.gather(*(services.start(OWNER, service("exec sleep 1000", f"s{n}"), UNLABELLED) for n in range(MOST)))
        with pytest.raises(ToolFailed, match="services run already"):
            await services.start(OWNER, service("exec sleep 1000", "more"), UNLABELLED)
        assert services.list("other:home/x") == ()
        with pytest.raises(ToolFailed, match="there is no service"):
            await services.stop("other:home/x", "s0")


@pytest.mark.parametrize("name", ["", "../x", "A", "a" * 40, "a b", "ü"])
async def test_a_name_that_is_none_is_refused(tmp_path: Path, name: str) -> None:
    async with workshop(tmp_path) as shop, kept(shop) as services:
        with pytest.raises(ToolFailed, match="no name for a service"):
            await services.start(OWNER, service("true", name), UNLABELLED)


async def test_a_file_that_cannot_be_read_is_said_and_left(tmp_path: Path) -> None:
    (tmp_path / "services.json").write_bytes(b"{broken")
    async with workshop(tmp_path) as shop, kept(shop) as services:
        assert "cannot be read" in services.warnings[0]
        with pytest.raises(ToolFailed, match="cannot be read"):
            await services.start(OWNER, service("true"), UNLABELLED)
        assert (tmp_path / "services.json").read_bytes() == b"{broken"


async def test_the_tool_starts_lists_shows_and_stops(tmp_path: Path, call: Call) -> None:
    async with workshop(tmp_path) as shop, kept(shop) as services:
        [tool] = service_tools(services)

        async def use(**arguments: Any) -> dict[str, Any]:
            result = await tool.run(arguments, call)
            assert isinstance(result, Result)
            assert isinstance(result.data, dict)
            return dict(result.data)

        assert (await use(action="start", name="web", command="echo up; exec sleep 1000"))["state"] == "running"
        assert [each["name"] for each in (await use(action="list"))["services"]] == ["web"]
        await said(services, owner_of(call), "up\n", "web")
        assert (await use(action="log", name="web"))["log"] == "up\n"
        assert (await use(action="stop", name="web"))["state"] == "stopped"
        for wrong in ({"action": "start", "name": "x"}, {"action": "stop"}, {"action": "log", "name": "nobody"}):
            with pytest.raises(ToolFailed):
                await use(**wrong)
