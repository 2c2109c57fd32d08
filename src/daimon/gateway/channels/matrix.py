"""Matrix: a room is a place, `!room:server`, and so is a thread of it, `!room:server/$root`.

    channel = MatrixChannel(Account("https://matrix.org", "@agent:matrix.org"), token, clock, store)

A send carries a transaction id made of its key. The homeserver answers a second send with the same id and token by the event of the first
one, so that a repetition is harmless; how long it remembers is its own affair (synapse: a day at least, and across its restarts). A
piece's text is Markdown: the event shows it as HTML, and bare to clients that have none.

It does not know encryption. Rooms are read by `matrix_sync`, events by `matrix_intake`, and `matrix_line` speaks to the homeserver.
"""

import hashlib
import json
from collections.abc import Callable
from contextlib import suppress
from typing import Literal

import httpx2

from daimon.abi.channel import Piece, Receipt, Reception, Traits
from daimon.abi.errors import DaimonError, LockedOut, NotSent
from daimon.abi.event import Said
from daimon.abi.message import Text
from daimon.abi.ports import Clock, Outgoing, Store
from daimon.gateway.channels.matrix_line import Account, Line, login, segment
from daimon.gateway.channels.matrix_media import Media, content_of, named
from daimon.gateway.channels.matrix_rooms import Place
from daimon.gateway.channels.matrix_sync import Reader
from daimon.gateway.channels.matrix_wire import Json, text
from daimon.gateway.notation import html, plain
from daimon.gateway.notation.split import split
from daimon.gateway.pieces import answered_by_code_text

__all__ = ["Account", "MatrixChannel", "login"]

LONGEST_BYTES = 30_000
"""Of what one event says. An event may have 65,536 bytes, and servers add to it."""
TYPING_MS = 30_000


class MatrixChannel:
    def __init__(self, account: Account, token: Callable[[], str], clock: Clock, store: Store) -> None:
        self._account = account
        self._started_at = clock.now()
        self._store = store
        self._line = Line(account.homeserver, token)
        self._media = Media(self._line)
        self._encrypted: set[str] = set()

    @property
    def name(self) -> str:
        return self._account.name

    @property
    def traits(self) -> Traits:
        return Traits(repeat="harmless")

    async def close(self) -> None:
        await self._line.close()

    def pieces(self, message: Outgoing) -> tuple[Piece, ...]:
        if not isinstance(message.content, Said):
            return ()
        made: list[Piece] = []
        for part in message.content.parts:
            if isinstance(part, Text):
                made += [Piece(text) for text in split(part.text, LONGEST_BYTES, _as_it_is, _size)]
            else:
                made.append(Piece(attachment=part))
        if message.content.asks is not None:
            made.append(Piece(answered_by_code_text(message.content.asks)))
        return tuple(made)

    async def send(self, piece: Piece, to: str, key: str) -> Receipt:
        place = Place.of(to)
        await self._require_open(place.room)
        content = _words(piece.text) if piece.attachment is None else await self._attached(piece)
        if place.root:
            relation: Json = {"rel_type": "m.thread", "event_id": place.root, "is_falling_back": True}
            content["m.relates_to"] = {**relation, "m.in_reply_to": {"event_id": place.root}}
        path = f"/rooms/{segment(place.room)}/send/m.room.message/{_transaction(key)}"
        return Receipt("confirmed", text(await self._line.ask("PUT", path, content), "event_id"))

    async def _require_open(self, room: str) -> None:
        """Where people encrypt, nothing is said in the clear. What is encrypted once stays so."""
        if room not in self._encrypted and await self._line.look(f"/rooms/{segment(room)}/state/m.room.encryption/") is not None:
            self._encrypted.add(room)
        if room in self._encrypted:
            raise NotSent(f"the room {room} is encrypted, and nothing is sent there in the clear; use one without", is_lasting=True)

    async def _attached(self, piece: Piece) -> Json:
        assert piece.attachment is not None
        data = await self._store.get(piece.attachment.blob)
        uri = await self._line.upload(data, piece.attachment.media_type, named(piece.attachment))
        return content_of(piece.attachment, uri, len(data))

    async def find(self, piece: Piece, to: str, key: str) -> Receipt | None:
        return None  # never asked: a repetition is harmless

    async def show(self, to: str, doing: Literal["thinking", "nothing"]) -> None:
        path = f"/rooms/{segment(Place.of(to).room)}/typing/{segment(self._account.user)}"
        wish: Json = {"typing": True, "timeout": TYPING_MS} if doing == "thinking" else {"typing": False}
        with suppress(DaimonError, httpx2.HTTPError):
            await self._line.ask("PUT", path, wish)

    async def serve(self, reception: Reception) -> None:
        # Whoever takes the words of another account for a stranger's would answer itself.
        user = text(await self._line.ask("GET", "/account/whoami"), "user_id")
        if user != self._account.user:
            raise LockedOut(f"the access token is that of {user}, the settings name {self._account.user}: give both of the same account")
        await Reader(self._account, self._line, self._media, reception, self._started_at).read()


def _transaction(key: str) -> str:
    return f"daimon-{hashlib.sha256(key.encode()).hexdigest()[:40]}"


def _words(markdown: str) -> Json:
    return {
        "msgtype": "m.text",
        "body": plain.render(markdown) or markdown,
        "format": "org.matrix.custom.html",
        "formatted_body": html.render(markdown),
    }


def _as_it_is(markdown: str) -> str:
    return markdown


def _size(markdown: str) -> int:
    return len(json.dumps(_words(markdown), ensure_ascii=False).encode("utf-8", "replace"))
