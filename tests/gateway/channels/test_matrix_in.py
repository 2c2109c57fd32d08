"""What people say on a real homeserver reaches the reception: all of it, in order, from where it belongs."""

import asyncio

import pytest
import uvloop
from tests.gateway.channels.matrix_rig import Rig, rig

from daimon.abi.channel import Message, Reacted
from daimon.abi.errors import JournalFailed, LockedOut, RetryLater
from daimon.abi.message import Audio, File, Image, Text
from daimon.gateway.channels.matrix import Account, MatrixChannel
from daimon.gateway.channels.matrix_sync import UNREADABLE
from daimon.gateway.channels.matrix_wire import Json, events
from daimon.testing.matrix.homeserver import Homeserver
from daimon.testing.matrix.person import Person
from daimon.testing.matrix.proxy import BROKEN, LIMITED, REVOKED, Cut


async def test_a_message_of_a_room_of_two_is_taken_as_said_to_the_agent(synapse: Homeserver) -> None:
    async with rig(synapse) as here:
        room = await here.direct()
        async with here.serving():
            event = await here.owner.say(room, "Good morning.")
            await here.desk.until(lambda desk: bool(desk.taken))
    (message,) = here.desk.messages
    assert (message.key, message.ref, message.place, message.sender) == (event, event, room, here.owner.user)
    assert message.parts == (Text("Good morning."),)
    assert message.name == here.owner.user[1:].partition(":")[0]
    assert (message.is_group, message.is_direct) == (False, True)


async def test_who_is_invited_may_come_and_read_so_the_room_is_not_for_two(synapse: Homeserver) -> None:
    async with rig(synapse) as here:
        room = await here.direct()
        guest = await Person.new(synapse, "guest")
        async with here.serving():
            await here.owner.say(room, "between us")
            await here.desk.until(lambda desk: len(desk.taken) == 1)
            await here.owner.invite(room, guest.user)
            await here.owner.say(room, "before others")
            await here.desk.until(lambda desk: len(desk.taken) == 2)
        await guest.close()
    assert [message.is_group for message in here.desk.messages] == [False, True]


async def test_what_was_said_before_the_first_start_is_not_answered_and_what_was_said_while_nobody_listened_is(synapse: Homeserver) -> None:
    async with rig(synapse) as here:
        room = await here.direct()
        await here.owner.say(room, "before")
        async with here.serving():
            pass
        await here.owner.say(room, "meanwhile")
        async with here.serving():
            await here.owner.say(room, "now")
            await here.desk.until(lambda desk: len(desk.taken) >= 2)
    assert here.desk.texts == ["meanwhile", "now"]


async def test_a_batch_that_could_not_be_written_comes_again(synapse: Homeserver) -> None:
    async with rig(synapse) as here:
        room = await here.direct()
        async with here.serving():
            pass
        for n in range(4):
            await here.owner.say(room, f"{n}")
        here.desk.full_from = 2
        assert isinstance(await here.fallen(), JournalFailed)
        here.desk.full_from = None
        async with here.serving():
            await here.desk.until(lambda desk: len(desk.taken) == 4)
    assert here.desk.texts == ["0", "1", "2", "3"]


async def test_a_gap_that_is_too_long_for_one_answer_is_read_in_order(synapse: Homeserver) -> None:
    async with rig(synapse) as here:
        room, other = await here.direct(), await here.direct()
        await here.owner.say(room, "long ago")
        async with here.serving():
            pass
        for n in range(75):
            await here.owner.say(room, f"{n}")
        await here.owner.say(other, "elsewhere")
        async with here.serving():
            await here.desk.until(lambda desk: len(desk.taken) >= 76)
    assert [words for words in here.desk.texts if words != "elsewhere"] == [f"{n}" for n in range(75)]


async def test_an_invitation_of_a_known_person_is_accepted_and_what_follows_it_is_heard(synapse: Homeserver) -> None:
    async with rig(synapse) as here:
        async with here.serving():
            room = await here.owner.room()
            await here.owner.say(room, "before the invitation")
            await here.owner.invite(room, here.agent.user)
            await here.owner.say(room, "after the invitation")
            await here.desk.until(lambda desk: bool(desk.taken))
        assert here.agent.user in await here.owner.members(room)
    assert here.desk.texts == ["after the invitation"]


