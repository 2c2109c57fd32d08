"""What the agent says reaches people on a real homeserver: once, in order, whole, and it is known what became of it."""

import json
import random

import httpx2
import pytest
from tests.gateway.channels.matrix_rig import Blobs, Rig, outgoing, rig, words

from daimon.abi.channel import Piece, Receipt
from daimon.abi.errors import DaimonError, LockedOut, NotSent, RetryLater
from daimon.abi.event import Asks
from daimon.abi.ids import StepRef, TurnId
from daimon.abi.message import Audio, File, Image, Text
from daimon.gateway.channels.matrix import Account, MatrixChannel, login
from daimon.gateway.codes import code_of
from daimon.testing.clock import ManualClock
from daimon.testing.matrix.homeserver import Homeserver
from daimon.testing.matrix.person import Person
from daimon.testing.matrix.proxy import BROKEN, LIMITED, REVOKED, Answer, Cut, Fault

EVENT_BYTES = 65_536


def idle_channel() -> MatrixChannel:
    return MatrixChannel(Account("http://127.0.0.1:9", "@agent:localhost"), lambda: "none", ManualClock(), Blobs())


async def persist(here: Rig, piece: Piece, room: str, key: str) -> Receipt:
    """As whoever sends does: again with the same key, a few times."""
    for _ in range(6):
        try:
            return await here.channel.send(piece, room, key)
        except (DaimonError, httpx2.HTTPError):
            continue
    raise AssertionError("it never went out")


async def test_a_message_is_shown_with_its_markup_and_bare_to_those_who_have_none(synapse: Homeserver) -> None:
    async with rig(synapse) as here:
        room = await here.direct()
        (piece,) = here.channel.pieces(outgoing(Text("It is **done**: <b>`a < b`</b>"), to=room))
        receipt = await here.channel.send(piece, room, "turn_1:1/0")
        (shown,) = await here.owner.shown(room, by=here.agent.user)
    assert receipt == Receipt("confirmed", shown.event)
    assert "<strong>done</strong>" in shown.content["formatted_body"]
    assert "<b>" not in shown.content["formatted_body"]
    assert "**" not in shown.body


async def test_the_same_key_again_is_the_same_message(synapse: Homeserver) -> None:
    async with rig(synapse) as here:
        room = await here.direct()
        first = await here.channel.send(Piece("once"), room, "turn_1:1/0")
        again = await here.channel.send(Piece("once"), room, "turn_1:1/0")
        await here.channel.send(Piece("once"), room, "turn_1:1/1")
        shown = await here.owner.shown(room, by=here.agent.user)
    assert first == again
    assert [message.body for message in shown] == ["once", "once"]


@pytest.mark.parametrize("fault", [Cut(), Cut(after=True), BROKEN, Answer(502, "M_UNKNOWN", after=True)], ids=str)
async def test_a_send_that_broke_is_repeated_without_harm(synapse: Homeserver, fault: Fault) -> None:
    async with rig(synapse) as here:
        room = await here.direct()
        here.proxy.break_next("/send/", fault)
        with pytest.raises(httpx2.HTTPError):
            await here.channel.send(Piece("hello"), room, "turn_1:1/0")
        receipt = await here.channel.send(Piece("hello"), room, "turn_1:1/0")
        shown = await here.owner.shown(room, by=here.agent.user)
    assert [message.event for message in shown] == [receipt.ref]


async def test_many_messages_arrive_once_and_in_order_whatever_breaks(synapse: Homeserver) -> None:
    chance = random.Random(7)
    faults = [Cut(), Cut(after=True), BROKEN, Answer(500, "M_UNKNOWN", after=True), LIMITED]
    async with rig(synapse) as here:
        room = await here.direct()
        for n in range(15):
            here.proxy.break_next("/send/", chance.choice(faults), times=chance.randrange(3))
            await persist(here, Piece(f"{n}"), room, f"turn_1:{n}/0")
        shown = await here.owner.shown(room, by=here.agent.user)
    assert [message.body for message in shown] == [f"{n}" for n in range(15)]


