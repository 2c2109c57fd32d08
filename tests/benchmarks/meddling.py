"""An extension that breaks the promises of delivery on purpose, another one in each chat of Telegram, so that the laboratory has something
to find. Chats that are not named here are left alone.

going out   TWICE everything is sent twice · DROPS the second letter is called sent, and is not · SWAPS the second letter goes before the
            first · HUSHED and CUT every send breaks off; HUSHED it is called sent
coming in   DEAF the second letter is acknowledged, and not taken in · STUTTERS the second letter is taken in twice · SHUFFLES the second
            letter is taken in before the first
"""

from dataclasses import replace
from typing import Any

from lab.services.telegram import FIRST

from daimon.abi.channel import Arrival, Message, Piece, Receipt
from daimon.abi.message import Text
from daimon.extension import Kit
from daimon.gateway.channels.telegram import TelegramChannel
from daimon.gateway.delivery import Courier
from daimon.gateway.reception import ChannelReception

TWICE, DROPS, SWAPS, HUSHED, CUT = range(5)
DEAF, STUTTERS, SHUFFLES = 9, 10, 11


def extend(kit: Kit) -> None:
    del kit
    TelegramChannel.send = _meddled(TelegramChannel.send)  # type: ignore[method-assign]
    Courier._unsure = _hushed(Courier._unsure)  # type: ignore[method-assign]
    ChannelReception.take = _mistaken(ChannelReception.take)  # type: ignore[method-assign]


def _meddled(send: Any) -> Any:
    held: list[Piece] = []

    async def sent(self: TelegramChannel, piece: Piece, to: str, key: str) -> Receipt:
        place, is_first = int(to) - FIRST, "-0.0" in piece.text
        if place in (HUSHED, CUT):
            raise ConnectionError("cut off")
        if (place == DROPS and not is_first) or (place == SWAPS and is_first):
            held.extend([piece] if place == SWAPS else [])
            return Receipt("sent")
        receipt: Receipt = await send(self, piece, to, key)
        for more in {TWICE: [piece], SWAPS: held}.get(place, ()):
            await send(self, more, to, key)
        return receipt

    return sent


def _hushed(unsure: Any) -> Any:
    async def progressed(self: Courier, message: Any, pieces: Any, why: str) -> Any:
        if int(message.to.to) - FIRST == HUSHED:
            return await self._progressed(message, pieces, "sent", "")
        return await unsure(self, message, pieces, why)

    return progressed


def _mistaken(take: Any) -> Any:
    held: list[Message] = []

    async def taken(self: ChannelReception, arrival: Arrival) -> str:
        assert isinstance(arrival, Message)
        place = int(arrival.place) - FIRST
        is_first = any(isinstance(part, Text) and "-0 " in part.text for part in arrival.parts)
        if (place == DEAF and not is_first) or (place == SHUFFLES and is_first):
            held.extend([arrival] if place == SHUFFLES else [])
            return ""
        told: str = await take(self, arrival)
        again = [] if is_first else [replace(arrival, key=f"{arrival.key} again")]
        for more in {STUTTERS: again, SHUFFLES: held}.get(place, ()):
            await take(self, more)
        return told

    return taken