async def test_a_strangers_invitation_is_a_knock_until_the_owner_lets_them_in(synapse: Homeserver) -> None:
    async with rig(synapse) as here:
        stranger = await Person.new(synapse, "stranger")
        async with here.serving():
            room = await stranger.room(here.agent.user)
            await here.desk.until(lambda desk: bool(desk.taken))
        (knock,) = here.desk.messages
        assert (knock.sender, knock.place, knock.parts) == (stranger.user, room, ())
        assert here.agent.user not in await stranger.members(room)
        here.desk.known.add(stranger.user)
        async with here.serving():
            elsewhere = await here.owner.room(here.agent.user)
            await here.owner.say(elsewhere, "wakes it")
            await here.desk.until(lambda desk: "wakes it" in desk.texts)
        assert here.agent.user in await stranger.members(room)
        await stranger.close()


async def test_a_code_can_be_said_as_the_reason_of_an_invitation(synapse: Homeserver) -> None:
    async with rig(synapse) as here:
        stranger = await Person.new(synapse, "stranger")
        async with here.serving():
            room = await stranger.room()
            await stranger.invite(room, here.agent.user, reason="K7Q2-11")
            await here.desk.until(lambda desk: bool(desk.taken))
        await stranger.close()
    assert here.desk.texts == ["K7Q2-11"]


async def test_in_a_group_only_what_names_or_answers_the_agent_is_said_to_it(synapse: Homeserver) -> None:
    async with rig(synapse) as here:
        guest = await Person.new(synapse, "guest")
        room = await here.group(guest)
        ours = await here.agent.say(room, "I am here.")
        name = here.agent.user[1:].partition(":")[0]
        async with here.serving():
            await guest.say(room, "nice weather")
            await guest.say(room, f"Hey {name.upper()}, what do you think?")
            await guest.say(room, "you there", **{"m.mentions": {"user_ids": [here.agent.user]}})
            await guest.say(room, "> <@a:b> I am here.\n\nindeed", **{"m.relates_to": {"m.in_reply_to": {"event_id": ours}}})
            await guest.say(room, f"{name}x is somebody else")
            await here.desk.until(lambda desk: len(desk.taken) == 5)
        await guest.close()
    assert [message.is_direct for message in here.desk.messages] == [False, True, True, True, False]
    assert all(message.is_group for message in here.desk.messages)
    assert (here.desk.messages[3].answers, here.desk.texts[3]) == (ours, "indeed")


async def test_a_thread_is_a_place_of_its_own(synapse: Homeserver) -> None:
    async with rig(synapse) as here:
        room = await here.direct()
        async with here.serving():
            root = await here.owner.say(room, "root")
            relation = {"rel_type": "m.thread", "event_id": root, "is_falling_back": True, "m.in_reply_to": {"event_id": root}}
            await here.owner.say(room, "in the thread", **{"m.relates_to": relation})
            await here.desk.until(lambda desk: len(desk.taken) == 2)
    assert [message.place for message in here.desk.messages] == [room, f"{room}/{root}"]
    assert here.desk.messages[1].answers == ""


async def test_a_new_wording_names_the_message_that_it_replaces_and_nobody_edits_for_others(synapse: Homeserver) -> None:
    async with rig(synapse) as here:
        guest = await Person.new(synapse, "guest")
        room = await here.group(guest)
        async with here.serving():
            first = await here.owner.say(room, "Buy milk.")
            await guest.edit(room, first, "Sell the house.")
            await here.owner.edit(room, first, "Buy bread.")
            await here.desk.until(lambda desk: len(desk.taken) == 2)
        await guest.close()
    assert here.desk.texts == ["Buy milk.", "Buy bread."]
    assert here.desk.messages[1].replaces == first


async def test_whoever_redacts_their_own_message_takes_it_back(synapse: Homeserver) -> None:
    async with rig(synapse) as here:
        room = await here.direct()
        async with here.serving():
            first = await here.owner.say(room, "Forget this.")
            await here.desk.until(lambda desk: len(desk.taken) == 1)
            await here.owner.redact(room, first)
            await here.desk.until(lambda desk: len(desk.taken) == 2)
    taken_back = here.desk.messages[1]
    assert (taken_back.parts, taken_back.replaces) == ((), first)


async def test_a_reaction_counts_on_what_the_agent_said(synapse: Homeserver) -> None:
    async with rig(synapse) as here:
        room = await here.direct()
        async with here.serving():
            own = await here.owner.say(room, "mine")
            ours = await here.agent.say(room, "May I?")
            await here.owner.react(room, own, "👎")
            await here.owner.react(room, ours, "👍")
            await here.desk.until(lambda desk: len(desk.taken) == 2)
    (reaction,) = [arrival for arrival in here.desk.taken if isinstance(arrival, Reacted)]
    assert (reaction.sign, reaction.ref, reaction.sender, reaction.place) == ("👍", ours, here.owner.user, room)


