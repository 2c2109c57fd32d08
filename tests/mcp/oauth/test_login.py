"""Signing in at a real service on loopback, honest and hostile."""

import asyncio
from pathlib import Path

import pytest
from tests.mcp.oauth.rig import DEADLINE_S, WISH, knock, rigged

from daimon.abi.errors import Denied, LockedOut, WebFailed
from daimon.mcp.oauth.callback import returned
from daimon.mcp.oauth.login import Wish
from daimon.testing.oauth import ISSUER, PAGE, SERVER

_OF_ISSUER = "/.well-known/oauth-authorization-server"
_OF_SERVER = "/.well-known/oauth-protected-resource/mcp"


@pytest.mark.parametrize("gives_secret", [False, True])
async def test_who_signs_in_with_a_browser_has_tokens_that_go_to_their_own_hosts_only(tmp_path: Path, gives_secret: bool) -> None:
    async with rigged(tmp_path, gives_secret=gives_secret) as rig:
        await rig.sign_in()
        assert rig.token in rig.service.good
        hosts = {entry.name: entry.hosts for entry in rig.vault.entries()}
        client = {"mcp-notes-client": ("login.test",)} if gives_secret else {}
        assert hosts == {"mcp-notes-token": ("mcp.test",), "mcp-notes-refresh": ("login.test",), **client}
        with pytest.raises(Denied):
            rig.vault.reveal("mcp-notes-token", "test", "evil.test")
        kept = "".join(path.read_text() for path in (tmp_path / "mcp").iterdir())
        assert not [known for known in rig.vault.known() if known.value in kept]
        redeemed = next(each for each in rig.service.asked if each.path == "/token")
        assert redeemed.fields["resource"] == SERVER


async def test_a_wrong_state_changes_nothing_and_the_right_one_still_counts(tmp_path: Path) -> None:
    async with asyncio.timeout(DEADLINE_S), rigged(tmp_path) as rig, rig.login.by_browser(WISH, await rig.login.places(WISH)) as way:
        back = rig.service.visit(way.begun.url)
        finishing = asyncio.ensure_future(way.finish())
        wrong = back.replace("state=", "state=x")
        assert " 400 " in await knock(wrong)
        assert " 400 " in await knock(back, host="evil.test")
        assert " 400 " in await knock(back.replace("/callback", "/other"))
        assert not finishing.done()
        assert not rig.vault.has("mcp-notes-token")
        assert returned(wrong, way.begun.state) is None
        assert " 200 " in await knock(back)
        await finishing
        assert rig.token in rig.service.good


async def test_an_answer_of_another_issuer_is_not_redeemed(tmp_path: Path) -> None:
    async with asyncio.timeout(DEADLINE_S), rigged(tmp_path) as rig, rig.login.by_browser(WISH, await rig.login.places(WISH)) as way:
        back = rig.service.visit(way.begun.url)
        for mixed in (back.replace("login.test", "evil.test"), back.replace("iss=https%3A%2F%2Flogin.test&", "")):
            came = returned(mixed, way.begun.state)
            assert came is not None
            with pytest.raises(WebFailed, match="nothing was handed on"):
                await way.take(came)
        assert rig.service.count("/token") == 0


async def test_a_no_on_the_page_is_told_and_leaves_the_old_sign_in_as_it_was(tmp_path: Path) -> None:
    async with asyncio.timeout(DEADLINE_S), rigged(tmp_path) as rig:
        await rig.sign_in()
        before = rig.token
        async with rig.login.by_browser(WISH, await rig.login.places(WISH)) as way:
            finishing = asyncio.ensure_future(way.finish())
            await knock(rig.service.visit(way.begun.url, is_refused=True))
            with pytest.raises(WebFailed, match="did not let you in: access_denied"):
                await finishing
        assert rig.token == before


