"""Tokens that are renewed by themselves, and what happens where they cannot be."""

import asyncio
from pathlib import Path

import pytest
from tests.mcp.oauth.rig import DEADLINE_S, Rig, rigged

from daimon.abi.errors import LockedOut, Misconfigured, WebFailed
from daimon.mcp.oauth.tokens import Tokens
from daimon.testing.oauth import SERVER


async def refused(rig: Rig, token: str) -> str:
    async with asyncio.timeout(DEADLINE_S):
        return await rig.tokens.refused("notes", SERVER, token)


async def test_a_good_token_is_used_as_it_is_and_renewed_before_it_runs_out(tmp_path: Path) -> None:
    async with rigged(tmp_path) as rig:
        await rig.sign_in()
        first = rig.token
        assert await rig.ready() == "mcp-notes-token"
        assert rig.token == first
        await rig.clock.advance(3_600 - 59)
        await rig.ready()
        assert rig.token != first
        assert rig.token in rig.service.good
        assert not rig.told


async def test_many_who_need_it_at_once_wait_for_one_renewal(tmp_path: Path) -> None:
    async with rigged(tmp_path) as rig:
        await rig.sign_in()
        await rig.clock.advance(4_000)
        await asyncio.gather(*(rig.ready() for _ in range(10)))
        other = Tokens(rig.tokens.keeping, rig.tokens.asking, rig.clock, rig.tokens.tell)  # as another process would
        await asyncio.gather(*(each.refused("notes", SERVER, "at/old") for each in (rig.tokens, other)))
        assert rig.service.count("/token") == 2
        assert not rig.service.is_over


async def test_a_clock_that_was_set_makes_the_token_be_renewed_not_trusted(tmp_path: Path) -> None:
    async with rigged(tmp_path) as rig:
        await rig.sign_in()
        rig.clock.jump(-86_400)
        await rig.ready()
        assert rig.service.count("/token") == 2
        rig.clock.jump(2 * 86_400)
        await rig.ready()
        assert rig.service.count("/token") == 3
        assert rig.token in rig.service.good


async def test_a_token_that_the_server_refuses_is_renewed_once_for_all(tmp_path: Path) -> None:
    async with rigged(tmp_path) as rig:
        await rig.sign_in()
        bad = rig.token
        await asyncio.gather(*(refused(rig, bad) for _ in range(5)))
        assert rig.service.count("/token") == 2
        assert rig.token != bad


async def test_a_sign_in_that_was_revoked_asks_for_a_person_and_the_owner_is_told_once(tmp_path: Path) -> None:
    async with rigged(tmp_path) as rig:
        await rig.sign_in()
        rig.service.is_over = True
        await rig.clock.advance(4_000)
        for _ in range(3):
            with pytest.raises(LockedOut, match="`daimon mcp login notes`"):
                await rig.ready()
        again = Tokens(rig.tokens.keeping, rig.tokens.asking, rig.clock, rig.tokens.tell)
        with pytest.raises(LockedOut):
            await again.ready("notes", SERVER)
        assert len(rig.told) == 1
        assert rig.service.count("/token") == 2
        rig.service.is_over = False
        await rig.sign_in()
        assert await rig.ready()


async def test_nobody_is_asked_anything_where_nobody_ever_signed_in(tmp_path: Path) -> None:
    async with rigged(tmp_path) as rig:
        with pytest.raises(LockedOut, match="sign in with `daimon mcp login notes`"):
            await rig.ready()
        await rig.sign_in()
        with pytest.raises(LockedOut):  # the same name, at another address: its token is not sent there
            await rig.tokens.ready("notes", "https://evil.test/mcp")


async def test_a_service_that_is_down_is_no_harm_while_the_token_is_good(tmp_path: Path) -> None:
    async with rigged(tmp_path) as rig:
        await rig.sign_in()
        rig.service.broken["/token"] = 500
        await rig.clock.advance(3_550)
        assert await rig.ready()
        assert rig.token in rig.service.good
        before = rig.service.count("/token")
        await rig.ready()
        assert rig.service.count("/token") == before  # it is left alone for a while
        await rig.clock.advance(100)
        with pytest.raises(WebFailed):
            await rig.ready()
        rig.service.broken.clear()
        await rig.clock.advance(300)
        assert await rig.ready()
        assert not rig.told


async def test_new_tokens_that_cannot_be_written_are_not_lost(tmp_path: Path) -> None:
    async with rigged(tmp_path) as rig:
        await rig.sign_in()
        await rig.clock.advance(4_000)
        lock = tmp_path / "vault.lock"
        lock.unlink()
        lock.mkdir()
        with pytest.raises(Misconfigured):
            await rig.ready()
        lock.rmdir()
        await rig.ready()
        assert rig.token in rig.service.good
        assert rig.service.count("/token") == 2


async def test_no_error_and_no_log_holds_a_token(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    async with rigged(tmp_path) as rig:
        await rig.sign_in()
        secrets = [known.value for known in rig.vault.known()]
        rig.service.is_over = True
        await rig.clock.advance(4_000)
        with pytest.raises(LockedOut) as caught:
            await rig.ready()
        said = f"{caught.value!r} {caught.value.__context__!r} {caplog.text} {rig.told} {rig.tokens!r}"
        assert not [each for each in secrets if each in said]
