"""`daimon channel`, as its owner uses it: real processes and files, services on loopback, a real terminal."""

import json
import re
import tomllib
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from typing import Any, TypeVar

import pytest
from anyio.from_thread import BlockingPortal, start_blocking_portal
from tests.cli.processes import DEADLINE_S, Daimon, Done, wait_until
from tests.cli.pseudo import CTRL_C, Terminal

from daimon import keeper
from daimon.gateway.pairing import pairing
from daimon.machine.home import Home
from daimon.testing.mail.dovecot import PASSWORD, Dovecot, obstacle
from daimon.testing.mail.submission import AUTHSERV_ID, Submission
from daimon.testing.matrix.proxy import REVOKED, FaultProxy
from daimon.testing.slack.server import SlackServer
from daimon.testing.telegram.chats import BOT, Person
from daimon.testing.telegram.server import TOKEN, TelegramServer

AGENT = "agent@example.org"
T = TypeVar("T")


@pytest.fixture
def portal() -> Iterator[BlockingPortal]:
    with start_blocking_portal() as opened:
        yield opened


@pytest.fixture
def daimon(tmp_path: Path) -> Iterator[Daimon]:
    (signs := tmp_path / "signs").mkdir()
    made = Daimon(tmp_path / "home", signs)
    for name in [name for name in made.environment if name.lower().endswith("_proxy")]:
        del made.environment[name]
    yield made
    made.close()


@pytest.fixture
def telegram(portal: BlockingPortal) -> Iterator[TelegramServer]:
    server: AbstractContextManager[TelegramServer] = portal.wrap_async_context_manager(TelegramServer())
    with server as opened:
        yield opened


@pytest.fixture
def slack(portal: BlockingPortal) -> Iterator[SlackServer]:
    server: AbstractContextManager[SlackServer] = portal.wrap_async_context_manager(SlackServer())
    with server as opened:
        yield opened


def settings(daimon: Daimon) -> dict[str, Any]:
    return tomllib.loads((daimon.home / "daimon.toml").read_text())


def secrets(daimon: Daimon) -> dict[str, tuple[str, tuple[str, ...]]]:
    vault = keeper.opened(Home(daimon.home), {})
    return {entry.name: (vault.reveal(entry.name, "test", entry.hosts[0]), entry.hosts) for entry in vault.entries()}


def add_telegram(daimon: Daimon, server: TelegramServer, *more: str, token: str = TOKEN) -> Done:
    return daimon.run("channel", "add", "telegram", "--api", server.url, "--token-stdin", *more, given=f"{token}\n".encode())


def listed(daimon: Daimon) -> dict[str, Any]:
    told = json.loads(daimon.run("channel", "list", "--json").out)
    return {row["name"]: row for row in told["channels"]}


def state_of(daimon: Daimon, name: str) -> str:
    return str(listed(daimon)[name]["state"])


# -- adding


def test_a_bot_is_set_up_with_one_command_and_its_token_is_seen_nowhere(daimon: Daimon, telegram: TelegramServer) -> None:
    daimon.configure('# mine\n[owner]\nname = "Ada" # me\n')
    done = add_telegram(daimon, telegram)
    assert done.code == 0, done.err
    assert f"as @{BOT.username}" in done.out
    assert "the next start (`daimon up`) listens to it" in done.err
    assert "`daimon people invite`" in done.err
    text = (daimon.home / "daimon.toml").read_text()
    assert text.startswith('# mine\n[owner]\nname = "Ada" # me\n')
    assert settings(daimon)["channels"]["telegram"] == {"api": telegram.url, "token": "vault:telegram"}
    assert secrets(daimon) == {"telegram": (TOKEN, (telegram.url.removeprefix("http://"),))}
    assert TOKEN not in done.out + done.err + text


def test_what_a_service_refuses_is_not_written(daimon: Daimon, telegram: TelegramServer) -> None:
    for token in ("4242:AAH-another", "no token at all"):
        done = add_telegram(daimon, telegram, token=token)
        assert done.code != 0
        assert "Traceback" not in done.err
        assert token not in done.err
    assert not (daimon.home / "daimon.toml").exists()
    assert secrets(daimon) == {}


def test_a_service_that_is_not_there_is_said_and_can_be_set_up_untested(daimon: Daimon) -> None:
    words = ("channel", "add", "telegram", "--api", "http://127.0.0.1:1", "--token-stdin")
    refused = daimon.run(*words, given=TOKEN.encode())
    assert refused.code != 0
    assert "not reached at http://127.0.0.1:1 " in refused.err
    for wrong in ("nonsense", "https://", "ftp://x.org"):
        assert "is no address" in daimon.run("channel", "add", "telegram", "--api", wrong, "--token-stdin", given=TOKEN.encode()).err
    assert daimon.run(*words, "--no-test", given=TOKEN.encode()).code == 0
    assert "telegram" in settings(daimon)["channels"]


