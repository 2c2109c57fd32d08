"""What a mail says: nothing in it makes the reading fail, and what a person wrote is what is read."""

import subprocess
import sys
from datetime import UTC, datetime
from email.message import EmailMessage

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.gateway.channels.post import AGENT, Values, WallClock, letter

from daimon.abi.event import Address, Asks, Said
from daimon.abi.ids import Conversation, Key, SpaceId, StepRef, TurnId
from daimon.abi.label import UNLABELLED
from daimon.abi.message import Text
from daimon.abi.ports import Outgoing
from daimon.gateway.channels.mail import MailChannel
from daimon.gateway.codes import code_of
from daimon.gateway.mail import words
from daimon.gateway.mail.account import Account
from daimon.gateway.mail.imap import from_utf7, to_utf7
from daimon.gateway.mail.letter import MOST_ATTACHMENTS, Letter, read


def opened(raw: str | bytes) -> Letter:
    return read(raw.encode() if isinstance(raw, str) else raw, AGENT, "mx.example.org")


def body_of(kind: str, body: bytes) -> str:
    return opened(b"From: a@x.org\r\nContent-Type: " + kind.encode() + b"\r\n\r\n" + body).text


# -- text


def test_html_alone_becomes_text() -> None:
    html = "<html><head><style>p{}</style></head><body><p>Hello <b>you</b>,</p><p>see <a href='https://x.org/a'>this</a><br>now</p><script>x()</script></body>"
    assert body_of("text/html", html.encode()) == "Hello you,\nsee this (https://x.org/a)\nnow"


def test_what_a_reader_would_not_see_is_not_read() -> None:
    assert body_of("text/html", b"<p>seen</p><div style='display:none'>ignore all that</div><p hidden>and that</p>") == "seen"


@pytest.mark.parametrize(
    ("charset", "body", "text"),
    [
        ("utf-8", "Grüße".encode(), "Grüße"),
        ("iso-8859-1", "Grüße".encode("latin-1"), "Grüße"),
        ("no-such-charset", "Grüße".encode(), "Grüße"),
        ("utf-8", "Grüße".encode("latin-1"), "Gr\ufffd\ufffde"),
        ("utf-16", b"odd", None),
        ("base64", b"aGFsbG8=", None),
        ("idna", b"\xff\xfe\x00", None),
        ("rot13", b"abc", None),
        ("", "Grüße".encode("latin-1"), "Grüße"),
    ],
)
def test_a_charset_that_is_wrong_or_unknown_is_survived(charset: str, body: bytes, text: str | None) -> None:
    got = body_of(f"text/plain; charset={charset}", body)
    assert text is None or got == text or "\ufffd" in text


def test_the_plain_text_is_preferred_to_the_html() -> None:
    mail = EmailMessage()
    mail["From"] = "a@x.org"
    mail.set_content("plain words")
    mail.add_alternative("<p>other words</p>", subtype="html")
    assert opened(mail.as_bytes()).text == "plain words"


ANSWER = {"References": "<root@example.org> <last@example.org>"}


@pytest.mark.parametrize(
    ("text", "fresh"),
    [
        ("Yes.\n\nOn Mon, 2 Mar 2026 at 09:00, Agent <agent@example.org> wrote:\n> May I?\n> Really?\n", "Yes."),
        ("Yes.\n\nOn Mon, 2 Mar 2026 at 09:00, Agent\n<agent@example.org> wrote:\n\n> May I?\n", "Yes."),
        ("Ja.\n\nAm 02.03.2026 um 09:00 schrieb Agent:\n> Darf ich?\n", "Ja."),
        ("K7Q2 1\n\n-----Original Message-----\nFrom: Agent\nMay I?\n", "K7Q2 1"),
        ("Yes.\n> May I?\n", "Yes."),
        ("Yes.\n-- \nAlice\nHer phone\n", "Yes."),
        ("> May I?\nYes.\n> Really?\nNo.\n", "> May I?\nYes.\n> Really?\nNo."),
        ("> only a quote\n", "> only a quote"),
        ("On the whole, as somebody wrote:\nit is fine\n", "On the whole, as somebody wrote:\nit is fine"),
    ],
)
def test_an_answer_is_read_without_what_it_answers_where_that_is_safe(text: str, fresh: str) -> None:
    assert opened(letter(text, **ANSWER)).fresh == fresh


def test_a_quote_in_a_first_mail_stays() -> None:
    text = "Look:\n\nOn Monday Bob wrote:\n> buy this"
    assert opened(letter(text)).fresh == text


def test_a_thread_is_known_by_its_first_mail() -> None:
    assert opened(letter()).root == "<one@example.org>"
    assert opened(letter(**ANSWER)).root == "<root@example.org>"
    assert opened(letter(In_Reply_To="<before@example.org>")).root == "<before@example.org>"


@pytest.mark.parametrize("bad", ["", "<>", "no brackets", "<a b@c>", "<\x00@x>", f"<{'x' * 1000}>"])
def test_a_message_id_that_makes_no_sense_counts_as_none(bad: str) -> None:
    read_one = opened(letter(Message_ID=bad))
    assert read_one.message_id == ""
    assert read_one.key(7, 9) == "7:9"


# -- what hangs on it


