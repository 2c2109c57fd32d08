"""What is logged holds no secret, in messages nor in tracebacks."""

import io
import logging
from collections.abc import Iterator

import pytest

from daimon.machine.logs import cleaned_logs
from daimon.testing.redactor import PlainRedactor

CANARY = "cnry-Qm7xT2bLr9Zk4Wd0"


@pytest.fixture
def written() -> Iterator[io.StringIO]:
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(logging.Formatter("it says: %(message)s"))
    logging.getLogger().addHandler(handler)
    yield stream
    logging.getLogger().removeHandler(handler)


def test_messages_and_tracebacks_are_cleaned(written: io.StringIO) -> None:
    with cleaned_logs(PlainRedactor({"canary": CANARY})):
        logging.getLogger("some.library").warning("GET /?key=%s", CANARY)
        try:
            raise ValueError(CANARY)
        except ValueError:
            logging.getLogger("some.library").exception("it failed")
    assert CANARY not in written.getvalue()
    assert written.getvalue().startswith("it says: GET /?key=[secret canary]\nit says: it failed\nTraceback")
    assert "ValueError: [secret canary]" in written.getvalue()


def test_other_words_are_logged_as_they_are_and_afterwards_all_is_as_before(written: io.StringIO) -> None:
    with cleaned_logs(PlainRedactor({"canary": CANARY})):
        logging.getLogger("some.library").warning("%s of %s", 1, "two")
    logging.getLogger("some.library").warning("%s", CANARY)
    assert written.getvalue() == f"it says: 1 of two\nit says: {CANARY}\n"
