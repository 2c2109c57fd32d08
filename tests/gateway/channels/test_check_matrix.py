"""A Matrix account is tried on a real homeserver before it is set up: by a token, or by its password."""

from pathlib import Path

import pytest

from daimon import config
from daimon.abi.errors import LockedOut
from daimon.hookup import Hookup, token_for
from daimon.machine.home import Home
from daimon.testing.matrix.homeserver import Homeserver
from daimon.testing.matrix.person import Person

pytestmark = pytest.mark.anyio


async def test_an_account_is_let_in_by_its_token_or_its_password(synapse: Homeserver, tmp_path: Path) -> None:
    agent = await Person.new(synapse, "agent", "open sesame")
    await agent.close()
    hookup = Hookup(Home(tmp_path / "home"), {})
    wanted = hookup.draft("matrix", {"homeserver": synapse.url, "user": agent.user})
    assert (await hookup.test(wanted, {"token": agent.token})).who == agent.user
    token = await token_for(synapse.url, agent.user, "open sesame")
    assert token != agent.token
    hookup.add(wanted, {"token": token})
    assert (await hookup.test(hookup.wanted("matrix"))).who == agent.user
    hookup.close()


async def test_another_accounts_token_and_a_wrong_password_are_refused(synapse: Homeserver, tmp_path: Path) -> None:
    other = await Person.new(synapse, "other")
    await other.close()
    hookup = Hookup(Home(tmp_path / "home"), {})
    wanted = config.Matrix(homeserver=synapse.url, user="@agent:localhost")
    with pytest.raises(LockedOut, match="not of @agent:localhost"):
        await hookup.test(wanted, {"token": other.token})
    with pytest.raises(LockedOut):
        await token_for(synapse.url, other.user, "not this")
    hookup.close()
