import asyncio
from datetime import UTC, datetime

import pytest
import uvloop
from tests.gateway.channels.telegram_rig import Rig, rig, words

from daimon.abi.channel import Choice, Message, Piece, Pressed, Reacted
from daimon.abi.errors import JournalFull, LockedOut, NotSent, RetryLater
from daimon.abi.message import Audio, File, Image
from daimon.testing.telegram.chats import ANNA, BEN, BOT, GROUP, STARTED, SUPERGROUP, Person, Shown
from daimon.testing.telegram.faults import Fault


async def test_what_is_said_to_the_bot_arrives() -> None:
    async with rig() as r, r.serving():
        number = r.chats.says(ANNA, "hello")
        message = await r.book.message()
    assert words(message) == "hello"
    assert (message.place, message.sender, message.name, message.ref) == ("1001", "1001", "Anna", f"1001/{number}")
    assert message.is_direct
    assert not message.is_group
    assert message.at == datetime.fromtimestamp(STARTED, UTC)


async def test_what_was_said_while_nobody_listened_arrives_in_order() -> None:
    async with rig() as r:
        for n in range(250):
            r.chats.says(ANNA, str(n))
        async with r.serving():
            arrivals = await r.book.arrivals(250)
    assert [words(a) for a in arrivals if isinstance(a, Message)] == [str(n) for n in range(250)]


async def test_a_new_wording_names_the_message_that_it_replaces() -> None:
    async with rig() as r, r.serving():
        number = r.chats.says(ANNA, "helo")
        await r.book.message()
        r.chats.edits(ANNA, number, "hello")
        edited = await r.book.message(2)
    assert (words(edited), edited.replaces, edited.ref) == ("hello", f"1001/{number}", f"1001/{number}")


@pytest.mark.parametrize(
    ("text", "said", "is_direct"),
    [
        ("what do you think?", "what do you think?", False),
        (f"@{BOT.username} what do you think?", "what do you think?", True),
        (f"🦊🦊 @{BOT.username.upper()} hi", "🦊🦊  hi", True),
        (f"/weather@{BOT.username} Bern", "/weather Bern", True),
        ("/weather Bern", "/weather Bern", False),
        ("/weather@other_bot Bern", "/weather@other_bot Bern", False),
        (f"@{BOT.username}x hi", f"@{BOT.username}x hi", False),
        ("@ben_the_guest hi", "@ben_the_guest hi", False),
    ],
)
async def test_in_a_group_it_is_said_to_the_bot_only_by_its_name(text: str, said: str, is_direct: bool) -> None:
    async with rig() as r, r.serving():
        r.chats.says(BEN, text, GROUP)
        message = await r.book.message()
    assert (words(message), message.is_direct, message.is_group, message.sender) == (said, is_direct, True, "1002")


async def test_an_answer_to_the_bot_in_a_group_is_said_to_it_and_one_to_others_is_not() -> None:
    async with rig() as r, r.serving():
        await r.channel.send(Piece("question"), str(GROUP), "k/0")
        asked = r.chats.seen(GROUP)[0]
        r.chats.says(BEN, "yes", GROUP, reply_to_message=asked.wire)
        r.chats.says(BEN, "no", GROUP, reply_to_message={"message_id": 5, "from": ANNA.wire, "chat": {"id": GROUP, "type": "group"}})
        yes, no = await r.book.message(1), await r.book.message(2)
    assert (yes.is_direct, yes.answers) == (True, f"{GROUP}/{asked.id}")
    assert (no.is_direct, no.answers) == (False, f"{GROUP}/5")


async def test_a_topic_is_a_place_and_what_opened_it_is_not_answered() -> None:
    opening = Shown(SUPERGROUP, 7, "opened by the bot").wire
    async with rig() as r, r.serving():
        r.chats.says(BEN, "hi", SUPERGROUP, message_thread_id=7, is_topic_message=True, reply_to_message=opening)
        r.chats.says(BEN, "ho", SUPERGROUP, message_thread_id=9)
        topic, thread = await r.book.message(1), await r.book.message(2)
    assert (topic.place, topic.is_direct, topic.answers) == (f"{SUPERGROUP}/7", False, "")
    assert thread.place == str(SUPERGROUP)