def test_a_webhook_without_an_address_is_refused_and_by_hand_it_keeps_nothing_down(daimon: Daimon, telegram: TelegramServer) -> None:
    refused = add_telegram(daimon, telegram, "--by", "webhook", "--no-test")
    assert refused.code != 0
    assert "gateway.public_url" in refused.err
    assert not (daimon.home / "daimon.toml").exists()
    assert secrets(daimon) == {}
    assert add_telegram(daimon, telegram).code == 0
    file = daimon.home / "daimon.toml"
    file.write_text(file.read_text().replace("[channels.telegram]", '[channels.telegram]\nby = "webhook"'))
    assert "gateway.public_url" in daimon.run("config", "--check").err
    assert "gateway.public_url" in daimon.run("doctor").out
    daimon.up()
    wait_until(lambda: state_of(daimon, "telegram") == "locked_out")
    why = listed(daimon)["telegram"]["why"]
    assert why.startswith("it is set to be posted to")


def test_json_says_what_was_done_with_the_pairing_code_and_its_link(daimon: Daimon, telegram: TelegramServer) -> None:
    told = json.loads(add_telegram(daimon, telegram, "--pair", "--json").out)
    assert (told["channel"], told["who"], told["reloaded"]) == ("telegram", f"@{BOT.username}", False)
    code = pairing(told["pairing"]["code"])
    assert told["pairing"]["link"] == f"https://t.me/{BOT.username}?start={code}"


def test_a_token_may_stay_in_the_environment(daimon: Daimon, telegram: TelegramServer) -> None:
    words = ("channel", "add", "telegram", "--api", telegram.url, "--token-env", "BOT")
    assert "BOT is not set" in daimon.run(*words).err
    daimon.environment["BOT"] = TOKEN
    assert daimon.run(*words).code == 0
    assert settings(daimon)["channels"]["telegram"]["token"] == "env:BOT"
    assert secrets(daimon) == {}


def test_another_secret_of_the_same_name_is_not_written_over(daimon: Daimon, telegram: TelegramServer) -> None:
    assert daimon.run("secrets", "add", "telegram", "--host", "example.org", given=b"something of mine").code == 0
    assert add_telegram(daimon, telegram).code == 0
    assert settings(daimon)["channels"]["telegram"]["token"] == "vault:telegram-2"
    assert secrets(daimon)["telegram"] == ("something of mine", ("example.org",))


def test_a_script_is_told_which_option_is_missing(daimon: Daimon) -> None:
    for words, option in (
        (("telegram",), "--token-stdin"),
        (("slack",), "--tokens-stdin"),
        (("mail",), "--address"),
        (("mail", "--address", AGENT), "--imap"),
        (("matrix",), "--homeserver"),
    ):
        done = daimon.run("channel", "add", *words)
        assert done.code == 4
        assert option in done.err


def test_a_person_is_asked_where_to_get_it_and_may_try_again(daimon: Daimon, telegram: TelegramServer) -> None:
    seat = Terminal(daimon, "channel", "add", "telegram", "--api", telegram.url)
    try:
        seat.wait_for("@BotFather")
        seat.wait_for("(it is not shown): ")
        seat.type(b"4242:AAH-wrong\r")
        seat.wait_for("once more, or Ctrl-C")
        seat.wait_for("(it is not shown): ")
        seat.type(f"{TOKEN}\r".encode())
        shown = seat.wait_for("Make the code now")
        assert TOKEN not in shown
        assert settings(daimon)["channels"]["telegram"]["token"] == "vault:telegram"
        seat.type(b"\r")
        seat.wait_for(f"https://t.me/{BOT.username}?start=")
        assert seat.process.wait(DEADLINE_S) == 0
    finally:
        seat.close()


def test_ctrl_c_writes_nothing(daimon: Daimon, telegram: TelegramServer) -> None:
    seat = Terminal(daimon, "channel", "add", "telegram", "--api", telegram.url)
    try:
        seat.wait_for("(it is not shown): ")
        seat.press(CTRL_C, "nothing was written")
        assert seat.process.wait(DEADLINE_S) == 130
    finally:
        seat.close()
    assert not (daimon.home / "daimon.toml").exists()


