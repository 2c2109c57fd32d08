"""What is written down of an attempt: the label of what left, and of nothing that did not."""

from datetime import UTC, datetime
from typing import Literal

import pytest

from daimon.abi.box import Attempt
from daimon.abi.label import owned
from daimon.tools.shell import touched_by


@pytest.mark.parametrize(
    ("outcome", "sent_bytes", "has_left"),
    [("passed", 10, True), ("failed", 10, True), ("passed", 0, True), ("failed", 0, False), ("refused", 0, False)],
)
def test_what_was_sent_has_left_even_if_the_connection_was_cut(
    outcome: Literal["passed", "failed", "refused"], sent_bytes: int, has_left: bool
) -> None:
    label = owned("terminal")
    attempt = Attempt(datetime.now(UTC), "api.test", 443, "POST", "/", outcome, sent_bytes=sent_bytes, label=label)
    assert touched_by(attempt).label == (label if has_left else None)