async def test_bots_are_not_heard_and_who_hides_behind_a_chat_is_a_stranger() -> None:
    anonymous = Person(1_087_968_824, "Group", is_bot=True, username="GroupAnonymousBot")
    async with rig() as r, r.serving():
        r.chats.says(Person(77, "Other", is_bot=True), "beep", GROUP)
        r.chats.says(anonymous, "psst", GROUP, sender_chat={"id": GROUP, "type": "group", "title": "Family"})
        r.chats.says(Person(777_000, "Telegram"), "news", SUPERGROUP, sender_chat={"id": -100_9, "type": "channel", "title": "News"})
        first, second = await r.book.message(1), await r.book.message(2)
    assert [m.sender for m in (first, second)] == [f"chat:{GROUP}", "chat:-1009"]


async def test_files_of_all_kinds_are_kept() -> None:
    async with rig() as r, r.serving():
        r.chats.sends(ANNA, "photo", b"large picture", caption="look")
        r.chats.sends(ANNA, "voice", b"OggS", mime_type="audio/ogg", duration=3)
        r.chats.sends(ANNA, "audio", b"ID3", file_name="song.mp3")
        r.chats.sends(ANNA, "document", b"a,b", file_name="t.csv", mime_type="text/csv")
        r.chats.sends(ANNA, "video", b"mp4")
        got = [await r.book.message(n) for n in range(1, 6)]
    photo, voice, audio, document, video = (m.parts[-1] for m in got)
    assert isinstance(photo, Image)
    assert r.shelf.blobs[photo.blob] == b"large picture"
    assert words(got[0]) == "look"
    assert isinstance(voice, Audio)
    assert (voice.media_type, voice.duration_s) == ("audio/ogg", 3)
    assert isinstance(audio, Audio)
    assert isinstance(document, File)
    assert (document.name, document.media_type, document.size) == ("t.csv", "text/csv", 3)
    assert isinstance(video, File)


async def test_a_file_above_the_limit_is_named_in_the_text() -> None:
    async with rig() as r, r.serving():
        r.book.most_bytes = 10
        r.chats.sends(ANNA, "document", bytes(11), caption="see", file_name="big.bin")
        message = await r.book.message()
    assert len(message.parts) == 1
    assert words(message).startswith("see\n[big.bin")


async def test_a_file_that_telegram_does_not_hand_out_is_named_in_the_text() -> None:
    async with rig() as r, r.serving():
        r.book.most_bytes = 50_000_000
        r.chats.sends(ANNA, "document", bytes(20_000_001), file_name="big.bin")
        message = await r.book.message()
    assert "could not be fetched" in words(message)


async def test_files_of_what_was_not_said_to_the_bot_are_not_fetched() -> None:
    async with rig() as r, r.serving():
        r.chats.says(BEN, "", GROUP, document={"file_id": "f", "file_name": "x.bin", "file_size": 5})
        message = await r.book.message()
        assert "not fetched" in words(message)
        assert "getFile" not in [name for name, _ in r.server.calls]


async def test_files_of_strangers_are_not_fetched() -> None:
    async with rig() as r, r.serving():
        r.book.strangers = {str(BEN.id)}
        r.chats.sends(BEN, "document", b"x" * 100, file_name="x.bin")
        assert "not fetched" in words(await r.book.message())
        assert r.shelf.blobs == {}


async def test_a_file_that_never_comes_does_not_stop_what_is_behind_it() -> None:
    async with rig() as r:
        r.chats.sends(ANNA, "document", b"x", file_name="x.bin")
        r.chats.says(ANNA, "still there?")
        r.server.fail(*(Fault("cut", "file") for _ in range(3)))
        for _ in range(2):
            with pytest.raises(ConnectionError):
                await r.channel.serve(r.book)
        async with r.serving():
            await r.book.arrivals(2)
        assert [words(m) for m in await r.book.arrivals(2) if isinstance(m, Message)][1] == "still there?"
        assert "could not be fetched" in words(await r.book.message(1))


async def test_a_file_that_comes_at_the_second_try_is_whole() -> None:
    async with rig() as r:
        r.chats.sends(ANNA, "document", b"x", file_name="x.bin")
        r.server.fail(Fault("cut", "file"))
        with pytest.raises(ConnectionError):
            await r.channel.serve(r.book)
        assert r.book.taken == {}
        async with r.serving():
            assert isinstance((await r.book.message()).parts[0], File)