def test_slack_needs_both_tokens(daimon: Daimon, slack: SlackServer) -> None:
    words = ("channel", "add", "slack", "--api", slack.url, "--tokens-stdin")
    wrong = daimon.run(*words, given=f"{slack.bot_token}\nxapp-wrong\n".encode())
    assert wrong.code != 0
    assert "xapp-wrong" not in wrong.err
    one = daimon.run(*words, given=f"{slack.bot_token}\n".encode())
    assert one.code == 4
    done = daimon.run(*words, given=f"{slack.bot_token}\n{slack.app_token}\n".encode())
    assert done.code == 0, done.err
    host = slack.url.removeprefix("http://").removesuffix("/api")
    assert secrets(daimon) == {"slack-bot": (slack.bot_token, (host,)), "slack-app": (slack.app_token, (host,))}
    assert "socket mode is on" in daimon.run("channel", "test", "slack").err


def test_a_refused_matrix_token_is_said_and_nothing_is_written(daimon: Daimon, portal: BlockingPortal) -> None:
    server: AbstractContextManager[FaultProxy] = portal.wrap_async_context_manager(FaultProxy("http://127.0.0.1:1"))
    with server as proxy:
        proxy.break_next("whoami", REVOKED)
        words = ("channel", "add", "matrix", "--homeserver", proxy.url, "--user", "@agent:localhost", "--token-stdin")
        done = daimon.run(*words, given=b"syt_something\n")
    assert done.code == 1
    assert "refuses the access token" in done.err
    assert "syt_something" not in done.err
    assert not (daimon.home / "daimon.toml").exists()


# -- mail


@pytest.mark.skipif(bool(obstacle()), reason=obstacle() or "it runs")
def test_a_mailbox_is_tried_both_ways_and_the_name_to_believe_is_suggested(daimon: Daimon, portal: BlockingPortal) -> None:
    with ExitStack() as stack:
        dovecot = stack.enter_context(Dovecot())
        submission: AbstractContextManager[Submission] = portal.wrap_async_context_manager(Submission(dovecot))
        smtp = stack.enter_context(submission)
        head = f"Authentication-Results: {AUTHSERV_ID}; dkim=pass header.d=x.org\r\nFrom: a@x.org\r\nTo: {AGENT}\r\n\r\nhi\r\n"
        dovecot.deliver(AGENT, head.encode())
        words = ("channel", "add", "mail", "--address", AGENT, "--imap", f"127.0.0.1:{dovecot.port}", "--smtp", f"127.0.0.1:{smtp.port}")
        words += ("--security", "none", "--password-stdin")
        wrong = daimon.run(*words, given=b"not this\n")
        assert wrong.code == 1
        assert "does not let" in wrong.err
        assert not (daimon.home / "daimon.toml").exists()
        told = json.loads(daimon.run(*words, "--json", given=f"{PASSWORD}\n".encode()).out)
        assert told["advised"] == {"authserv_id": AUTHSERV_ID}
        assert any("nobody is believed" in warning for warning in told["warnings"])
        assert "authserv_id" not in settings(daimon)["channels"]["mail"], "a suggestion is the owner's to take"
        again = daimon.run("channel", "add", "mail", "--authserv-id", AUTHSERV_ID)
        assert again.code == 0, again.err
        assert settings(daimon)["channels"]["mail"]["authserv_id"] == AUTHSERV_ID
        tried = daimon.run("channel", "test", "mail")
        assert f"lets the agent in as {AGENT}" in tried.out
        assert "inbox is INBOX" in tried.err
        assert "nobody is believed" not in tried.err
        assert not smtp.accepted, "nothing was sent"


# -- while it runs


def test_a_channel_is_added_to_and_removed_from_a_running_gateway(daimon: Daimon, telegram: TelegramServer, portal: BlockingPortal) -> None:
    daimon.up()
    done = add_telegram(daimon, telegram, "--pair")
    assert done.code == 0, done.err
    assert "the running gateway listens to it now" in done.err
    code = re.findall(r"start=(\w+)", done.out)[0]
    anna = Person(7, "Anna")
    portal.call(telegram.chats.says, anna, f"/start {code}")
    wait_until(lambda: bool(telegram.chats.seen(anna.id)))
    wait_until(lambda: state_of(daimon, "telegram") == "up")
    gone = daimon.run("channel", "remove", "telegram", "--with-secret")
    assert gone.code == 0, gone.err
    assert "does not listen to it any more" in gone.err
    assert listed(daimon) == {}
    assert secrets(daimon) == {}
    assert "channels" not in settings(daimon)
    calls = len(telegram.calls)
    assert daimon.run("channel", "poke", "telegram").code == 3
    assert len(telegram.calls) == calls