async def test_the_pause_that_the_homeserver_wants_is_told_exactly(synapse: Homeserver) -> None:
    async with rig(synapse) as here:
        room = await here.direct()
        here.proxy.break_next("/send/", LIMITED)
        with pytest.raises(RetryLater) as told:
            await here.channel.send(Piece("hello"), room, "turn_1:1/0")
        assert told.value.after_s == 1.5
        assert not await here.owner.shown(room, by=here.agent.user)


async def test_a_revoked_token_locks_out_and_a_new_one_counts_at_once(synapse: Homeserver) -> None:
    async with rig(synapse) as here:
        room = await here.direct()
        here.proxy.break_next("/send/", REVOKED)
        with pytest.raises(LockedOut) as told:
            await here.channel.send(Piece("hello"), room, "turn_1:1/0")
        assert here.agent.token not in str(told.value)
        old = here.agent.token
        here.agent.token = await login(synapse.url, here.agent.user, "open sesame")
        await here.agent.ask("POST", "/logout", {})
        assert here.agent.token != old
        await here.channel.send(Piece("hello"), room, "turn_1:1/0")
        assert len(await here.owner.shown(room, by=here.agent.user)) == 1


async def test_a_room_that_the_agent_is_not_in_is_refused_for_certain(synapse: Homeserver) -> None:
    async with rig(synapse) as here:
        room = await here.owner.room()
        with pytest.raises(NotSent, match="M_FORBIDDEN"):
            await here.channel.send(Piece("hello"), room, "turn_1:1/0")


async def test_no_connection_means_that_nothing_went_out() -> None:
    channel = idle_channel()
    with pytest.raises(NotSent, match="no connection"):
        await channel.send(Piece("hello"), "!room:localhost", "turn_1:1/0")
    await channel.close()


async def test_an_answer_to_a_thread_stands_in_it(synapse: Homeserver) -> None:
    async with rig(synapse) as here:
        room = await here.direct()
        root = await here.owner.say(room, "root")
        await here.channel.send(Piece("in there"), f"{room}/{root}", "turn_1:1/0")
        (shown,) = await here.owner.shown(room, by=here.agent.user)
    assert shown.content["m.relates_to"]["rel_type"] == "m.thread"
    assert shown.content["m.relates_to"]["event_id"] == root


async def test_pictures_voice_notes_and_files_go_out(synapse: Homeserver) -> None:
    async with rig(synapse) as here:
        room = await here.direct()
        blob = await here.blobs.put(b"some bytes")
        parts = (Image(blob, "image/png"), Audio(blob, "audio/ogg", 2.5), File(blob, "b.txt", "text/plain", 10))
        for n, piece in enumerate(here.channel.pieces(outgoing(*parts, to=room))):
            await here.channel.send(piece, room, f"turn_1:1/{n}")
        shown = await here.owner.shown(room, by=here.agent.user)
        assert [await here.owner.download(message.content["url"]) for message in shown] == [b"some bytes"] * 3
    assert [message.content["msgtype"] for message in shown] == ["m.image", "m.audio", "m.file"]
    assert [message.body for message in shown] == ["image.png", "voice.ogg", "b.txt"]
    assert shown[1].content["info"]["duration"] == 2_500


@pytest.mark.parametrize("letter", ["a", "&", "😀"])
async def test_a_long_answer_fits_into_events_and_loses_nothing(synapse: Homeserver, letter: str) -> None:
    line = letter * 99
    text = "\n\n".join([line] * 160)
    async with rig(synapse) as here:
        room = await here.direct()
        pieces = here.channel.pieces(outgoing(Text(text), to=room))
        for n, piece in enumerate(pieces):
            await here.channel.send(piece, room, f"turn_1:1/{n}")
        shown = await here.owner.shown(room, by=here.agent.user)
    assert len(shown) == len(pieces) > 1
    assert all(len(json.dumps(message.content, ensure_ascii=False).encode()) < EVENT_BYTES for message in shown)
    assert sum(message.body.count(letter) for message in shown) == text.count(letter)


