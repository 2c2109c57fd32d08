"""Hears of automations that a turn made or took away, so that one which is due in a moment does not wait for the next round."""

from collections.abc import Callable

from daimon.abi.automation import Automate, Cease
from daimon.abi.step import Asked, Happened, Started
from daimon.kernel.feed import Feed, Gap, Recorded, Update


async def hear(feed: Feed, poke: Callable[[], None]) -> None:
    """Runs until cancelled. What is on the feed is on disk already."""
    with feed.subscribe() as updates:
        async for update in updates:
            if is_news(update):
                poke()


def is_news(update: Update) -> bool:
    match update:
        case Gap():
            return True
        case Recorded(step=step) if isinstance(step.body, Asked | Started | Happened):
            return any(isinstance(operation, Automate | Cease) for operation in step.body.operations)
        case _:
            return False
