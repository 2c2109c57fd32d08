"""The event that a tick becomes."""

import json
from datetime import UTC, datetime

from pydantic import JsonValue

from daimon.abi.automation import Kept
from daimon.abi.event import Event, Heartbeat
from daimon.abi.ids import OWNER, EventId, Key, PrincipalId
from daimon.abi.label import UNLABELLED
from daimon.abi.people import for_reader
from daimon.abi.watch import Look
from daimon.kernel.wall import OWNERS_DESK

SOURCE = "heartbeat"
MOST_CHANGE = 200_000
"""Characters of a change that are handed over; a watcher bounds its own, this bounds all."""


def conversation_of(automation: str) -> str:
    return f"automations/{automation}"


def event_of(kept: Kept, due: datetime, now: datetime, id_: str, look: Look | None, whom: PrincipalId = OWNER) -> Event:
    """Its label is that of all that is in it: the task's, joined with that of what was found. `whom`: who reads where its result goes."""
    automation, label = kept.automation, for_reader(kept.label, whom)
    if look is not None:
        label = label.joined(UNLABELLED if look.label is None else look.label)
    body = Heartbeat(
        automation.id, None if look is None else _bounded(look.change), automation.task, kept.label, automation.licence, automation.model
    )
    return Event(
        id=EventId(id_), source=SOURCE, key=Key(f"{automation.id}@{due.astimezone(UTC).isoformat()}"),
        conversation=conversation_of(automation.id), principal=kept.by if whom == OWNER else whom, body=body,
        occurred_at=due, received_at=now, label=label, reply_to=automation.to or OWNERS_DESK,
    )  # fmt: skip


def _bounded(change: JsonValue) -> JsonValue:
    text = json.dumps(change, ensure_ascii=False)
    return change if len(text) <= MOST_CHANGE else {"truncated": True, "characters": len(text), "text": text[:MOST_CHANGE]}
