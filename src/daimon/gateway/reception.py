"""The reception: who is it, may they come in, and what becomes of what they bring.

    stranger   a pairing code in a chat of two makes them known; anything else is a knock: listed, and nothing more. No event, no answer,
               nothing of it reaches a model, and nothing they sent is kept
    known      `/status`, `/stop` and `/help`, an answer to a question, or words for the agent: an Event, on disk when `take` returns
    in groups  only what is said to the agent counts; codes do not
    too much   of a guest or a group that has MOST_UNFINISHED messages under way nothing more is taken; it is told once an hour

Whose words they are stands in the label. The owner's are the owner's. Anybody else's are a stranger's, whatever their rank, readable for
them and the owner: rank says what a turn for them may do, it never makes their words an order. A group is a principal of its own, and what
is said there is readable for all of it.

One reception serves one channel: a sender's id means something only there. It does not know what the channel is, nor what a turn does.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta

from daimon.abi.channel import Arrival, Message, Pressed, Reacted, Shelf
from daimon.abi.cleaning import cleaned
from daimon.abi.errors import BadInput, NotFound, TooLarge
from daimon.abi.event import Address, Answer, Body, Event, Said, Stop
from daimon.abi.ids import HOME_SPACE, OWNER, BlobHash, Conversation, EventId, Key, PrincipalId, StepRef
from daimon.abi.label import Author, Label, Origin, owned
from daimon.abi.message import Content, Text
from daimon.abi.people import Directory, Knock, Person, Rank, group
from daimon.abi.plain import clean
from daimon.abi.ports import Archive, Clock, Ids, Store
from daimon.abi.turn import State
from daimon.gateway import codes, pairing, underway
from daimon.gateway.deciding import Deciding
from daimon.gateway.inbox import Inbox
from daimon.kernel.questions import OpenQuestion

MOST_BYTES = 20 * 1024 * 1024
MOST_TEXT = 100_000
"""Characters of one text; what is longer is cut, and says so."""
MOST_UNFINISHED = 50
"""Messages of one guest or group that wait or are being worked on. Money bounds what they cost, not how many there are."""
TOLD_AGAIN = timedelta(hours=1)
FULL = "I have {most} messages from here that are not done yet, so I did not take this one. Please send it again later."
WELCOME = "Paired: I know you here as {name}."
HELP = (
    "Say what you need. /status says how far I am, /stop ends what I am doing here (!status and !stop where a slash does not get through). "
    "When I ask something, the message has buttons or says with which code to answer; where only one question is open, plain words do too."
)
REWORDED = "(the new wording of an earlier message of mine:)"
SETTLED, NOT_YOURS, TAKEN = "This is settled already.", "Only who was asked may answer this.", "Taken: {choice}."


@dataclass(frozen=True, slots=True)
class Hall:
    """What every reception stands on."""

    inbox: Inbox
    directory: Directory
    archive: Archive
    store: Store
    shelf: Shelf
    clock: Clock
    ids: Ids
    poke: Callable[[], None] = lambda: None
    """There is something new to be delivered."""
    most_bytes: int = MOST_BYTES

    def reception(self, channel: str) -> "ChannelReception":
        return ChannelReception(channel, self)


class ChannelReception:
    """Implements `abi.channel.Reception`."""

    def __init__(self, channel: str, hall: Hall) -> None:
        self._channel = channel
        self._hall = hall
        self._deciding = Deciding(hall.archive, hall.shelf, hall.directory)

    @property
    def most_bytes(self) -> int:
        return self._hall.most_bytes

    async def is_known(self, sender: str) -> bool:
        return await self._hall.directory.who(self._channel, sender) is not None

    async def keep(self, data: bytes) -> BlobHash:
        if len(data) > self.most_bytes:
            raise TooLarge(f"an attachment has {len(data):,} bytes, at most {self.most_bytes:,} are kept")
        return await self._hall.store.put(data)

    async def recall(self, channel: str, name: str) -> str:
        return await self._hall.shelf.recalled(channel, name)

    async def remember(self, channel: str, name: str, value: str) -> None:
        await self._hall.shelf.remembered(channel, name, value)

    async def take(self, arrival: Arrival) -> str:
        if isinstance(arrival, Message) and arrival.is_group and not arrival.is_direct:
            return ""
        person = await self._hall.directory.who(self._channel, arrival.sender)
        if person is None:
            await self._meet(arrival)
            return ""
        match arrival:
            case Message():
                return await self._hear(person, arrival)
            case Pressed(code=code):
                found = codes.parse(code)
                decided = None if found is None else await self._deciding.by_code(*found)
                return SETTLED if decided is None else await self._decide(person, arrival, *decided)
            case Reacted(sign=sign, ref=ref):
                decided = await self._deciding.by_sign(sign, Address(self._channel, arrival.place), ref)
                return "" if decided is None else await self._decide(person, arrival, *decided)

    # -- strangers

    async def _meet(self, arrival: Arrival) -> None:
        knock = Knock(self._channel, arrival.sender, arrival.name, arrival.place, 1, arrival.at, arrival.at)
        code = pairing.pairing(_text(arrival.parts)) if isinstance(arrival, Message) and not arrival.is_group else ""
        person = await self._hall.directory.pair(code, knock) if code else None
        if person is None:
            await self._hall.directory.knocked(knock)
        else:
            await self._say(arrival, "paired", WELCOME.format(name=person.name))

    async def _say(self, arrival: Arrival, what: str, text: str) -> str:
        """In the house's own words, by the outbox, so that it goes out even if this process ends now."""
        key, where = Key(f"{what}/{self._channel}/{arrival.key}"), Address(self._channel, arrival.place)
        await self._hall.shelf.notify(key, Conversation(HOME_SPACE, self._conversation(arrival.place)), where, text)
        self._hall.poke()
        return ""

    # -- whom we know

    async def _hear(self, person: Person, message: Message) -> str:
        place = "" if message.is_group else message.place
        await self._hall.directory.seen(self._channel, message.sender, message.name, place, message.at)
        text = _text(message.parts).strip()
        match _command(text):
            case "/stop":
                return await self._stop(person, message)
            case "/status":
                return await self._tell(person, message)
            case "/help" | "/start":
                return await self._say(message, "help", HELP)
            case _:
                return await self._heard(person, message, text)

    async def _heard(self, person: Person, message: Message, text: str) -> str:
        if pairing.pairing(text) and not message.is_group:  # sent again, since nobody acknowledged it
            return await self._say(message, "paired", WELCOME.format(name=person.name))
        decided = await self._decision(message, text)
        if decided is not None and await self._deciding.may_answer(person.id, decided[0]):
            return await self._decide(person, message, *decided)
        if person.rank is not Rank.OWNER and await self._hall.shelf.unfinished(HOME_SPACE, self._whom(person, message)) >= MOST_UNFINISHED:
            return await self._decline(message)
        await self._accept(person, message, self._said(person, message))
        return ""

    async def _decline(self, message: Message) -> str:
        name, now = f"reception/full/{message.place}", self._hall.clock.now()
        told = await self._hall.shelf.recalled(self._channel, name)
        if told and now - datetime.fromisoformat(told) < TOLD_AGAIN:
            return ""
        await self._hall.shelf.remembered(self._channel, name, now.isoformat())
        return await self._say(message, "full", FULL.format(most=MOST_UNFINISHED))

    async def _decision(self, message: Message, text: str) -> tuple[OpenQuestion, str] | None:
        if message.replaces or message.has_others_words or not text:
            return None
        if (found := codes.parse(text)) is not None and (decided := await self._deciding.by_code(*found)) is not None:
            return decided
        return await self._deciding.by_words(text, Address(self._channel, message.place), message.answers)

    async def _decide(self, person: Person, arrival: Arrival, asked: OpenQuestion, choice: str) -> str:
        if not await self._deciding.may_answer(person.id, asked):
            return NOT_YOURS
        with suppress(NotFound, BadInput):  # its turn is gone: it is settled
            await self._accept(person, arrival, Answer(choice), asked.to)
            return TAKEN.format(choice=choice)
        return SETTLED

    async def _stop(self, person: Person, message: Message) -> str:
        for state in (State.RUNNING, State.PARKED):
            for turn in await self._hall.archive.turns(HOME_SPACE, 1, self._conversation(message.place), state):
                await self._accept(person, message, Stop(turn.id, f"{person.id} said so"))
                return ""
        return await self._say(message, "stop", underway.NOT_RUNNING)

    async def _tell(self, person: Person, message: Message) -> str:
        is_for_owner = person.rank is Rank.OWNER and not message.is_group
        told = await underway.told(self._hall.archive, self._conversation(message.place), self._hall.clock.now(), is_for_owner)
        return await self._say(message, "status", told)

    # -- events

    async def _accept(self, person: Person, arrival: Arrival, body: Body, resolves: StepRef | None = None) -> None:
        whom = person.id if resolves is not None else self._whom(person, arrival)
        has_others = isinstance(arrival, Message) and arrival.has_others_words and isinstance(body, Said)
        await self._hall.inbox.accept(
            Event(
                id=EventId(self._hall.ids.new("e")), source=self._channel, key=Key(arrival.key),
                conversation=self._conversation(arrival.place), principal=whom, body=body, occurred_at=_sane(arrival.at, self._hall.clock),
                received_at=self._hall.clock.now(), label=self._label(person, whom, has_others), resolves=resolves,
                reply_to=Address(self._channel, arrival.place),
            )
        )  # fmt: skip

    def _said(self, person: Person, message: Message) -> Said:
        parts = tuple(map(_bounded, cleaned(message.parts, clean)))
        parts = (Text(REWORDED), *parts) if message.replaces else parts
        return Said(parts, person.name if message.is_group else "")

    def _whom(self, person: Person, arrival: Arrival) -> PrincipalId:
        """Whom a turn serves. (A decision is a person's own, wherever they make it.)"""
        return group(self._channel, arrival.place) if isinstance(arrival, Message) and arrival.is_group else person.id

    def _label(self, person: Person, whom: PrincipalId, has_others_words: bool) -> Label:
        if person.rank is not Rank.OWNER:
            return Label.of(Origin(Author.STRANGER, f"{self._channel}:{person.id}"), readers=(OWNER, whom))
        if has_others_words:
            others = Origin(Author.STRANGER, f"{self._channel}:forwarded")
            return Label.of(Origin(Author.OWNER, self._channel), others, readers=(OWNER, whom))
        return owned(self._channel) if whom == OWNER else Label.of(Origin(Author.OWNER, self._channel), readers=(OWNER, whom))

    def _conversation(self, place: str) -> str:
        return f"{self._channel}/{place}"


def _text(parts: tuple[Content, ...]) -> str:
    """What was written, if nothing else was sent."""
    return "\n".join(part.text for part in parts if isinstance(part, Text)) if all(isinstance(part, Text) for part in parts) else ""


def _command(text: str) -> str:
    """`/stop`, also as Telegram writes it in groups. Programs for Slack and Matrix keep a slash for themselves, so `!stop` is the same."""
    word = text.split("@")[0].casefold()
    return f"/{word[1:]}" if word.startswith("!") else word


def _bounded(part: Content) -> Content:
    if not isinstance(part, Text) or len(part.text) <= MOST_TEXT:
        return part
    return Text(f"{part.text[:MOST_TEXT]}… (cut: it had {len(part.text):,} characters)")


def _sane(at: datetime, clock: Clock) -> datetime:
    """A channel's clock may be wrong; nothing happens after it was heard of."""
    return min(at, clock.now())
