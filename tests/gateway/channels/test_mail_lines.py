"""The lines to the servers: protected or refused, under the gateway's own loop, as any user; and what a killed process leaves behind."""

import asyncio
import os
import pwd
import signal
import ssl
import sys
from collections.abc import AsyncIterator, Iterator

import pytest
import uvloop
from tests.gateway.channels.post import AGENT, ALICE, DEADLINE_S, Post, letter, post
from tests.sandbox.boxes import elsewhere, needs_root, place_of

from daimon.abi.channel import Piece
from daimon.abi.errors import InDoubt, Misconfigured, NotSent
from daimon.abi.message import Text
from daimon.gateway.mail.account import Account
from daimon.gateway.mail.imap import connect
from daimon.testing.certificates import Certificates
from daimon.testing.mail.dovecot import PASSWORD, Dovecot, obstacle
from daimon.testing.mail.submission import Submission

pytestmark = [pytest.mark.anyio, pytest.mark.skipif(bool(obstacle()), reason=obstacle() or "it runs")]

ORDINARY = pwd.getpwnam("nobody").pw_uid


@pytest.fixture(scope="module")
def certificates() -> Certificates:
    return Certificates()


@pytest.fixture(scope="module")
def dovecot(certificates: Certificates) -> Iterator[Dovecot]:
    with Dovecot(certificate=certificates.pair("127.0.0.1", "localhost")) as server:
        yield server


@pytest.fixture
async def mail(dovecot: Dovecot) -> AsyncIterator[Post]:
    async with post(dovecot) as made:
        yield made


async def test_mail_comes_and_goes_over_tls(dovecot: Dovecot, certificates: Certificates) -> None:
    async with Submission(dovecot, tls=certificates.serving("127.0.0.1")) as submission:
        account = Account(
            "tls@example.org",
            f"127.0.0.1:{dovecot.tls_port}",
            f"127.0.0.1:{submission.port}",
            lambda: PASSWORD,
            trust=certificates.trusting(),
        )
        mail = Post(dovecot, submission, account)
        async with mail.serving():
            mail.deliver(letter("over tls", to="tls@example.org"), "tls@example.org")
            await mail.desk.until_read(1)
        await mail.channel.send(Piece("back"), "tls-reader@example.org", "k/0")
    assert mail.desk.arrived[0].parts[0] == Text("over tls")
    assert len(dovecot.mails("tls-reader@example.org")) == 1


async def test_mail_comes_and_goes_over_starttls(dovecot: Dovecot, certificates: Certificates) -> None:
    async with Submission(dovecot, starttls=certificates.serving("127.0.0.1")) as submission:
        account = Account("start@example.org", f"127.0.0.1:{dovecot.port}", f"127.0.0.1:{submission.port}", lambda: PASSWORD,
                          security="starttls", trust=certificates.trusting())  # fmt: skip
        mail = Post(dovecot, submission, account)
        async with mail.serving():
            mail.deliver(letter("over starttls", to="start@example.org"), "start@example.org")
            await mail.desk.until_read(1)
        await mail.channel.send(Piece("back"), "start-reader@example.org", "k/0")
    assert len(mail.desk.arrived) == 1
    assert len(dovecot.mails("start-reader@example.org")) == 1


async def test_a_server_that_nobody_vouches_for_gets_no_password(dovecot: Dovecot) -> None:
    def asked() -> str:
        raise AssertionError("the password was asked for")

    for server, security in ((f"127.0.0.1:{dovecot.tls_port}", "tls"), (f"127.0.0.1:{dovecot.port}", "starttls")):
        account = Account(AGENT, server, server, asked, security=security)  # type: ignore[arg-type]
        with pytest.raises(ssl.SSLError):
            await asyncio.wait_for(connect(account), DEADLINE_S)


async def test_a_mail_server_that_offers_no_tls_gets_no_password(mail: Post, certificates: Certificates) -> None:
    plain = mail.with_account(security="starttls", trust=certificates.trusting(), password=lambda: PASSWORD)
    with pytest.raises(NotSent):
        await plain.channel.send(Piece("x"), ALICE, "no-tls/0")
    assert mail.submission.accepted == []


