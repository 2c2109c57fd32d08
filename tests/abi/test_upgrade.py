"""Old rows are read as today's. The rows of each schema are kept here as they were stored, and never edited."""

import json
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from daimon.abi.codec import adapter, decode, encode
from daimon.abi.errors import JournalDamaged
from daimon.abi.event import SCHEMA, Body
from daimon.abi.label import Author
from daimon.abi.message import ToolCall, ToolResult
from daimon.abi.money import Scope
from daimon.abi.step import (
    Answered,
    Asked,
    Granted,
    Happened,
    Intended,
    ModelFailed,
    Received,
    Replied,
    Reserved,
    Routed,
    Settled,
    Short,
    StepBody,
)

DATA = Path(__file__).parent.parent / "data"
STORED = [row for file in sorted(DATA.glob("rows-v*.json")) for row in json.loads(file.read_text(encoding="utf-8"))]
TYPES: dict[str, Any] = {"event": Body, "step": StepBody}


@pytest.mark.parametrize("row", STORED, ids=lambda row: f"v{row['schema']}-{row['type']}-{row['json']['kind']}")
def test_a_stored_row_of_every_schema_is_read_as_todays(row: dict[str, Any]) -> None:
    kind = TYPES[row["type"]]
    value = decode(kind, json.dumps(row["json"]).encode(), row["schema"])
    assert value.kind == row["json"]["kind"]
    assert decode(kind, encode(kind, value), SCHEMA) == value


@pytest.mark.parametrize("what", ["event", "step"])
def test_every_kind_of_row_is_among_the_stored_ones(what: str) -> None:
    known = set(adapter(TYPES[what]).json_schema()["discriminator"]["mapping"])
    assert {row["json"]["kind"] for row in STORED if row["type"] == what} == known


def bodies(schema: int) -> list[Any]:
    """The stored steps of one schema, as they are read today."""
    return [
        decode(StepBody, json.dumps(row["json"]).encode(), schema) for row in STORED if row["schema"] == schema and row["type"] == "step"
    ]


def test_what_a_call_may_cost_and_did_cost_is_read_to_the_billionth_and_unknown_stays_unknown() -> None:
    reserved = [body for body in bodies(2) if isinstance(body, Reserved)]
    assert [body.cost for body in reserved] == [Decimal("0.134880000"), None]
    assert {account.scope for account in reserved[0].accounts} == set(Scope) - {Scope.PERSON}  # which is newer
    assert {body.how for body in bodies(2) if isinstance(body, Settled)} == {"measured", "unused", "assumed"}
    assert {body.why for body in bodies(2) if isinstance(body, Short)} == {"reached", "held", "unknown_price"}
    assert [body.usage.cost for body in bodies(2) if isinstance(body, Settled)][-1] is None


def test_what_older_steps_do_not_say_is_read_as_nothing() -> None:
    """And what newer ones say is not lost: provider, partial text, who was passed over, remarks, the signature of a call."""
    said: dict[int, list[object]] = {1: [], 2: []}
    for schema in said:
        for body in bodies(schema):
            match body:
                case Routed(passed_over=over):
                    said[schema].append(over)
                case ModelFailed(provider=provider, is_lasting=is_lasting, retry_at=again, partial=partial):
                    said[schema] += [provider, is_lasting, again, partial]
                case Replied(remarks=remarks, parts=parts):
                    said[schema] += [remarks, *(part.signature for part in parts if isinstance(part, ToolCall))]
                case _:
                    pass
    assert said[1]
    assert not any(said[1])
    for kept in ("anthropic", "Dear Ad", "c2lnbmVk", True, datetime(2026, 11, 15, 9, 52, tzinfo=UTC)):
        assert kept in said[2]
    assert any(isinstance(value, dict) and "opus" in value for value in said[2])
    assert any(isinstance(value, tuple) and len(value) == 2 for value in said[2])


def test_a_question_answer_or_event_that_says_nothing_of_several_calls_is_about_one_and_counts() -> None:
    """As all were before there were questions about several calls."""
    for schema, calls, only, ignored in ((1, {(4,)}, {()}, {""}), (2, {(), (4,), (4, 5)}, {(4,)}, {"it was settled before"})):
        assert {body.calls for body in bodies(schema) if isinstance(body, Asked)} == calls
        assert {body.only for body in bodies(schema) if isinstance(body, Answered)} == only
        assert {body.ignored for body in bodies(schema) if isinstance(body, Received)} == ignored


def test_a_grant_is_read_with_its_bounds() -> None:
    (granted,) = (body.grant for body in bodies(2) if isinstance(body, Granted))
    assert (granted.id, granted.destinations, granted.until) == ("t01:8", ("bob@x.org",), datetime(2026, 11, 23, tzinfo=UTC))


def test_the_field_labels_of_old_results_are_not_lost() -> None:
    read = bodies(1)
    results = [body.result for body in read if isinstance(body, Happened)]
    results += [part for body in read if isinstance(body, Replied) for part in body.parts if isinstance(part, ToolResult)]
    assert len(results) == 2
    for result in results:
        assert {pointer: label.origins[0].author for pointer, label in result.labels.items()} == {
            "/from": Author.SERVICE,
            "/subject": Author.STRANGER,
        }


def test_an_upgrade_leaves_what_a_model_wrote_as_it_was() -> None:
    wrote = {"kind": "tool_result", "fields": 1}
    row = next(row["json"] for row in STORED if row["json"]["kind"] == "intent")
    intent = decode(StepBody, json.dumps({**row, "arguments": wrote}).encode(), 1)
    assert isinstance(intent, Intended)
    assert intent.arguments == wrote


def test_a_row_from_a_newer_release_is_refused() -> None:
    with pytest.raises(JournalDamaged, match="update Daimon"):
        decode(Body, b"{}", SCHEMA + 1)