def test_who_is_locked_out_is_shown_tried_again_and_mended(daimon: Daimon, telegram: TelegramServer, portal: BlockingPortal) -> None:
    assert add_telegram(daimon, telegram).code == 0
    daimon.up()
    portal.call(telegram.revoke)
    wait_until(lambda: state_of(daimon, "telegram") == "locked_out")
    row = listed(daimon)["telegram"]
    assert "refuses the token" in row["why"]
    assert row["next_try"]
    assert "locked out since" in daimon.run("status").out
    shown = daimon.run("channel", "list")
    assert "locked out" in shown.out
    assert "could be added: slack" in shown.err
    assert daimon.run("channel", "test", "telegram").code == 1
    portal.call(telegram.restore)
    assert daimon.run("channel", "poke", "telegram").code == 0
    wait_until(lambda: state_of(daimon, "telegram") == "up")


def test_strangers_who_knocked_are_told_by_status(daimon: Daimon, telegram: TelegramServer, portal: BlockingPortal) -> None:
    assert add_telegram(daimon, telegram).code == 0
    daimon.up()
    portal.call(telegram.chats.says, Person(9, "Mallory"), "hello")
    wait_until(lambda: json.loads(daimon.run("status", "--json").out)["strangers"] == 1)
    assert "1 knocked and got no answer" in daimon.run("status").out


def test_a_guest_is_answered_without_advice_for_the_owner(daimon: Daimon, telegram: TelegramServer, portal: BlockingPortal) -> None:
    assert daimon.run("people", "allow", "telegram:9", "--name", "Bob").code == 0
    assert add_telegram(daimon, telegram).code == 0
    daimon.up()
    portal.call(telegram.chats.says, Person(9, "Bob"), "book me a flight to Rome")
    wait_until(lambda: bool(telegram.chats.seen(9)))
    (shown,) = telegram.chats.seen(9)
    assert shown.text.startswith("I don't know what to do with that")
    assert "daimon model" not in shown.text


# -- what is missing is noticed


def test_a_channel_without_its_secret_is_noticed_by_config_and_doctor(daimon: Daimon, telegram: TelegramServer) -> None:
    daimon.configure(f'[channels.telegram]\napi = "{telegram.url}"\n')
    checked = daimon.run("config", "--check")
    assert checked.code == 0
    assert "the secret telegram is not in the vault" in checked.err
    assert json.loads(daimon.run("config", "--check", "--json").out)["warnings"]
    assert "the secret telegram is not in the vault" in " ".join(daimon.run("doctor", "--json").out.split())
    assert daimon.run("secrets", "add", "telegram", given=TOKEN.encode()).code == 0
    assert "may not go to 127.0.0.1" in daimon.run("config", "--check").err
    assert add_telegram(daimon, telegram).code == 0
    assert daimon.run("config", "--check").err == ""
    findings = json.loads(daimon.run("doctor", "--json").out)["findings"]
    assert [each["severity"] for each in findings if each["area"] == "channels"] == ["ok"]


def test_a_kind_of_channel_that_is_not_there_is_answered_with_those_that_are(daimon: Daimon) -> None:
    refused = daimon.run("channel", "add", "discord")
    assert refused.code == 2
    assert all(kind in refused.err for kind in ("discord", "telegram", "slack", "mail", "matrix"))


def test_without_a_command_channels_and_hooks_are_listed(daimon: Daimon) -> None:
    daimon.up()
    assert daimon.run("channel").out == daimon.run("channel", "list").out
    assert daimon.run("channel", "--json").out == daimon.run("channel", "list", "--json").out
    assert daimon.run("hooks").out == daimon.run("hooks", "list").out
    assert daimon.run("people", "list").out == daimon.run("people").out
    assert daimon.run("automations", "list").out == daimon.run("automations").out


def test_an_owner_whose_chat_is_paired_is_not_sent_for_a_code(daimon: Daimon, telegram: TelegramServer) -> None:
    assert daimon.run("people", "allow", "telegram:7", "--as", "owner").code == 0
    done = add_telegram(daimon, telegram)
    assert done.code == 0
    assert "your chat there is paired already" in done.err
    assert "people invite" not in done.err


def test_an_unknown_channel_is_not_found(daimon: Daimon) -> None:
    for words in (("test", "telegram"), ("remove", "pigeon")):
        assert daimon.run("channel", *words).code == 3
    assert daimon.run("channel", "poke", "telegram").code == 69


def test_an_unverified_sender_of_mail_cannot_be_let_in(daimon: Daimon) -> None:
    refused = daimon.run("people", "allow", "mail:unverified:bob@x.org", "--name", "Bob")
    assert refused.code == 4
    assert "anybody could write as them" in refused.err
    assert daimon.run("people", "allow", "mail:bob@x.org", "--name", "Bob").code == 0
