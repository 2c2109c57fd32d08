"""New mail for an automation: only what is new, and whose words it is."""

from collections.abc import AsyncIterator, Iterator

import pytest
from tests.gateway.channels.post import AGENT, ALICE, Post, letter, post

from daimon.abi.errors import WatchFailed
from daimon.abi.ids import OWNER
from daimon.abi.label import Author, Label, Origin
from daimon.gateway.mail.look import new_mail
from daimon.testing.mail.dovecot import Dovecot, obstacle

pytestmark = [pytest.mark.anyio, pytest.mark.skipif(bool(obstacle()), reason=obstacle() or "it runs")]


@pytest.fixture
def dovecot() -> Iterator[Dovecot]:
    with Dovecot() as server:
        yield server


@pytest.fixture
async def mail(dovecot: Dovecot) -> AsyncIterator[Post]:
    async with post(dovecot) as made:
        yield made


async def test_the_first_look_takes_stock_and_the_next_one_has_only_what_is_new(mail: Post) -> None:
    mail.deliver(letter("old", to="owner@example.org"))
    first = await new_mail(mail.account, "INBOX", None)
    assert first.change is None
    mail.deliver(letter("new", to="owner@example.org", Subject="=?utf-8?q?Gr=C3=BC=C3=9Fe?="))
    second = await new_mail(mail.account, "INBOX", first.state)
    assert isinstance(second.change, list)
    (item,) = second.change
    assert isinstance(item, dict)
    assert (item["from"], item["verified"], item["subject"], item["text"]) == (ALICE, True, "Grüße", "new")
    assert (item["to"], item["message_id"], item["attachments"]) == (["owner@example.org"], "<one@example.org>", [])
    assert second.label == Label.of(Origin(Author.STRANGER, f"mail:{ALICE}"), readers=(OWNER,))
    third = await new_mail(mail.account, "INBOX", second.state)
    assert (third.change, third.state) == (None, second.state)


async def test_what_is_addressed_to_the_agent_is_left_to_the_channel(mail: Post) -> None:
    first = await new_mail(mail.account, "INBOX", None)
    mail.deliver(letter("for the agent", to=AGENT))
    second = await new_mail(mail.account, "INBOX", first.state)
    assert second.change is None
    assert second.state != first.state


async def test_a_newsletter_is_for_the_watcher(mail: Post) -> None:
    first = await new_mail(mail.account, "INBOX", None)
    mail.deliver(letter("news", to="owner@example.org", List_Id="<news.example.org>"))
    assert (await new_mail(mail.account, "INBOX", first.state)).note == "1 new"


async def test_a_folder_that_is_not_there_is_told(mail: Post) -> None:
    with pytest.raises(WatchFailed, match="Nowhere"):
        await new_mail(mail.account, "Nowhere", None)


async def test_looking_marks_nothing_as_read(mail: Post) -> None:
    first = await new_mail(mail.account, "INBOX", None)
    mail.deliver(letter("unread", to="owner@example.org"))
    await new_mail(mail.account, "INBOX", first.state)
    ((flags, _),) = mail.dovecot.mails(AGENT)
    assert "Seen" not in flags
