"""What a tool prints while it works reaches whoever listens, at its step, and never with a known secret in it."""

import asyncio
from datetime import UTC, datetime

from daimon.abi.ids import HOME_SPACE, OWNER, SELF, Conversation, Key, TurnId
from daimon.abi.tool import Call
from daimon.kernel.feed import Feed, Printed, Subscription
from daimon.kernel.printing import MOST_CALLS, Printer
from daimon.vault.redact import Known, SecretRedactor

SECRET = "sk-0123456789-secret"
HERE = Conversation(HOME_SPACE, "terminal")
END = Printed(HERE, TurnId("end"), 0, "")
DEADLINE_S = 60.0
NOW = datetime(2026, 3, 13, 17, 30, tzinfo=UTC)


def call(key: str = "t1:4") -> Call:
    return Call(Key(key), HOME_SPACE, OWNER, SELF, HERE, None, NOW)


async def heard(feed: Feed, listening: Subscription) -> list[Printed]:
    """All that was published so far."""
    feed.publish(END)
    found: list[Printed] = []
    async with asyncio.timeout(DEADLINE_S):
        async for update in listening:
            assert isinstance(update, Printed)
            if update == END:
                break
            found.append(update)
    return found


async def test_what_is_printed_is_told_with_its_step() -> None:
    feed = Feed()
    with feed.subscribe() as listening:
        Printer(feed, SecretRedactor(tuple))(call(), "hello\n")
        assert await heard(feed, listening) == [Printed(HERE, TurnId("t1"), 4, "hello\n")]


async def test_a_secret_that_comes_in_pieces_is_not_told() -> None:
    feed = Feed()
    with feed.subscribe() as listening:
        printer = Printer(feed, SecretRedactor(lambda: (Known("api", SECRET),)))
        for piece in ("key: ", SECRET[:7], SECRET[7:], " done, and so on\n"):
            printer(call(), piece)
        told = "".join(update.text for update in await heard(feed, listening))
    assert told.startswith("key: ")
    assert " done, and so" in told
    assert SECRET not in told
    assert SECRET[:7] not in told


async def test_calls_without_a_step_and_calls_without_number_harm_nobody() -> None:
    feed = Feed()
    printer = Printer(feed, SecretRedactor(tuple))
    printer(call("no step"), "x")
    for number in range(10 * MOST_CALLS):
        printer(call(f"t1:{number}"), "x")
    assert len(printer._calls) == MOST_CALLS