@pytest.mark.parametrize(("text", "security", "expected"), [
    ("mail.example.org", "tls", ("mail.example.org", 993, "tls")),
    ("mail.example.org", "starttls", ("mail.example.org", 143, "starttls")),
    ("mail.example.org:143", "tls", ("mail.example.org", 143, "starttls")),
    ("localhost", "none", ("localhost", 143, "none")),
    ("[::1]:1143", "none", ("::1", 1143, "none")),
    ("::1", "none", ("::1", 143, "none")),
])  # fmt: skip
def test_a_server_is_named_with_or_without_its_port(text: str, security: str, expected: tuple[str, int, str]) -> None:
    server = Account(AGENT, text, text, str, security=security).server("imap")  # type: ignore[arg-type]
    assert (server.host, server.port, server.security) == expected


@pytest.mark.parametrize("text", ["mail.example.org", "192.0.2.1:143", "", "host:port"])
def test_no_password_crosses_the_network_in_clear(text: str) -> None:
    with pytest.raises(Misconfigured):
        Account(AGENT, text, text, str, security="none").server("imap")


def test_mail_works_under_the_loop_of_the_gateway(dovecot: Dovecot, certificates: Certificates) -> None:
    async def round_trip() -> Post:
        async with post(dovecot) as made:
            mail = made.with_account(address="loop@example.org", imap=f"127.0.0.1:{dovecot.port}")
            async with asyncio.timeout(DEADLINE_S), mail.serving():
                mail.deliver(letter("under uvloop", to="loop@example.org"), "loop@example.org")
                await mail.desk.until_read(1)
            secured = mail.with_account(imap=f"127.0.0.1:{dovecot.port}", security="starttls", trust=certificates.trusting())
            await (await connect(secured.account)).close()
            await mail.channel.send(Piece("back"), "loop-reader@example.org", "k/0")
            return mail

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        mail = runner.run(round_trip())
    assert len(mail.desk.arrived) == 1
    assert len(dovecot.mails("loop-reader@example.org")) == 1


async def test_of_a_mail_of_thirty_megabytes_the_text_comes_in(mail: Post) -> None:
    big = mail.with_account(address="big@example.org")
    line = b"QUJD" * 19 + b"\r\n"
    head = letter("", to="big@example.org", Content_Type="multipart/mixed; boundary=b").replace("\n", "\r\n").encode()
    parts = b"--b\r\n\r\nthe text\r\n--b\r\nContent-Disposition: attachment; filename=huge.bin\r\nContent-Transfer-Encoding: base64\r\n\r\n"
    async with big.serving():
        big.deliver(head + parts + line * (30 * 1024 * 1024 // len(line)) + b"--b--\r\n", "big@example.org")
        await big.desk.until_read(1)
    (came,) = big.desk.arrived
    assert came.parts[0] == Text("the text")
    assert "huge.bin" in came.parts[1].text  # type: ignore[union-attr]


KILLED = """
import asyncio, sys
from daimon.abi.channel import Piece
from daimon.gateway.channels.mail import MailChannel
from daimon.gateway.mail.account import Account
from daimon.testing.clock import ManualClock

account = Account("killed@example.org", sys.argv[1], sys.argv[2], lambda: sys.argv[3], security="none")
asyncio.run(MailChannel(account, ManualClock(), None).send(Piece("x"), "victim@example.org", sys.argv[4]))
"""


async def test_a_process_killed_while_it_hands_a_mail_in_leaves_it_in_doubt_and_says_so(mail: Post) -> None:
    killed = mail.with_account(address="killed@example.org")
    handed_in, go_on = asyncio.Event(), asyncio.Event()

    async def stall(*_: object) -> str:
        handed_in.set()
        await go_on.wait()
        return "250 OK"

    mail.submission.handle_DATA = stall  # type: ignore[method-assign]
    argv = [sys.executable, "-c", KILLED, killed.account.imap, killed.account.smtp, PASSWORD, "kill/0"]
    process = await asyncio.create_subprocess_exec(*argv, env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})
    async with asyncio.timeout(DEADLINE_S):
        await handed_in.wait()
        process.send_signal(signal.SIGKILL)
        await process.wait()
    go_on.set()
    with pytest.raises(InDoubt):
        await killed.channel.find(Piece("x"), "victim@example.org", "kill/0")


@needs_root
def test_mail_comes_and_goes_for_an_ordinary_user() -> None:
    with place_of(ORDINARY) as place:
        some = "wakes_the_channel or is_found or in_doubt or round_trip"
        words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", some, "--basetemp", f"{place}/tests"]
        done = elsewhere([*words, "tests/gateway/channels/test_mail.py"], {"HOME": str(place)}, uid=ORDINARY)
    said = done.stdout.decode(errors="replace")
    assert done.returncode == 0, said[-4000:]
    assert " passed" in said
    assert "skipped" not in said
