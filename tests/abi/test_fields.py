"""Labels of single fields: the most exact pattern decides, and a missing one means the label of the whole."""

from daimon.abi.fields import Leaf, label_at, leaves, parts, pointer
from daimon.abi.label import UNLABELLED, Author, Label, Origin

SERVICE, STRANGER, OWNER = (Label.of(Origin(author, "x")) for author in (Author.SERVICE, Author.STRANGER, Author.OWNER))


def test_every_plain_value_is_a_leaf_with_its_place() -> None:
    found = list(leaves({"a": [{"b": 1}, "x"], "c": None}))
    assert found == [Leaf(("a", "0", "b"), 1), Leaf(("a", "1"), "x"), Leaf(("c",), None)]
    assert [leaf.field for leaf in found] == ["b", "a", "c"]


def test_pointers_are_read_as_they_are_written() -> None:
    assert parts(pointer(("a/b", "~c", "0"))) == ("a/b", "~c", "0")


def test_the_most_exact_pattern_decides() -> None:
    labels = {"": SERVICE, "/*/body": STRANGER, "/0/body": OWNER, "/1": OWNER}
    assert label_at(labels, ("5", "body"), UNLABELLED) == STRANGER
    assert label_at(labels, ("0", "body"), UNLABELLED) == OWNER
    assert label_at(labels, ("1", "sender"), UNLABELLED) == OWNER
    assert label_at(labels, ("2", "sender"), UNLABELLED) == SERVICE


def test_without_any_label_the_whole_counts_and_below_a_pattern_it_counts_as_well() -> None:
    assert label_at({}, ("a",), UNLABELLED) == UNLABELLED
    assert label_at({"/a": STRANGER}, ("a", "b", "c"), SERVICE) == STRANGER


def test_what_is_nested_deeper_than_anybody_reads_is_left_out() -> None:
    value: object = "x"
    for _ in range(200):
        value = [value]
    assert list(leaves(value)) == []  # type: ignore[arg-type]