async def test_signs_and_places_are_told_in_words_and_news_of_the_service_not_at_all() -> None:
    async with rig() as r, r.serving():
        r.chats.says(ANNA, "", sticker={"file_id": "s", "emoji": "👍"})
        r.chats.says(ANNA, "", location={"latitude": 46.9, "longitude": 7.4})
        r.chats.says(ANNA, "", new_chat_title="x")
        r.chats.says(ANNA, "from afar", forward_origin={"type": "hidden_user", "sender_user_name": "Carl"})
        got = [words(await r.book.message(n)) for n in (1, 2, 3)]
        assert [(await r.book.message(n)).has_others_words for n in (1, 2, 3)] == [False, False, True]
    assert got == ["[sticker 👍]", "[location 46.9, 7.4]", "[forwarded from Carl]\nfrom afar"]


async def test_somebody_who_walks_with_a_shared_place_says_it_once() -> None:
    async with rig() as r, r.serving():
        place = {"latitude": 46.9, "longitude": 7.4, "live_period": 900}
        number = r.chats.says(ANNA, "", location=place)
        r.server.queue.put("edited_message", r.server.queue.all[0]["message"] | {"message_id": number, "edit_date": STARTED + 9})  # type: ignore[operator]
        r.chats.says(ANNA, "here")
        await r.book.arrivals(2)
    assert words(await r.book.message(2)) == "here"


async def test_an_update_that_cannot_be_read_does_not_stop_the_next() -> None:
    async with rig() as r, r.serving():
        r.server.queue.put("message", {"message_id": "no number"})
        r.chats.says(ANNA, "hello")
        assert words(await r.book.message()) == "hello"


async def _asked(r: Rig) -> Shown:
    await r.channel.send(Piece("may I?", choices=(Choice("K7Q2 1", "allow"), Choice("K7Q2 2", "deny"))), "1001", "k/0")
    return r.chats.seen(ANNA.id)[-1]


async def test_a_pressed_button_arrives_is_answered_and_goes_away() -> None:
    async with rig() as r, r.serving():
        shown = await _asked(r)
        query = r.chats.presses(ANNA, shown, 1)
        [pressed] = await r.book.arrivals(1)
        await r.server.called("editMessageReplyMarkup")
    assert isinstance(pressed, Pressed)
    assert (pressed.code, pressed.sender, pressed.place, pressed.ref) == ("K7Q2 2", "1001", "1001", f"1001/{shown.id}")
    assert r.chats.answered == {query: "noted"}
    assert r.chats.seen(ANNA.id)[0].buttons == ()


async def test_a_stranger_who_presses_is_told_nothing_and_changes_nothing() -> None:
    async with rig() as r, r.serving():
        r.book.answer = ""
        query = r.chats.presses(BEN, await _asked(r), 0)
        await r.book.arrivals(1)
        r.chats.says(ANNA, "later")
        await r.book.arrivals(2)
    assert r.chats.answered == {query: ""}
    assert len(r.chats.seen(ANNA.id)[0].buttons) == 2


async def test_a_failed_answer_to_a_press_does_not_stop_the_channel() -> None:
    async with rig() as r, r.serving():
        r.server.fail(Fault("500", "answerCallbackQuery"), Fault("cut", "editMessageReplyMarkup"))
        r.chats.presses(ANNA, await _asked(r), 0)
        r.chats.says(ANNA, "later")
        await r.book.arrivals(2)


async def test_a_sign_on_a_message_arrives_and_its_removal_does_not() -> None:
    async with rig() as r, r.serving():
        shown = await _asked(r)
        await r.server.called("getUpdates")
        r.chats.reacts(ANNA, shown, "👍")
        r.chats.reacts(ANNA, shown, "", before="👍")
        r.chats.says(ANNA, "done")
        reacted, said = await r.book.arrivals(2)
    assert isinstance(reacted, Reacted)
    assert (reacted.sign, reacted.ref, reacted.sender) == ("👍", f"1001/{shown.id}", "1001")
    assert isinstance(said, Message)


async def test_what_could_not_be_written_is_not_acknowledged() -> None:
    async with rig() as r:
        r.chats.says(ANNA, "hello")
        r.book.failures = [JournalFull("no space")]
        with pytest.raises(JournalFull):
            await r.channel.serve(r.book)
        assert len(r.server.queue) == 1
        assert r.book.values == {}
        async with r.serving():
            assert words(await r.book.message()) == "hello"