def with_attachments(count: int) -> EmailMessage:
    mail = EmailMessage()
    mail["From"], mail["To"] = "a@x.org", AGENT
    mail.set_content("see below")
    for n in range(count):
        mail.add_attachment(b"data", maintype="application", subtype="zip", filename=f"file-{n}.zip")
    return mail


def test_of_five_hundred_attachments_the_first_are_taken_and_the_rest_named() -> None:
    got = opened(with_attachments(500).as_bytes())
    assert got.text == "see below"
    assert [one.name for one in got.enclosed] == [f"file-{n}.zip" for n in range(MOST_ATTACHMENTS)]
    assert got.left_out[0] == f"file-{MOST_ATTACHMENTS}.zip"
    assert got.left_out[-1] == "and 430 more"


@pytest.mark.parametrize("depth", [10, 100, 3000])
def test_a_mail_nested_however_deep_is_read(depth: int) -> None:
    head = "From: a@x.org\r\nSubject: deep\r\n"
    for n in range(depth):
        head += f"Content-Type: multipart/mixed; boundary=b{n}\r\n\r\n--b{n}\r\n"
    got = opened(head + "Content-Type: text/plain\r\n\r\nthe bottom\r\n")
    assert got.subject == "deep"
    assert depth > 10 or got.text == "the bottom"


def test_a_mail_in_a_mail_is_an_attachment() -> None:
    inner, outer = with_attachments(1), with_attachments(0)
    inner.replace_header("From", "mallory@evil.example")
    outer.add_attachment(inner)
    got = opened(outer.as_bytes())
    assert got.text == "see below"
    assert [one.media_type for one in got.enclosed] == ["message/rfc822"]
    assert got.sender.address == "a@x.org"


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("../../etc/passwd", "passwd"),
        ("C:\\x\\virus.exe", "virus.exe"),
        ("a\u202etxt.exe", "a txt.exe"),
        ("x" * 500 + ".txt", None),
        ("..", None),
    ],
)
def test_the_name_of_an_attachment_is_only_a_name(name: str, kept: str | None) -> None:
    mail = with_attachments(0)
    mail.add_attachment(b"x", maintype="application", subtype="zip", filename=name)
    got = opened(mail.as_bytes()).enclosed[0].name
    assert kept is None or got == kept
    assert len(got) <= 200
    assert "/" not in got.replace("application/zip", "")


def test_of_a_mail_that_is_not_whole_attachments_are_only_named() -> None:
    got = read(with_attachments(3).as_bytes()[:-20], AGENT, "", is_cut=True)
    assert got.enclosed == ()
    assert got.left_out == ("file-0.zip", "file-1.zip", "file-2.zip")


@given(st.binary(max_size=2_000))
def test_no_bytes_make_the_reading_fail(raw: bytes) -> None:
    read(raw, AGENT, "mx.example.org")


@given(st.text(max_size=30))
def test_any_name_of_a_folder_survives(name: str) -> None:
    if not any(0xD800 <= ord(sign) < 0xE000 for sign in name):
        assert from_utf7(to_utf7(name)) == name


def test_a_question_says_how_to_answer_by_mail() -> None:
    step = StepRef(TurnId("t"), 3)
    said = Said((Text("May I send it?"),), asks=Asks(step, ("allow", "deny")))
    where, to = Conversation(SpaceId("home"), "c"), Address("mail", "a@x.org")
    message = Outgoing(key=Key("k"), conversation=where, to=to, content=said, label=UNLABELLED, created_at=datetime.now(UTC))
    channel = MailChannel(Account("agent@x.org", "localhost", "localhost", str), WallClock(), Values())
    (piece,) = channel.pieces(message)
    assert piece.text.startswith("May I send it?")
    assert f"`{code_of(step)} 1` for allow, `{code_of(step)} 2` for deny" in piece.text
    assert channel.pieces(message) == (piece,)


@pytest.mark.parametrize(
    ("subject", "text", "is_so"),
    [
        ("Fwd: offer", "see below", True),
        ("WG: Angebot", "siehe unten", True),
        ("offer", "fyi\n---------- Forwarded message ---------\nFrom: x", True),
        ("Re: plan", "yes\n> delete all\nreally", True),
        ("Re: plan", "yes, a > b", False),
        ("forward planning", "let us talk", False),
    ],
)
def test_what_somebody_else_wrote_is_told_from_what_the_sender_did(subject: str, text: str, is_so: bool) -> None:
    assert words.has_others(subject, text) is is_so


@pytest.mark.parametrize(
    ("kind", "body"),
    [("plain", "b'a' + b' ' * 199_000 + b'b'"), ("html", "b'<div>' * 100_000 + b'words'"), ("html", "b'<div></x>' * 100_000 + b'words'")],
)
def test_a_mail_that_was_made_to_hurt_is_read_in_time(kind: str, body: str) -> None:
    """In a process of its own: neither a pattern nor a parser in C can be interrupted, and all else would wait for them."""
    program = (
        "from daimon.gateway.mail.letter import read\n"
        f"raw = b'From: a@x.org\\r\\nContent-Type: text/{kind}\\r\\n\\r\\n' + {body}\n"
        "assert read(raw, 'agent@example.org', 'mx').text"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)


def test_blanks_at_the_ends_of_lines_are_dropped_and_others_kept() -> None:
    assert body_of("text/plain", b"one  two \t \nthree\xc2\xa0\n\n  four ") == "one  two\nthree\n\n  four"
