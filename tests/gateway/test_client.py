"""The client against a real gateway on a real socket."""

import json
import socket
import threading
from collections.abc import AsyncIterator
from pathlib import Path

import anyio
import pytest
from anyio import to_thread

from daimon import boot
from daimon.abi.errors import BadInput, DaimonError, NotFound, NotRunning, TooLarge
from daimon.abi.ids import HOME_SPACE, BlobHash, EventId, TurnId
from daimon.abi.step import Replied
from daimon.abi.turn import State
from daimon.config import Home
from daimon.gateway import unix
from daimon.gateway.client import Client, Feed, RemoteArchive
from daimon.kernel.feed import Changed

HELLO = json.dumps({"type": "message", "text": "hello"}).encode()


@pytest.fixture
async def home(tmp_path: Path) -> AsyncIterator[Home]:
    place = boot.home_at(tmp_path / "home")
    place.ensure()
    place.config.write_text("[gateway]\nmax_event_bytes = 2000\n")
    async with boot.running(place, boot.settings_of(place), 0):
        yield place


@pytest.fixture
def client(home: Home) -> Client:
    return Client(home.socket)


def _answered(client: Client, event: EventId) -> TurnId:
    """Follows the feed until the event's turn is over."""
    with client.feed() as feed:
        if (turn := client.event(event).turn) is not None and turn.state is State.DONE:
            return turn.id
        return next(update.turn for update in feed if isinstance(update, Changed) and update.state is State.DONE)


async def test_what_is_sent_is_answered_and_read_back_as_our_types(client: Client) -> None:
    with anyio.fail_after(60):
        taken = await to_thread.run_sync(client.send, HELLO)
        turn = await to_thread.run_sync(_answered, client, taken.event)
        trace = await to_thread.run_sync(client.trace, turn)
        caused = await to_thread.run_sync(client.event, taken.event)

        assert (caused.event, caused.turn) == (trace.event, trace.turn)
        assert [found.id for found in await to_thread.run_sync(client.turns, 10)] == [turn]
        request = next(step.body.request for step in trace.steps if isinstance(step.body, Replied))
        assert request is not None
        assert b"hello" in await to_thread.run_sync(client.blob, request)
        assert (await to_thread.run_sync(client.status)).count.events == 1
        assert await to_thread.run_sync(client.questions) == ()


async def test_the_same_key_is_the_same_event(client: Client) -> None:
    with anyio.fail_after(60):
        first = await to_thread.run_sync(client.send, HELLO, "k1")
        again = await to_thread.run_sync(client.send, HELLO, "k1")
        assert (first.new, again.new) == (True, False)
        assert again.event == first.event


async def test_an_error_of_the_gateway_is_raised_as_what_it_is(client: Client) -> None:
    with anyio.fail_after(60):
        with pytest.raises(NotFound, match="no turn 't123'"):
            await to_thread.run_sync(client.trace, TurnId("t123"))
        with pytest.raises(NotFound):
            await to_thread.run_sync(client.event, EventId("../../healthz"))
        with pytest.raises(NotFound):
            await to_thread.run_sync(client.blob, BlobHash("no hash"))
        with pytest.raises(BadInput):
            await to_thread.run_sync(client.send, b"nonsense")
        with pytest.raises(TooLarge):
            await to_thread.run_sync(client.send, b"x" * 5_000_000)
        assert [letter.body[:8] for letter in await to_thread.run_sync(client.letters, 10)] == ["xxxxxxxx", "nonsense"]


async def test_the_ports_show_the_same_through_the_socket(client: Client) -> None:
    with anyio.fail_after(60):
        taken = await to_thread.run_sync(client.send, HELLO)
        turn = await to_thread.run_sync(_answered, client, taken.event)
        archive = RemoteArchive(client)

        assert (await archive.turn(turn)).state is State.DONE
        assert await archive.turn_of(taken.event) == await archive.turn(turn)
        assert (await archive.event(taken.event)).id == taken.event
        assert [found.id for found in await archive.turns(HOME_SPACE, 5, "main", State.DONE)] == [turn]
        assert await archive.turns(HOME_SPACE, 5, "other") == ()
        assert (await archive.count()).steps == len(await archive.steps(turn))
        assert await archive.letters(5) == ()


async def test_a_feed_ends_when_another_thread_closes_it(client: Client) -> None:
    with anyio.fail_after(60):
        feed = await to_thread.run_sync(client.feed)
        with feed:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(to_thread.run_sync, _exhaust, feed)
                feed.close()


def _exhaust(feed: Feed) -> None:
    with pytest.raises(NotRunning):
        for _ in feed:
            pass


def test_nobody_there_is_not_running(tmp_path: Path) -> None:
    client = Client(tmp_path / "daimon.sock")
    assert not client.is_there()
    with pytest.raises(NotRunning, match="daimon up"):
        client.status()
    with pytest.raises(NotRunning):
        client.feed()
    unix.bind(tmp_path / "daimon.sock").close()  # a socket that a killed process left behind
    assert not client.is_there()


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (b"", NotRunning),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{", NotRunning),
        (b"what is this", NotRunning),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n[]", DaimonError),
        (b"HTTP/1.1 500 Oops\r\nContent-Length: 4\r\n\r\noops", DaimonError),
        (b'HTTP/1.1 418 No\r\nContent-Length: 41\r\n\r\n{"error":{"code":"new","message":"a tea"}}', DaimonError),
    ],
)
def test_an_answer_that_makes_no_sense_is_an_error_of_ours(tmp_path: Path, answer: bytes, expected: type[DaimonError]) -> None:
    listening = unix.bind(tmp_path / "s")
    thread = threading.Thread(target=_serve_once, args=(listening, answer))
    thread.start()
    with pytest.raises(expected):
        Client(tmp_path / "s").status()
    thread.join()
    listening.close()


def _serve_once(listening: socket.socket, answer: bytes) -> None:
    connection, _ = listening.accept()
    with connection:
        connection.recv(65536)
        connection.sendall(answer)


async def test_a_value_is_stored_and_read_back(client: Client) -> None:
    with anyio.fail_after(60):
        blob = await to_thread.run_sync(client.upload, b"\0bytes\xff")
        assert await to_thread.run_sync(client.blob, blob) == b"\0bytes\xff"
        with pytest.raises(TooLarge, match=r"gateway\.max_event_bytes"):
            await to_thread.run_sync(client.upload, bytes(1_000_000))