async def test_pictures_voice_notes_and_files_are_kept(synapse: Homeserver) -> None:
    async with rig(synapse) as here:
        room = await here.direct()
        async with here.serving():
            for kind, media_type in (("m.image", "image/png"), ("m.audio", "audio/ogg"), ("m.file", "text/plain")):
                uri = await here.owner.upload(f"bytes of {kind}".encode(), media_type)
                info = {"mimetype": media_type, "size": 16, "duration": 2_500}
                await here.owner.put(
                    room, "m.room.message", {"msgtype": kind, "body": "see here", "filename": "a.bin", "url": uri, "info": info}
                )
            await here.desk.until(lambda desk: len(desk.taken) == 3)
    assert here.desk.texts == ["see here"] * 3
    image, audio, file = (message.parts[1] for message in here.desk.messages)
    assert isinstance(image, Image)
    assert isinstance(audio, Audio)
    assert isinstance(file, File)
    assert here.blobs.kept[image.blob] == b"bytes of m.image"
    assert (audio.media_type, audio.duration_s) == ("audio/ogg", 2.5)
    assert (file.name, file.size) == ("a.bin", 15)


@pytest.mark.parametrize("told", [0, 200_000])
async def test_a_file_that_is_too_large_is_named_in_words(synapse: Homeserver, told: int) -> None:
    async with rig(synapse) as here:
        room = await here.direct()
        async with here.serving():
            uri = await here.owner.upload(bytes(200_000), "application/zip")
            content = {"msgtype": "m.file", "body": "big.zip", "url": uri, "info": {"size": told}}
            await here.owner.put(room, "m.room.message", content)
            await here.desk.until(lambda desk: bool(desk.taken))
    assert "big.zip" in here.desk.texts[0]
    assert "larger than" in here.desk.texts[0]
    assert not here.blobs.kept


async def test_a_file_that_the_homeserver_cannot_hand_out_does_not_hold_up_the_rest(synapse: Homeserver) -> None:
    async with rig(synapse) as here:
        room = await here.direct()
        async with here.serving():
            pass
        uri = await here.owner.upload(b"some", "text/plain")
        await here.owner.put(room, "m.room.message", {"msgtype": "m.file", "body": "a.txt", "url": uri})
        await here.owner.say(room, "and then?")
        here.proxy.break_next("/media/download/", BROKEN, times=3)
        for _ in range(2):
            await here.fallen()
        async with here.serving():
            await here.desk.until(lambda desk: len(desk.taken) == 2)
    assert "a.txt" in here.desk.texts[0]
    assert here.desk.texts[1] == "and then?"


async def test_a_strangers_file_is_not_fetched(synapse: Homeserver) -> None:
    async with rig(synapse) as here:
        stranger = await Person.new(synapse, "stranger")
        room = await here.group(stranger)
        async with here.serving():
            uri = await stranger.upload(b"some", "text/plain")
            await stranger.put(room, "m.room.message", {"msgtype": "m.file", "body": "a.txt", "url": uri})
            await here.desk.until(lambda desk: bool(desk.taken))
        await stranger.close()
    assert here.desk.messages[0].parts == ()
    assert not [line for line in here.proxy.asked if "/media/download/" in line]


async def test_own_words_and_notices_of_other_programs_are_not_heard(synapse: Homeserver) -> None:
    async with rig(synapse) as here:
        room = await here.direct()
        async with here.serving():
            await here.agent.say(room, "I said this.")
            await here.owner.say(room, "I am a program.", msgtype="m.notice")
            await here.owner.say(room, "I am not.")
            await here.desk.until(lambda desk: bool(desk.taken))
    assert here.desk.texts == ["I am not."]


async def test_what_stands_beside_the_agents_own_words_in_one_batch_is_heard(synapse: Homeserver) -> None:
    async with rig(synapse) as here:
        room = await here.direct()
        async with here.serving():
            pass
        await here.owner.say(room, "before")
        await here.agent.say(room, "I said this.")
        await here.owner.say(room, "after")
        async with here.serving():
            await here.owner.say(room, "now")
            await here.desk.until(lambda desk: "now" in desk.texts)
    assert here.desk.texts == ["before", "after", "now"]


