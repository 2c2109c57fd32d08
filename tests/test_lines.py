"""Channels made of settings: the same settings, the same channel; and what a channel lacks is said without using anything."""

from pathlib import Path

import pytest

from daimon import config, keeper, lines
from daimon.abi.errors import LockedOut, WatchFailed
from daimon.keeper import Scope
from daimon.machine.home import Home
from daimon.testing.clock import ManualClock
from daimon.testing.ids import CountingIds
from daimon.testing.journal import MemoryJournal

TELEGRAM = {"telegram": {"api": "https://api.example"}}
MAIL = {"mail": {"address": "a@x.org", "imap": "imap.x.org", "smtp": "smtp.x.org:587"}}


def settings(**channels: object) -> config.Settings:
    return config.Settings.model_validate({"channels": channels})


@pytest.fixture
def vault(tmp_path: Path) -> keeper.Vault:
    (home := Home(tmp_path / "home")).ensure()
    return keeper.opened(home, {})


def made(vault: keeper.Vault, start: config.Settings) -> lines.Lines:
    clock = ManualClock()
    return lines.Lines(start, vault, {}, clock, MemoryJournal(clock, CountingIds()))


def test_a_channel_whose_settings_are_the_same_stays_the_same(vault: keeper.Vault) -> None:
    maker = made(vault, settings(**TELEGRAM))
    (telegram,) = maker.all()
    both = settings(**TELEGRAM, **MAIL)
    after = maker.adopt(both, maker.lineup(both))
    assert after[0] is telegram
    assert [channel.name for channel in after] == ["telegram", "mail"]
    other = settings(telegram={"api": "https://other.example"})
    (moved,) = maker.adopt(other, maker.lineup(other))
    assert moved is not telegram


def test_a_channel_whose_setting_is_wrong_is_made_beside_the_others_and_what_is_wrong_is_said(vault: keeper.Vault) -> None:
    wrong = settings(telegram={"by": "webhook"}, **MAIL)
    assert [channel.name for channel in made(vault, wrong).all()] == ["telegram", "mail"]
    telegram = lines.all_wanted(wrong)["telegram"]
    assert "gateway.public_url" in lines.lacking(telegram, vault, {})[0]
    assert not lines.unfit(telegram, "https://agent.example")


async def test_a_webhook_without_an_address_is_refused_before_the_service_is_asked() -> None:
    with pytest.raises(LockedOut, match="public_url"):
        await lines.checked(config.Telegram(by="webhook"), {})


async def test_an_automation_finds_the_mailbox_that_is_set_up_at_the_time(vault: keeper.Vault) -> None:
    maker = made(vault, settings())
    with pytest.raises(WatchFailed, match="daimon channel add mail"):
        await maker.new_mail("INBOX", None)


def test_what_a_channel_lacks_is_said_and_nothing_is_used(vault: keeper.Vault) -> None:
    wanted = lines.all_wanted(settings(**TELEGRAM))["telegram"]
    assert "not in the vault" in lines.lacking(wanted, vault, {})[0]
    vault.add("telegram", "4242:AAH-something", Scope(hosts=("elsewhere.example",)))
    assert "may not go to api.example" in lines.lacking(wanted, vault, {})[0]
    vault.scope("telegram", Scope(hosts=("api.example",)))
    assert lines.lacking(wanted, vault, {}) == ()
    assert vault.uses("telegram") == ()


@pytest.mark.parametrize(
    ("wanted", "hosts"),
    [
        (config.Telegram(), ("api.telegram.org",)),
        (config.Mail(address="a@x.org", imap="imap.x.org:993", smtp="smtp.x.org:587"), ("imap.x.org:993", "smtp.x.org:587")),
        (config.Mail(address="a@x.org", imap="[::1]:143", smtp="[::1]:143"), ("[::1]:143",)),
        (config.Matrix(homeserver="https://matrix.org:443", user="@a:matrix.org"), ("matrix.org",)),
    ],
)
def test_a_secret_goes_to_the_hosts_of_its_channel(wanted: lines.Wanted, hosts: tuple[str, ...]) -> None:
    assert lines.hosts_of(wanted) == hosts
