"""Slack beyond the contract: threads, history after an absence, edits, reactions, renewed sockets, files only from Slack."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import pytest
import uvloop
from tests.gateway.channels.telegram_rig import Shelf

from daimon.abi.channel import Arrival, Choice, Message, Piece, Pressed, Reacted
from daimon.abi.errors import InDoubt, LockedOut, NotSent
from daimon.abi.message import File, Text
from daimon.gateway.channels.slack import MOST_PAGES, SlackChannel, Tokens, Workspace
from daimon.gateway.channels.slack_events import readable
from daimon.testing.clock import ManualClock
from daimon.testing.reception import MemoryReception
from daimon.testing.slack.server import SlackServer
from daimon.testing.slack.workspace import ANNA, BEN, BOT, CHANNEL, CHAT, FIRST, buttons
from daimon.testing.telegram.faults import Fault

DEADLINE_S = 60.0


@dataclass
class Rig:
    server: SlackServer
    reception: MemoryReception = field(default_factory=MemoryReception)
    store: Shelf = field(default_factory=Shelf)

    def channel(self) -> SlackChannel:
        tokens = Tokens(lambda: self.server.bot_token, lambda: self.server.app_token)
        return SlackChannel(Workspace(self.server.url), tokens, ManualClock(), self.store)

    @asynccontextmanager
    async def serving(self) -> AsyncIterator["asyncio.Task[None]"]:
        task = asyncio.create_task(self.channel().serve(self.reception))
        try:
            yield task
        finally:
            task.cancel()
            await asyncio.wait((task,), timeout=DEADLINE_S)

    async def until(self, is_so: Callable[[list[Arrival]], bool]) -> list[Arrival]:
        return await self.reception.until(is_so, DEADLINE_S)

    def come(self) -> list[Message]:
        """Each once."""
        return list({each.key: each for each in self.reception.took if isinstance(each, Message)}.values())


@asynccontextmanager
async def opened() -> AsyncIterator[Rig]:
    async with asyncio.timeout(60), SlackServer() as server:
        yield Rig(server)


def words(message: Message) -> str:
    return "".join(part.text for part in message.parts if isinstance(part, Text))


async def test_a_mention_in_a_channel_comes_once_and_is_answered_in_its_thread() -> None:
    async with opened() as rig:
        async with rig.serving():
            ts = rig.server.workspace.says(ANNA, CHANNEL, f"<@{BOT}> what is new?")
            await rig.until(lambda took: len(took) >= 2)
        (came,) = rig.come()
        assert (came.place, words(came), came.is_group, came.is_direct) == (f"{CHANNEL}/{ts}", "what is new?", True, True)
        await rig.channel().send(Piece("much"), came.place, "k/0")
        assert rig.server.workspace.seen(CHANNEL)[-1]["thread_ts"] == ts


async def test_an_answer_in_the_agent_s_own_thread_is_said_to_it_and_one_in_another_thread_is_not() -> None:
    async with opened() as rig:
        workspace = rig.server.workspace
        own = str(workspace.posts(CHANNEL, {"text": "a brief"})["ts"])
        other = workspace.says(BEN, CHANNEL, "lunch?")
        async with rig.serving():
            workspace.says(ANNA, CHANNEL, "tell me more", own)
            workspace.says(ANNA, CHANNEL, "yes", other)
            await rig.until(lambda took: len({each.key for each in took}) >= 3)
        assert {words(each): each.is_direct for each in rig.come()} == {"lunch?": False, "tell me more": True, "yes": False}


async def test_what_slack_does_not_tell_any_more_is_read_from_history_also_in_the_threads_that_were_used() -> None:
    async with opened() as rig:
        workspace = rig.server.workspace
        async with rig.serving():
            thread = workspace.says(ANNA, CHANNEL, f"<@{BOT}> begin")
            await rig.until(lambda took: len(took) >= 2)
        for text in ("one", "two"):
            workspace.says(ANNA, CHAT, text)
        workspace.says(ANNA, CHANNEL, f"<@{BOT}> three", thread)
        rig.server.forget()
        async with rig.serving():
            await rig.until(lambda took: len({each.key for each in took}) >= 4)
        assert [words(each) for each in rig.come()] == ["begin", "one", "two", "three"]


async def test_at_the_first_start_nothing_old_is_answered() -> None:
    async with opened() as rig:
        rig.server.workspace.says(ANNA, CHAT, "years ago")
        rig.server.forget()
        async with rig.serving():
            rig.server.workspace.says(ANNA, CHAT, "now")
            await rig.until(bool)
        assert [words(each) for each in rig.come()] == ["now"]


async def test_the_mark_stays_where_it_was_while_what_was_missed_is_still_being_read() -> None:
    async with opened() as rig:
        workspace = rig.server.workspace
        rig.reception.kept["slack", "mark"] = f"{FIRST}.000000"
        workspace.says(ANNA, CHAT, "missed")
        rig.server.forget()
        rig.server.fail(Fault("silent", "conversations.history"))
        async with rig.serving():
            await asyncio.wait_for(rig.server.called("conversations.history"), DEADLINE_S)
            workspace.says(ANNA, CHANNEL, f"<@{BOT}> live")
            await rig.until(bool)
        assert rig.reception.kept["slack", "mark"] == f"{FIRST}.000000"
        async with rig.serving():
            await rig.until(lambda took: len({each.key for each in took}) >= 2)
        assert {words(each) for each in rig.come()} == {"missed", "live"}


async def test_a_reading_of_what_was_missed_that_is_cut_off_gets_further_each_time() -> None:
    async with opened() as rig:
        workspace = rig.server.workspace
        rig.reception.kept["slack", "mark"] = f"{FIRST}.000000"
        for n in range(100):
            workspace.says(ANNA, CHAT, f"missed {n}")
        workspace.says(ANNA, CHANNEL, f"<@{BOT}> the last")
        rig.server.forget()
        rig.server.fail(Fault("slow after", "conversations.history", wait_s=0.0), Fault("500", "conversations.history"))
        async with rig.serving() as serving:  # CHAT is read, CHANNEL fails
            await asyncio.wait({serving}, timeout=DEADLINE_S)
        assert len(rig.come()) == 100
        rig.reception.took.clear()
        async with rig.serving():
            came = await rig.until(lambda took: any(isinstance(each, Message) and words(each) == "the last" for each in took))
        assert len(came) < 60, "what was read before is read again only from a little before its end"


async def test_what_is_said_where_the_reading_was_ahead_of_the_mark_is_not_missed() -> None:
    async with opened() as rig:
        workspace = rig.server.workspace
        rig.reception.kept["slack", "mark"] = f"{FIRST}.000000"
        workspace.says(ANNA, CHAT, "one")
        for after in ("two", "three"):
            rig.server.forget()
            rig.server.fail(Fault("slow after", "conversations.history", wait_s=0.0), Fault("500", "conversations.history"))
            async with rig.serving() as serving:
                await asyncio.wait({serving}, timeout=DEADLINE_S)
            workspace.says(ANNA, CHAT, after)
        rig.server.forget()
        async with rig.serving():
            await rig.until(lambda took: len({each.key for each in took}) >= 3)
        assert [words(each) for each in rig.come()] == ["one", "two", "three"]


async def test_a_renewed_connection_loses_nothing() -> None:
    async with opened() as rig:
        async with rig.serving() as task:
            rig.server.workspace.says(ANNA, CHAT, "before")
            await rig.until(bool)
            rig.server.renew()
            await asyncio.wait_for(task, DEADLINE_S)
        rig.server.workspace.says(ANNA, CHAT, "after")
        async with rig.serving():
            await rig.until(lambda took: len({each.key for each in took}) >= 2)
        assert [words(each) for each in rig.come()] == ["before", "after"]


async def test_a_new_wording_says_which_message_it_replaces_and_an_unfurled_link_is_none() -> None:
    async with opened() as rig, rig.serving():
        ts = rig.server.workspace.says(ANNA, CHAT, "at 8")
        rig.server.workspace.edits(ANNA, CHAT, ts, "at 8")
        rig.server.workspace.edits(ANNA, CHAT, ts, "at 9")
        took = await rig.until(lambda took: len(took) >= 2)
        assert [(words(each), each.replaces) for each in took if isinstance(each, Message)] == [("at 8", ""), ("at 9", ts)]


async def test_a_reaction_on_what_the_agent_said_comes_in_as_a_sign() -> None:
    async with opened() as rig, rig.serving():
        ref = (await rig.channel().send(Piece("done?"), CHAT, "k/0")).ref
        rig.server.workspace.reacts(ANNA, CHAT, ref, "+1")
        (reacted,) = await rig.until(bool)
        assert isinstance(reacted, Reacted)
        assert (reacted.sign, reacted.ref, reacted.sender) == ("👍", ref, ANNA)


async def test_the_buttons_go_when_one_was_pressed_and_the_choice_stays() -> None:
    async with opened() as rig:
        rig.reception.says = "allowed"
        async with rig.serving():
            await rig.channel().send(Piece("May I?", choices=(Choice("A2B3C 1", "no"), Choice("A2B3C 2", "yes"))), CHAT, "k/0")
            rig.server.workspace.presses(ANNA, CHAT, "yes")
            (pressed,) = await rig.until(bool)
            assert isinstance(pressed, Pressed)
            assert pressed.code == "A2B3C 2"
            await asyncio.wait_for(rig.server.called("chat.update"), DEADLINE_S)
        (shown,) = rig.server.workspace.seen(CHAT)
        assert not buttons(shown)
        assert "allowed" in str(shown["text"])


async def test_a_file_whose_upload_was_cut_is_found_by_its_title() -> None:
    async with opened() as rig:
        blob = await rig.store.put(b"data")
        piece = Piece(attachment=File(blob, "a.txt", "text/plain", 4))
        rig.server.fail(Fault("cut after", "files.completeUploadExternal"))
        with pytest.raises(ConnectionError):
            await rig.channel().send(piece, CHAT, "k/1")
        assert await rig.channel().find(piece, CHAT, "k/1") is not None
        assert await rig.channel().find(piece, CHAT, "k/2") is None


async def test_the_token_goes_to_slack_and_to_nobody_else() -> None:
    async with opened() as rig, rig.serving():
        file = {"name": "x", "size": 1, "url_private": "http://127.0.0.1:1/steal"}
        rig.server.workspace.says(ANNA, CHAT, "see", subtype="file_share", files=[{**file}])
        took = await rig.until(bool)
        assert "could not be fetched" in words(took[0])  # type: ignore[arg-type]


async def test_a_refusal_is_certain_and_says_slack_s_code() -> None:
    async with opened() as rig:
        with pytest.raises(NotSent, match="channel_not_found"):
            await rig.channel().send(Piece("x"), "C9NOWHERE", "k/0")


async def test_a_token_of_another_kind_is_named_before_anything_is_asked() -> None:
    async with opened() as rig:
        rig.server.bot_token = "xoxp-a-person's"
        with pytest.raises(LockedOut, match="bot_token must begin with xoxb-"):
            await rig.channel().send(Piece("x"), CHAT, "k/0")
        assert rig.server.calls == []


def test_it_listens_and_sends_under_uvloop_too() -> None:
    async def both() -> None:
        async with opened() as rig, rig.serving():
            rig.server.workspace.says(ANNA, CHAT, "hello")
            await rig.until(bool)
            await rig.channel().send(Piece("hi"), CHAT, "k/0")
            assert len(rig.server.workspace.seen(CHAT)) == 1

    work: Coroutine[object, object, None] = both()
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(work)


@pytest.mark.parametrize(
    ("sent", "read"),
    [
        (f"<@{BOT}> hello", "hello"),
        (f"<@{BOT}|daimon>: hello", "hello"),
        ("see <https://a.example/x|the page> &amp; <https://b.example>", "see the page (https://a.example/x) & https://b.example"),
        ("<@U9|ben> in <#C1|team>, <!here>", "@ben in #team, @here"),
        ("<mailto:a@b.example|a@b.example>", "a@b.example"),
        ("1 &lt; 2 &amp;amp;", "1 < 2 &amp;"),
    ],
)
def test_slack_s_notation_is_read_as_people_read_it(sent: str, read: str) -> None:
    assert readable(sent, BOT) == read


async def test_a_message_is_found_also_if_much_was_said_since() -> None:
    async with opened() as rig:
        channel = rig.channel()
        await channel.send(Piece("hello"), CHANNEL, "k/0")
        for n in range(450):
            rig.server.workspace.says(BEN, CHANNEL, f"{n}")
        assert await channel.find(Piece("hello"), CHANNEL, "k/0") is not None
        assert await channel.find(Piece("hello"), CHANNEL, "k/1") is None


async def test_where_too_much_was_said_since_it_is_in_doubt_whether_a_message_is_there() -> None:
    async with opened() as rig:
        for n in range(200 * MOST_PAGES + 1):
            rig.server.workspace.says(BEN, CHANNEL, f"{n}")
        with pytest.raises(InDoubt):
            await rig.channel().find(Piece("hello"), CHANNEL, "k/0")


async def test_what_was_missed_and_cannot_be_read_ends_the_listening_though_nobody_says_anything() -> None:
    async with opened() as rig:
        async with rig.serving():
            rig.server.workspace.says(ANNA, CHAT, "begin")
            await rig.until(bool)
        rig.server.workspace.says(ANNA, CHAT, "missed")
        rig.server.forget()
        rig.server.fail(Fault("500", "users.conversations"))
        async with rig.serving() as serving:
            done, _ = await asyncio.wait({serving}, timeout=DEADLINE_S)
            assert done
            assert isinstance(serving.exception(), ConnectionError)
        async with rig.serving():
            await rig.until(lambda took: len({each.key for each in took}) >= 2)
        assert [words(each) for each in rig.come()] == ["begin", "missed"]


async def test_what_was_missed_in_a_conversation_comes_before_what_is_said_there_now() -> None:
    async with opened() as rig:
        async with rig.serving():
            rig.server.workspace.says(ANNA, CHAT, "begin")
            await rig.until(bool)
        for text in ("one", "two"):
            rig.server.workspace.says(ANNA, CHAT, text)
        rig.server.forget()
        rig.server.fail(Fault("429", "users.conversations", retry_after=3_600))  # the list of conversations lets itself be waited for
        async with rig.serving():
            await rig.server.called("users.conversations")
            rig.server.workspace.says(ANNA, CHAT, "live")
            await rig.until(lambda took: any(isinstance(each, Message) and words(each) == "live" for each in took))
        assert [words(each) for each in rig.come()] == ["begin", "one", "two", "live"]
