"""How updates reach the bot: it fetches them, or they are posted to it.

Both at once Telegram does not do: who fetches while a webhook is set gets a conflict, and so does who fetches while another one begins to.
A post that is not answered with 200 is repeated, the same update first, so that order holds.
"""

import asyncio
from collections.abc import Callable

import httpx2
from pydantic import JsonValue

from daimon.testing.telegram.arguments import Arguments
from daimon.testing.telegram.methods import Refusal
from daimon.testing.telegram.queue import Queue

_MOST = 100
_AGAIN_S = 0.02
_ONE_ONLY = "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running"


class Delivery:
    def __init__(self, queue: Queue, is_open: Callable[[], bool]) -> None:
        self._queue = queue
        self._is_open = is_open
        self.webhook = ""
        self.secret = ""
        self._newest = 0
        self._replaced = asyncio.Event()

    async def get(self, args: Arguments) -> JsonValue:
        if self.webhook:
            raise Refusal(
                409, "Conflict: can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first"
            )
        self._want(args)
        self._newest += 1
        number = self._newest
        self.interrupt()
        self._queue.acknowledge(args.number("offset"))  # now, not when something comes: that may have a lower number
        try:
            async with asyncio.timeout(args.number("timeout")):
                while not (found := self._queue.get(args.number("limit") or _MOST)):
                    await self._change()
                    self._check(number)
        except TimeoutError:
            return []
        return found

    def set(self, args: Arguments) -> JsonValue:
        url, secret = args.text("url"), args.text("secret_token")
        if not url.startswith(("https://", "http://127.0.0.1:")):
            raise Refusal(400, "Bad Request: bad webhook: An HTTPS URL must be provided for webhook")
        self._want(args)
        self.webhook, self.secret = url, secret
        return self._dropped(args)

    def delete(self, args: Arguments) -> JsonValue:
        self.webhook = self.secret = ""
        return self._dropped(args)

    def interrupt(self) -> None:
        """Whoever fetches looks again at once."""
        self._replaced.set()
        self._replaced = asyncio.Event()

    async def post(self) -> None:
        """Until cancelled: one after another."""
        async with httpx2.AsyncClient(trust_env=False, timeout=10) as client:
            while True:
                update = self._queue.first() if self.webhook else None
                if update is None:
                    await asyncio.sleep(_AGAIN_S)
                elif await self._accepted(client, update):
                    self._queue.done(update)
                else:
                    await asyncio.sleep(_AGAIN_S)

    async def _accepted(self, client: httpx2.AsyncClient, update: dict[str, JsonValue]) -> bool:
        headers = {"X-Telegram-Bot-Api-Secret-Token": self.secret} if self.secret else {}
        try:
            return (await client.post(self.webhook, json=update, headers=headers)).status_code == 200
        except httpx2.HTTPError:
            return False

    def _check(self, number: int) -> None:
        if not self._is_open():
            raise Refusal(401, "Unauthorized")
        if number != self._newest:
            raise Refusal(409, _ONE_ONLY)

    async def _change(self) -> None:
        # Both events are taken now: what happens before the tasks begin is not missed.
        waits = [asyncio.ensure_future(event.wait()) for event in (self._queue.news, self._replaced)]
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()

    def _want(self, args: Arguments) -> None:
        """Left out: as before."""
        if isinstance(wanted := args.json("allowed_updates"), list):
            self._queue.wanted = tuple(str(kind) for kind in wanted)

    def _dropped(self, args: Arguments) -> JsonValue:
        if args.text("drop_pending_updates").lower() == "true":
            self._queue.drop()
        return True
