"""Old rows are read as today's. The rows of each schema are kept here as they were stored, and never edited."""

import json
from pathlib import Path
from typing import Any

import pytest

from daimon.abi.codec import adapter, decode, encode
from daimon.abi.errors import JournalDamaged
from daimon.abi.event import SCHEMA, Body
from daimon.abi.label import Author
from daimon.abi.message import ToolResult
from daimon.abi.step import Happened, Intended, Replied, StepBody

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


def test_the_field_labels_of_old_results_are_not_lost() -> None:
    read = [decode(StepBody, json.dumps(row["json"]).encode(), 1) for row in STORED if row["schema"] == 1 and row["type"] == "step"]
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
