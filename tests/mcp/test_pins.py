"""What the owner agreed to of a server, on disk."""

from pathlib import Path

import pytest

from daimon.abi.errors import Misconfigured, Outdated
from daimon.mcp.listed import Listed
from daimon.mcp.pins import Pins

OLD = Listed("act", "Does something.", parameters={"type": "object"})
NEW = Listed("act", "Does something else.", parameters={"type": "object"})


def test_nothing_is_offered_before_it_was_approved_and_all_of_it_after_a_restart(tmp_path: Path) -> None:
    pins = Pins.read(tmp_path / "mcp/far.json")
    assert pins.seen is None
    assert pins.saw((OLD,))
    assert pins.offered() == ()
    pins.approve(frozenset({OLD.hash}))
    again = Pins.read(tmp_path / "mcp/far.json")
    assert again.offered() == (OLD,)
    assert not again.saw((OLD,))


def test_what_changed_is_not_offered_until_the_change_was_approved(tmp_path: Path) -> None:
    pins = Pins.read(tmp_path / "far.json")
    pins.saw((OLD,))
    pins.approve(frozenset({OLD.hash}))
    assert pins.saw((NEW,))
    assert pins.offered() == ()
    assert pins.waiting() == ("act",)
    (change,) = pins.changes().waiting
    assert (change.kind, change.hash) == ("changed", NEW.hash)
    assert "-Does something." in change.text
    assert "+Does something else." in change.text
    with pytest.raises(Outdated):
        pins.approve(frozenset({OLD.hash}))  # it was looked at before the server changed it
    pins.approve(frozenset({NEW.hash}))
    assert Pins.read(tmp_path / "far.json").offered() == (NEW,)


def test_what_is_gone_is_not_offered_and_comes_back_as_it_was(tmp_path: Path) -> None:
    pins = Pins.read(tmp_path / "far.json")
    pins.saw((OLD,))
    pins.approve(frozenset({OLD.hash}))
    pins.saw(())
    assert (pins.offered(), [change.kind for change in pins.changes().gone]) == ((), ["gone"])
    pins.saw((OLD,))
    assert pins.offered() == (OLD,)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"version": 2}', '{"version": 1, "approved": {"x": {"name": 1, "odd": 2}}}'])
def test_a_file_that_cannot_be_read_offers_nothing_and_says_so(tmp_path: Path, text: str) -> None:
    (tmp_path / "far.json").write_text(text)
    with pytest.raises(Misconfigured, match=r"far\.json cannot be read"):
        Pins.read(tmp_path / "far.json")
    assert (tmp_path / "far.json").read_text() == text
