"""What went out, as the owner sees it."""

import json

import pytest
from tests.cli.processes import Daimon, wait_until


@pytest.mark.parametrize("is_running", [True, False])
def test_what_went_out_is_listed_with_what_became_of_it(daimon: Daimon, is_running: bool) -> None:
    if is_running:
        daimon.up()
    event = b'{"type": "message", "text": "hello", "reply_to": {"channel": "pigeon", "to": "bob"}}\n'
    daimon.run("inject", given=event)

    def is_delivered() -> bool:
        """No command waits for it, and a gateway that lives for one chat may leave it to the next."""
        daimon.run("chat", "hello")
        rows = json.loads(daimon.run("outbox", "--json").out)
        return {("pigeon", "failed"), ("local", "confirmed")} <= {(row["to"]["channel"], row["state"]) for row in rows}

    wait_until(is_delivered)
    failed = json.loads(daimon.run("outbox", "--state", "failed", "--json").out)
    assert [(each["to"]["channel"], each["note"]) for each in failed] == [("pigeon", "there is no channel 'pigeon'")]
    shown = daimon.run("outbox", "--channel", "local").out
    assert "confirmed" in shown
    assert "pigeon" not in shown
    assert "1 failed" in daimon.run("status").out


def test_a_state_that_there_is_none_of_is_refused(daimon: Daimon) -> None:
    refused = daimon.run("outbox", "--state", "lost")
    assert refused.code == 2
    assert "queued, sending, sent, confirmed, unknown, failed" in " ".join(refused.err.replace("│", " ").split())


def test_where_nothing_went_out_that_is_said(daimon: Daimon) -> None:
    daimon.run("inject", given=b'{"type": "message", "text": "hello"}\n')
    assert "nothing went out" in daimon.run("outbox").out