async def test_killed_at_any_moment_nothing_is_lost_and_nothing_comes_twice() -> None:
    kill_at, was_killed = 1, True
    while was_killed:
        async with rig() as r:
            was_killed = await _killed_once(r, kill_at)
        kill_at += 1
    assert kill_at > 18  # before and after each write


async def _killed_once(r: Rig, kill_at: int) -> bool:
    r.book.kill_at = kill_at
    for n in range(3):
        r.chats.says(ANNA, str(n))
    r.chats.sends(ANNA, "document", b"x", file_name="x")
    async with r.serving():
        everything = asyncio.create_task(_settled(r))
        killed = asyncio.create_task(r.book.killed.wait())
        await asyncio.wait((everything, killed), return_when=asyncio.FIRST_COMPLETED)
        everything.cancel()
        killed.cancel()
    async with r.serving():
        await _settled(r)
    assert [words(m) for m in r.book.taken.values() if isinstance(m, Message)] == ["0", "1", "2", ""]
    assert len(r.book.tries) <= 5  # one at most came again
    return r.book.killed.is_set()


async def _settled(r: Rig) -> None:
    """All is taken in and acknowledged."""
    while len(r.server.queue) or len(r.book.taken) < 4:
        polls = sum(name == "getUpdates" for name, _ in r.server.calls)
        await r.server.called("getUpdates", polls + 1)
        await asyncio.sleep(0)


async def test_what_is_delivered_again_has_the_same_key() -> None:
    async with rig() as r, r.serving():
        r.chats.says(ANNA, "once")
        await r.book.arrivals(1)
        r.server.queue.again()
        r.chats.says(ANNA, "after")
        await r.book.arrivals(2)
    assert len(r.book.taken) == 2


async def test_after_a_week_of_silence_lower_numbers_are_heard() -> None:
    async with rig() as r:
        async with r.serving():
            r.chats.says(ANNA, "before")
            await r.book.arrivals(1)
            while len(r.server.queue):
                await r.server.called("getUpdates", sum(n == "getUpdates" for n, _ in r.server.calls) + 1)
        r.server.queue.renumber(5)
        r.clock.jump(8 * 86_400)
        async with r.serving():
            r.chats.says(ANNA, "after")
            assert words(await r.book.message(2)) == "after"


async def test_a_webhook_that_was_set_is_taken_away_and_what_waited_is_kept() -> None:
    async with rig() as r:
        r.server.delivery.webhook = "https://elsewhere.example/hook"
        r.chats.says(ANNA, "hello")
        async with r.serving():
            assert words(await r.book.message()) == "hello"


async def test_a_second_program_that_fetches_is_told_in_words() -> None:
    async with rig() as r, r.serving() as first:
        await r.server.called("getUpdates")
        other = Rig(r.server)
        async with other.serving():
            with pytest.raises(NotSent, match="only one bot instance"):
                await first


async def test_a_token_revoked_in_flight_locks_out_and_the_new_one_goes_on() -> None:
    async with rig() as r:
        async with r.serving() as task:
            await r.server.called("getUpdates")
            r.server.revoke()
            with pytest.raises(LockedOut):
                await task
        r.server.restore()
        r.chats.says(ANNA, "back")
        async with r.serving():
            assert words(await r.book.message()) == "back"


@pytest.mark.parametrize("fault", [Fault("429", "getUpdates", 9), Fault("500", "getUpdates"), Fault("cut", "getUpdates")])
async def test_what_breaks_the_fetching_is_raised_and_nothing_is_lost(fault: Fault) -> None:
    async with rig() as r:
        r.server.fail(fault)
        r.chats.says(ANNA, "hello")
        with pytest.raises(RetryLater if fault.what == "429" else ConnectionError):
            await r.channel.serve(r.book)
        async with r.serving():
            assert words(await r.book.message()) == "hello"


def test_all_of_it_works_on_the_loop_of_the_gateway() -> None:
    async def talk() -> None:
        async with rig() as r, r.serving():
            r.chats.sends(ANNA, "document", b"x", caption="hello", file_name="x.txt")
            assert words(await r.book.message()) == "hello"
            shown = await _asked(r)
            r.chats.presses(ANNA, shown, 0)
            await r.book.arrivals(2)
            r.server.fail(Fault("cut", "sendMessage"))
            with pytest.raises(ConnectionError):
                await r.channel.send(Piece("hi"), "1001", "k/1")

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(talk())