def test_a_block_of_code_is_closed_and_opened_again_where_it_is_cut() -> None:
    message = outgoing(Text("```python\n" + "print('a long line of code')\n" * 2_000 + "```"))
    pieces = idle_channel().pieces(message)
    assert pieces == idle_channel().pieces(message)
    assert len(pieces) > 1
    assert all(piece.text.startswith("```python") and piece.text.rstrip().endswith("```") for piece in pieces)


def test_a_question_is_asked_with_a_code_for_each_answer() -> None:
    step = StepRef(TurnId("turn_1"), 4)
    *_, question = idle_channel().pieces(outgoing(Text("May I?"), asks=Asks(step, ("allow", "deny"))))
    assert f"`{code_of(step)} 1` for allow" in question.text
    assert f"`{code_of(step)} 2` for deny" in question.text
    assert not question.choices


async def test_a_reaction_names_the_receipt_of_the_question(synapse: Homeserver) -> None:
    async with rig(synapse) as here:
        room = await here.direct()
        receipt = await here.channel.send(Piece("May I?"), room, "turn_1:1/0")
        async with here.serving():
            await here.owner.react(room, receipt.ref, "👍")
            await here.desk.until(lambda desk: bool(desk.taken))
    assert here.desk.taken[0].ref == receipt.ref


async def test_people_see_that_the_agent_is_at_work_and_that_it_stopped(synapse: Homeserver) -> None:
    async with rig(synapse) as here:
        room = await here.direct()
        since, _ = await here.owner.typing()
        for doing, seen in (("thinking", [here.agent.user]), ("nothing", [])):
            await here.channel.show(room, "thinking" if doing == "thinking" else "nothing")
            typing: dict[str, list[str]] = {}
            while room not in typing:
                since, typing = await here.owner.typing(since, timeout_ms=5_000)
            assert typing[room] == seen


async def test_that_nobody_sees_it_is_no_error(synapse: Homeserver) -> None:
    async with rig(synapse) as here:
        here.proxy.break_next("/typing/", REVOKED)
        await here.channel.show("!none:localhost", "thinking")
        await here.channel.show("!none:localhost", "thinking")
    channel = idle_channel()
    await channel.show("!none:localhost", "thinking")
    await channel.close()


async def test_a_login_gives_a_token_and_a_wrong_password_is_told(synapse: Homeserver) -> None:
    somebody = await Person.new(synapse, "somebody", password="right")
    token = await login(synapse.url, somebody.user, "right")
    again = Person(synapse.url, somebody.user, token)
    assert (await again.ask("GET", "/account/whoami"))["user_id"] == somebody.user
    with pytest.raises(LockedOut) as told:
        await login(synapse.url, somebody.user, "very wrong")
    assert "very wrong" not in str(told.value)
    await again.close()
    await somebody.close()


async def test_a_person_and_the_agent_talk(synapse: Homeserver) -> None:
    async with rig(synapse) as here:
        async with here.serving():
            room = await here.owner.room(here.agent.user, is_direct=True)
            await here.owner.say(room, "Are you there?")
            await here.desk.until(lambda desk: bool(desk.messages))
            (heard,) = here.desk.messages
            await here.channel.send(Piece(f"You said: {words(heard)}"), heard.place, "turn_1:1/0")
            await here.owner.say(room, "Good.")
            await here.desk.until(lambda desk: len(desk.messages) == 2)
        (answer,) = await here.owner.shown(room, by=here.agent.user)
    assert answer.body == "You said: Are you there?"


async def test_nothing_is_said_in_the_clear_where_people_encrypt(synapse: Homeserver) -> None:
    async with rig(synapse) as here:
        room = await here.direct()
        await here.channel.send(Piece("before"), room, "turn_1:1/0")
        algorithm = {"algorithm": "m.megolm.v1.aes-sha2"}
        await here.owner.ask("PUT", f"/rooms/{room}/state/m.room.encryption/", algorithm)
        with pytest.raises(NotSent, match="encrypted") as refused:
            await here.channel.send(Piece("after"), room, "turn_1:2/0")
        shown = await here.owner.shown(room, by=here.agent.user)
    assert refused.value.is_lasting
    assert [message.body for message in shown] == ["before"]