async def test_a_code_on_another_device_signs_in_without_a_browser(tmp_path: Path) -> None:
    async with asyncio.timeout(DEADLINE_S), rigged(tmp_path) as rig:
        way = await rig.login.by_device(WISH, await rig.login.places(WISH))
        assert (way.begun.host, len(way.begun.code)) == ("login.test", 6)
        finishing = asyncio.ensure_future(way.finish())
        while not rig.service.count("/token"):
            await rig.clock.advance(1)
            await asyncio.sleep(0.01)
        assert not finishing.done()
        rig.service.broken["/token"] = 500
        while rig.service.count("/token") < 3:
            await rig.clock.advance(1)
            await asyncio.sleep(0.01)
        rig.service.broken.clear()
        rig.service.approve(way.begun.code)
        while not finishing.done():
            await rig.clock.advance(1)
            await asyncio.sleep(0.01)
        await finishing
        assert rig.token in rig.service.good


async def test_a_code_that_nobody_types_runs_out(tmp_path: Path) -> None:
    async with asyncio.timeout(DEADLINE_S), rigged(tmp_path) as rig:
        finishing = asyncio.ensure_future((await rig.login.by_device(WISH, await rig.login.places(WISH))).finish())
        rig.service.broken["/token"] = 500
        while not finishing.done():
            await rig.clock.advance(120)
            await asyncio.sleep(0.01)
        with pytest.raises(LockedOut, match="nobody typed the code"):
            await finishing


@pytest.mark.parametrize(
    ("path", "said", "why"),
    [
        (_OF_SERVER, {"resource": "https://other.test/mcp", "authorization_servers": [ISSUER]}, "describes https://other.test/mcp"),
        (_OF_ISSUER, {"issuer": "https://evil.test"}, "says that it is https://evil.test"),
        (_OF_ISSUER, {"token_endpoint": "http://login.test/token"}, "no https address"),
        (_OF_ISSUER, {"registration_endpoint": "file:///etc/passwd"}, "no https address"),
        (_OF_ISSUER, {"token_endpoint": "https://user@login.test/token"}, "no https address"),
        (_OF_ISSUER, {"authorization_endpoint": "https://evil.test/authorize"}, "which is another host"),
        (_OF_ISSUER, {"device_authorization_endpoint": "https://evil.test/device"}, "which is another host"),
        (_OF_ISSUER, {"code_challenge_methods_supported": ["plain"]}, "PKCE"),
        (_OF_ISSUER, {"authorization_endpoint": "", "device_authorization_endpoint": ""}, "does not say where"),
    ],
)
async def test_metadata_that_leads_elsewhere_ends_the_sign_in(tmp_path: Path, path: str, said: dict[str, object], why: str) -> None:
    async with rigged(tmp_path) as rig:
        rig.service.described[path] = {**rig.service.metadata(), **said} if path == _OF_ISSUER else said
        with pytest.raises(WebFailed, match=why):
            await rig.login.places(WISH)
        assert not rig.service.count("/register")


async def test_the_owner_can_name_another_host_for_the_page(tmp_path: Path) -> None:
    async with rigged(tmp_path) as rig:
        rig.service.described[_OF_ISSUER] = {**rig.service.metadata(), "authorization_endpoint": f"https://evil.test{PAGE}"}
        wish = Wish(name="notes", server=SERVER, at=("evil.test",))
        assert (await rig.login.places(wish)).authorize == f"https://evil.test{PAGE}"
        await rig.sign_in(wish)
        assert rig.token in rig.service.good


async def test_a_server_that_describes_another_one_is_not_signed_in_at_and_its_hints_are_not_followed(tmp_path: Path) -> None:
    async with rigged(tmp_path) as rig:
        with pytest.raises(WebFailed, match="instead of itself"):
            await rig.login.places(Wish(name="notes", server="https://evil.test/mcp"))  # its hint is an address of mcp.test
        assert {each.host for each in rig.service.asked} == {"evil.test"}


async def test_signing_out_leaves_nothing_here_and_tells_the_service(tmp_path: Path) -> None:
    async with rigged(tmp_path) as rig:
        await rig.sign_in()
        assert await rig.login.out("notes")
        assert not rig.vault.entries()
        assert not list((tmp_path / "mcp").iterdir())
        assert not rig.service.renewable
        assert not await rig.login.out("notes")
