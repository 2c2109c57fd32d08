"""Which channels there are right now, told to all who have to do with channels.

A channel is listened to (the supervisor), spoken through (the postman), shown that somebody is at work (typing) and, where its service
posts, reached by `/hooks/NAME`. They learn of a change here and nowhere else, all in one step, so that none of them knows a channel that
the others do not. What a change does not touch goes on undisturbed: a channel is the same if it is the same object.

It does not know where channels come from.
"""

from collections.abc import Callable, Iterable
from functools import partial

from daimon.abi.channel import Channel, Reception
from daimon.gateway.hooks.posted import PostedTo, Postings
from daimon.gateway.outbox import Postman
from daimon.gateway.supervisor import Supervisor
from daimon.gateway.typing import Typing


class Switchboard:
    def __init__(
        self, postman: Postman, supervisor: Supervisor, typing: Typing, postings: Postings, reception: Callable[[str], Reception]
    ) -> None:
        """`reception`: whom a channel of this name hands over to."""
        self._postman, self._supervisor, self._typing, self._postings = postman, supervisor, typing, postings
        self._reception = reception
        self._channels: dict[str, Channel] = {}

    def change(self, channels: Iterable[Channel]) -> None:
        """From now on there are these."""
        wanted = {channel.name: channel for channel in channels}
        for name in self._channels.keys() - wanted.keys():
            self._drop(name)
        for name, channel in wanted.items():
            if self._channels.get(name) is not channel:
                self._put(channel)

    def _drop(self, name: str) -> None:
        del self._channels[name]
        self._supervisor.remove(name)
        self._typing.remove(name)
        self._postings.remove(name)
        self._postman.remove(name)

    def _put(self, channel: Channel) -> None:
        self._channels[channel.name] = channel
        self._postman.add(channel)
        self._typing.add(channel)
        self._postings.remove(channel.name)
        if isinstance(channel, PostedTo):
            self._postings.register(channel.name, channel.posted)
        self._supervisor.add(channel.name, partial(channel.serve, self._reception(channel.name)))