async def test_events_that_make_no_sense_are_passed_over(synapse: Homeserver) -> None:
    strange: list[dict[str, object]] = [
        {"msgtype": "m.text", "body": "", "m.relates_to": "no"},
        {"msgtype": "m.nonsense", "body": "what?"},
    ]
    async with rig(synapse) as here:
        room = await here.direct()
        async with here.serving():
            for content in strange:
                await here.owner.put(room, "m.room.message", content)
            first = await here.owner.say(
                room, "strange", **{"m.mentions": {"user_ids": "x"}, "m.relates_to": {"rel_type": 7, "event_id": []}}
            )
            relation = {"rel_type": "m.replace", "event_id": first}
            await here.owner.say(room, "* x", **{"m.new_content": 3, "m.relates_to": relation})
            await here.owner.put(room, "m.reaction", {"m.relates_to": 4})
            await here.owner.put(room, "m.room.message", {"msgtype": "m.file", "body": "x", "url": "https://example.com/x"})
            await here.owner.say(room, "sense")
            await here.desk.until(lambda desk: "sense" in desk.texts)
    assert [here.desk.texts[0], here.desk.texts[2]] == ["strange", "sense"]
    assert "no address of a file" in here.desk.texts[1]


async def test_a_known_person_is_told_once_that_encrypted_words_cannot_be_read(synapse: Homeserver) -> None:
    secret = {"algorithm": "m.megolm.v1.aes-sha2", "ciphertext": "AwgA", "session_id": "s", "device_id": "d", "sender_key": "k"}
    async with rig(synapse) as here:
        stranger = await Person.new(synapse, "stranger")
        room = await here.group(stranger)
        async with here.serving():
            await stranger.put(room, "m.room.encrypted", secret)
            await stranger.say(room, "heard")
            await here.desk.until(lambda desk: desk.texts == ["heard"])
            assert not await here.owner.shown(room, by=here.agent.user)
            for _ in range(2):
                await here.owner.put(room, "m.room.encrypted", secret)
            await here.owner.say(room, "plain")
            await here.desk.until(lambda desk: "plain" in desk.texts)
        assert [message.body for message in await here.owner.shown(room, by=here.agent.user)] == [UNREADABLE]
        await stranger.close()


async def test_a_revoked_token_is_told_as_such(synapse: Homeserver) -> None:
    async with rig(synapse) as here:
        async with here.serving():
            pass
        here.proxy.break_next("/sync", REVOKED)
        assert isinstance(await here.fallen(), LockedOut)
        await here.agent.ask("POST", "/logout", {})
        error = await here.fallen()
        assert isinstance(error, LockedOut)
        assert here.agent.token not in str(error)


async def test_a_token_of_another_account_is_refused(synapse: Homeserver) -> None:
    async with rig(synapse) as here:
        here.channel = MatrixChannel(Account(here.proxy.url, here.agent.user), lambda: here.owner.token, here.clock, here.blobs)
        error = await here.fallen()
        assert isinstance(error, LockedOut)
        assert here.owner.user in str(error)
        await here.channel.close()


async def test_a_pause_that_the_homeserver_wants_is_told_and_nothing_is_lost_by_faults(synapse: Homeserver) -> None:
    async with rig(synapse) as here:
        room = await here.direct()
        async with here.serving():
            pass
        for n in range(3):
            await here.owner.say(room, f"{n}")
        here.proxy.break_next("/sync", LIMITED)
        here.proxy.break_next("/sync", BROKEN)
        here.proxy.break_next("/sync", Cut(after=True))
        first = await here.fallen()
        assert isinstance(first, RetryLater)
        assert first.after_s == 1.5
        for _ in range(2):
            await here.fallen()
        async with here.serving():
            await here.desk.until(lambda desk: len(desk.taken) == 3)
    assert here.desk.texts == ["0", "1", "2"]


def test_it_runs_on_the_loop_of_the_gateway(synapse: Homeserver) -> None:
    async def hear() -> Rig:
        async with rig(synapse) as here:
            room = await here.direct()
            async with here.serving():
                await here.owner.say(room, "over uvloop")
                await here.desk.until(lambda desk: bool(desk.taken))
        return here

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        here = runner.run(hear())
    (message,) = here.desk.taken
    assert isinstance(message, Message)


@pytest.mark.parametrize(
    "raw",
    [
        {},
        {"type": "m.room.message", "sender": 7},
        {"type": "m.room.message", "sender": "@a:b", "origin_server_ts": -1},
        {"type": "m.room.message", "sender": "@a:b", "origin_server_ts": 10**30},
        {"type": "m.room.message", "sender": "@a:b", "content": []},
    ],
)
def test_what_is_no_event_is_left_out(raw: Json) -> None:
    fine: Json = {"type": "m.room.message", "sender": "@a:b", "content": {"body": {"a": 1}, "m.relates_to": 3, "m.mentions": "x"}}
    (event,) = events([raw, fine])
    assert (event.related, event.thread, event.answers) == ("", "", "")
