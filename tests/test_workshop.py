"""Boxes with their way out and their stand-ins for secrets: three neighbours put together."""

import asyncio
from pathlib import Path

import pytest
from tests.workshop_rig import FETCH, VALUE, workshop

from daimon.abi.box import Command, Place
from daimon.abi.errors import Lost, ToolFailed
from daimon.abi.ids import OWNER
from daimon.abi.label import Author, Label, Origin, owned
from daimon.sandbox.plan import has_bwrap

pytestmark = pytest.mark.skipif(not has_bwrap(), reason="bwrap is not installed: no box can be made")
OPEN = (Place("open.test"),)


def line(text: str, *places: Place, label: Label = owned("terminal")) -> Command:  # noqa: B008 - it cannot change
    return Command(argv=("/bin/sh", "-c", text), places=places, timeout_s=60, label=label)


async def test_a_box_is_told_a_stand_in_which_alone_travels_in_the_clear(tmp_path: Path) -> None:
    async with workshop(tmp_path) as shop, shop.pool.lease("self:main") as lease:
        told = await lease.resource.run(line("echo $TOKEN; env; cat /proc/self/environ"))
        assert VALUE.encode() not in told.out.head
        assert len(told.out.head.splitlines()[0]) == len(VALUE)
        ran = await lease.resource.run(line(f"{FETCH} http://open.test/path", *OPEN))
        assert (ran.code, ran.out.head) == (0, b"200\n")
        assert shop.server.got[-1].header("X-Token").encode() == told.out.head.splitlines()[0]
        [attempt] = ran.attempts
        assert (attempt.host, attempt.outcome, attempt.secrets) == ("open.test", "passed", ())
        assert {use.host for use in shop.vault.uses("token")} == {""}  # looked up, but sent to nobody


async def test_another_host_gets_the_stand_in(tmp_path: Path) -> None:
    async with workshop(tmp_path) as shop, shop.pool.lease("self:main") as lease:
        ran = await lease.resource.run(line(f"{FETCH} http://a.wide.test/", Place("a.wide.test")))
        assert ran.code == 0
        assert VALUE.encode() not in shop.server.bytes


async def test_what_no_command_opened_is_refused_and_told(tmp_path: Path) -> None:
    async with workshop(tmp_path) as shop, shop.pool.lease("self:main") as lease:
        closed = await lease.resource.run(line(f"{FETCH} http://open.test/"))
        assert closed.code != 0
        assert [(each.host, each.outcome) for each in closed.attempts] == [("open.test", "refused")]
        other = await lease.resource.run(line(f"{FETCH} http://other.test/", *OPEN))
        assert [(each.host, each.outcome) for each in other.attempts] == [("other.test", "refused")]
        assert shop.server.got == []


async def test_a_place_that_the_role_has_not_is_refused_before_anything_runs(tmp_path: Path) -> None:
    async with workshop(tmp_path) as shop, shop.pool.lease("self:main") as lease:
        with pytest.raises(ToolFailed, match=r"other\.test is no place of the role online"):
            await lease.resource.run(line("touch ran", Place("other.test")))
        assert not (shop.workspace / "ran").exists()


async def test_what_leaves_carries_all_that_was_put_into_the_box(tmp_path: Path) -> None:
    foreign = Label.of(Origin(Author.STRANGER, "mail"), readers=(OWNER,))
    async with workshop(tmp_path) as shop, shop.pool.lease("self:main") as lease:
        await lease.resource.run(line("echo from the mail > note", label=foreign))
        ran = await lease.resource.run(line(f"{FETCH} http://open.test/", *OPEN))
        assert set(ran.attempts[0].label.origins) >= set(foreign.origins)


async def test_what_one_box_put_into_the_workspace_labels_what_leaves_another(tmp_path: Path) -> None:
    foreign = Label.of(Origin(Author.STRANGER, "mail"), readers=(OWNER,))
    async with workshop(tmp_path) as shop, shop.pool.lease("self:a") as a, shop.pool.lease("self:b") as b:
        await a.resource.run(line("echo from the mail > note", label=foreign))
        ran = await b.resource.run(line(f"{FETCH} http://open.test/", *OPEN))
        assert set(ran.attempts[0].label.origins) >= set(foreign.origins)


async def test_sessions_have_boxes_of_their_own_and_one_workspace(tmp_path: Path) -> None:
    async with workshop(tmp_path) as shop, shop.pool.lease("self:a") as a, shop.pool.lease("self:b") as b:
        await a.resource.run(line("echo a > /tmp/own; echo shared > file"))
        ran = await b.resource.run(line("cat file; cat /tmp/own || echo none"))
        assert ran.out.head == b"shared\nnone\n"


async def test_of_five_boxes_three_live_and_the_others_say_what_was_lost_once(tmp_path: Path) -> None:
    async with workshop(tmp_path, most=3) as shop:
        for number in range(5):
            async with shop.pool.lease(f"self:{number}") as lease:
                await lease.resource.run(line("echo x > /tmp/x"))
        assert sum(each.is_alive for each in shop.pool.standing()) == 3
        async with shop.pool.lease("self:0") as lease:
            assert lease.lost.startswith("others needed its place: what ran in the box")
            assert (await lease.resource.run(line("cat /tmp/x"))).code == 1
        async with shop.pool.lease("self:0") as lease:
            assert lease.lost == ""


async def test_a_box_that_died_is_made_anew(tmp_path: Path) -> None:
    async with workshop(tmp_path) as shop:
        async with shop.pool.lease("self:a") as lease:
            running = asyncio.create_task(lease.resource.run(line("echo kept > file; sleep 1000")))
            async with asyncio.timeout(60):
                while not (shop.workspace / "file").exists():  # noqa: ASYNC110 - it is another process
                    await asyncio.sleep(0.005)
            await lease.resource.close()
            with pytest.raises(Lost):
                await running
        async with shop.pool.lease("self:a") as lease:
            assert lease.lost.startswith("it died: ")
            assert (await lease.resource.run(line("cat file"))).out.head == b"kept\n"


async def test_a_box_is_closed_with_all_that_goes_with_it_whenever_that_is_cancelled(tmp_path: Path) -> None:
    async with workshop(tmp_path) as shop:
        for turns in range(1, 7):
            said: list[str] = []

            async def noted(said: list[str] = said) -> None:
                said.append("ended")

            async with shop.pool.lease(f"self:{turns}") as lease:
                box = lease.resource
                await box.run(line("true"))
            rest, box.closing = box.closing, noted
            closing = asyncio.create_task(box.close())
            for _ in range(turns):
                await asyncio.sleep(0)
            closing.cancel()
            async with asyncio.timeout(60):
                await asyncio.wait((closing,))
            assert (closing.cancelled(), box.is_alive, said) == (True, False, ["ended"]), turns
            await rest()
            await box.close()
