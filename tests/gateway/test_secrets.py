"""Known secrets leave the gateway by no answer, whenever they became known; what it refuses is kept without them."""

import json
from collections.abc import AsyncIterator, MutableMapping
from contextlib import asynccontextmanager
from dataclasses import fields
from typing import Any

import pytest
from tests.gateway.live import Live
from tests.kernel.rig import Rig, kernel
from tests.kernel.test_secrets import CANARY, KNOWN, MARK, ORDINARY, SHAPE, SHAPED

from daimon.abi.errors import BadInput
from daimon.gateway.api import Api
from daimon.gateway.hooks.posted import Postings
from daimon.gateway.hooks.receive import Receiver
from daimon.gateway.inbox import KEPT_BYTES
from daimon.gateway.parts import Parts
from daimon.testing.model import says
from daimon.vault.redact import Known, SecretRedactor


class Caller:
    """Calls the API as a server does."""

    def __init__(self, api: Api) -> None:
        self._api = api

    async def get(self, path: str) -> tuple[int, bytes]:
        sent: list[MutableMapping[str, Any]] = []

        async def receive() -> MutableMapping[str, Any]:
            return {"type": "http.request", "body": b"", "more_body": False}

        async def send(message: MutableMapping[str, Any]) -> None:
            sent.append(message)

        scope = {
            "type": "http",
            "method": "GET",
            "path": path,
            "raw_path": path.encode(),
            "query_string": b"",
            "headers": [],
            "root_path": "",
        }
        await self._api(scope, receive, send)
        return sent[0]["status"], b"".join(message.get("body", b"") for message in sent)


class Nobody:
    """In the place of parts that are not called here."""

    def __getattr__(self, name: str) -> "Nobody":
        return self

    def __call__(self, *given: object) -> tuple[()]:
        return ()


@asynccontextmanager
async def served(known: list[Known]) -> AsyncIterator[tuple[Rig, Caller]]:
    """A kernel that knows no secret, behind an API that does: as if it had become known later."""
    nobody: Any = Nobody()
    async with kernel(script=[says(f"it was {CANARY}")]) as rig:
        parts: dict[str, Any] = dict.fromkeys((each.name for each in fields(Parts)), nobody)
        parts |= dict.fromkeys(("archive", "overview", "store", "ledger"), rig.journal)
        parts |= {"inbox": rig.inbox, "grants": rig.desk.grants, "feed": rig.feed, "clock": rig.clock, "ids": rig.ids}
        parts |= {"redactor": SecretRedactor(lambda: known), "receiver": Receiver(nobody, Postings())}
        parts["steward"] = lambda: nobody
        yield rig, Caller(Api(Parts(**parts)))


async def test_what_became_known_after_it_was_written_is_not_handed_out() -> None:
    async with served([*KNOWN]) as (rig, api):
        turn, steps = await rig.ask(f"say {CANARY}; {ORDINARY}")
        assert CANARY in str(steps)
        asked = next(step.body.request for step in steps if step.body.kind == "reply")
        for path in (f"/v1/turns/{turn.id}", f"/v1/events/{turn.event}", f"/v1/blobs/{asked}"):
            status, body = await api.get(path)
            assert status == 200
            assert CANARY.encode() not in body
            assert MARK.encode() in body
            assert "你好".encode() in body
        assert json.loads((await api.get(f"/v1/events/{turn.event}"))[1])["event"]["body"]["parts"][0]["text"] == f"say {MARK}; {ORDINARY}"


async def test_answers_without_secrets_are_the_same_bytes() -> None:
    known: list[Known] = []
    async with served(known) as (rig, api):
        turn, _ = await rig.ask(ORDINARY)
        before = await api.get(f"/v1/events/{turn.event}")
        known += KNOWN
        assert await api.get(f"/v1/events/{turn.event}") == before


async def test_errors_name_no_secret() -> None:
    async with served([*KNOWN]) as (_, api):
        for path in (f"/v1/turns/{CANARY}", f"/v1/{CANARY}/{SHAPED}"):
            status, body = await api.get(path)
            assert status == 404
            assert CANARY.encode() not in body
            assert SHAPED.encode() not in body
            assert MARK.encode() in body


def test_a_running_daimon_cleans_its_errors(daimon: Live) -> None:
    answer = daimon.call("GET", f"/v1/turns/{SHAPED}")
    assert SHAPE in answer.json["error"]["message"]


@pytest.mark.parametrize("before", [b'{"type": ', b"\xff\xfe ", b" " * (KEPT_BYTES - 20)])
async def test_a_dead_letter_holds_no_known_secret(before: bytes) -> None:
    async with kernel(known=KNOWN) as rig:
        with pytest.raises(BadInput):
            await rig.inbox.take(before + CANARY.encode() + "; übrigens".encode())
        (letter,) = await rig.journal.letters(10)
    assert CANARY[:16].encode() not in letter.body
    assert CANARY not in letter.reason
    assert letter.body.startswith(before)
    assert b"[secret" in letter.body


async def test_a_dead_letter_without_secrets_is_kept_byte_for_byte() -> None:
    async with kernel(known=KNOWN) as rig:
        with pytest.raises(BadInput):
            await rig.inbox.take(b"\xff\x00 no event \xc3\xa4")
        (letter,) = await rig.journal.letters(10)
    assert letter.body == b"\xff\x00 no event \xc3\xa4"


@pytest.mark.parametrize(
    "event",
    [
        {"type": "message", "text": "hello", "source": CANARY},
        {"type": "message", "text": "hello", "key": CANARY},
        {"type": "message", "text": "hello", "reply_to": {"channel": "local", "to": CANARY}},
        {"type": "webhook", "service": CANARY, "data": 1},
        {"type": "agent", "agent": CANARY, "text": "hello"},
        {"type": "heartbeat", "job": CANARY, "data": 1},
    ],
)
async def test_an_event_is_taken_in_without_secrets_wherever_they_stand(event: dict[str, Any]) -> None:
    async with kernel(known=KNOWN) as rig:
        taken, _ = await rig.inbox.take(json.dumps(event).encode())
        assert CANARY not in f"{taken}{await rig.journal.event(taken.id)}"


async def test_an_event_without_secrets_is_taken_in_as_it_is() -> None:
    async with kernel(known=KNOWN) as rig:
        taken, _ = await rig.inbox.take(json.dumps({"type": "webhook", "service": "shop", "data": ORDINARY, "source": "s"}).encode())
        assert (taken.source, taken.principal, str(taken.label.origins[0])) == ("s", "service:shop", "stranger@webhook:shop")
