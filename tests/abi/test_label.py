"""Labels are never dropped: a join only ever adds origins and takes readers away."""

from hypothesis import given
from hypothesis import strategies as st
from tests.abi.values import labels, origins, principals

from daimon.abi.codec import decode, encode
from daimon.abi.ids import OWNER, PrincipalId
from daimon.abi.label import EMPTY, UNLABELLED, Author, Label, Origin, join, owned

OWNERS = Origin(Author.OWNER, "terminal")
SERVICES = Origin(Author.SERVICE, "clock")
AGENTS = Origin(Author.AGENT, "agent:scout")
STRANGERS = Origin(Author.STRANGER, "web:example.org")


@given(labels, labels)
def test_the_order_of_a_join_does_not_matter(a: Label, b: Label) -> None:
    assert a.joined(b) == b.joined(a)


@given(labels, labels, labels)
def test_the_grouping_of_a_join_does_not_matter(a: Label, b: Label, c: Label) -> None:
    assert a.joined(b).joined(c) == a.joined(b.joined(c)) == join([a, b, c])


@given(labels)
def test_a_label_joined_with_itself_or_with_nothing_is_itself(label: Label) -> None:
    assert label.joined(label) == label
    assert label.joined(EMPTY) == EMPTY.joined(label) == label


@given(labels, labels)
def test_a_join_is_trusted_only_if_all_of_it_is(a: Label, b: Label) -> None:
    assert a.joined(b).is_trusted == (a.is_trusted and b.is_trusted)


@given(labels, labels, principals)
def test_a_join_is_read_only_by_who_may_read_all_of_it(a: Label, b: Label, reader: PrincipalId) -> None:
    assert a.joined(b).may_be_read_by(reader) == (a.may_be_read_by(reader) and b.may_be_read_by(reader))


@given(labels, labels)
def test_a_join_remembers_every_origin(a: Label, b: Label) -> None:
    assert set(a.joined(b).origins) == {*a.origins, *b.origins}


@given(st.lists(origins, min_size=1, max_size=4), st.lists(principals, max_size=4), st.randoms(use_true_random=False))
def test_equal_labels_have_equal_bytes(made_by: list[Origin], readers: list[PrincipalId], random: object) -> None:
    shuffled, others = [*made_by, made_by[0]], [*readers, *readers]
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    random.shuffle(others)  # type: ignore[attr-defined]
    assert encode(Label, Label.of(*made_by, readers=readers)) == encode(Label, Label.of(*shuffled, readers=others))


@given(labels)
def test_a_label_comes_back_from_its_bytes(label: Label) -> None:
    assert decode(Label, encode(Label, label)) == label


def test_a_missing_label_means_a_strangers_words_for_the_owner_only() -> None:
    assert join([]) == UNLABELLED
    assert not UNLABELLED.is_trusted
    assert UNLABELLED.may_be_read_by(OWNER)
    assert not UNLABELLED.may_be_read_by(PrincipalId("guest"))


def test_the_label_of_nothing_is_trusted_by_nobody() -> None:
    assert not EMPTY.is_trusted


def test_only_the_owner_and_services_are_trusted() -> None:
    trusted = {author: Label.of(Origin(author, "x")).is_trusted for author in Author}
    assert trusted == {Author.OWNER: True, Author.SERVICE: True, Author.AGENT: False, Author.LIMITED: False, Author.STRANGER: False}


def test_a_closed_answer_is_not_trusted_and_holds_no_words() -> None:
    mail = Label.of(OWNERS, STRANGERS, AGENTS, readers=[OWNER])
    answer = mail.limited()
    assert not answer.is_trusted
    assert answer.is_limited
    assert answer.readers == mail.readers
    assert {origin.source for origin in answer.origins} == {origin.source for origin in mail.origins}
    assert not answer.joined(mail).is_limited, "one word of a stranger, and it is no longer limited"


def test_what_is_trusted_and_what_is_nothing_are_not_limited() -> None:
    assert not Label.of(OWNERS).is_limited
    assert not EMPTY.is_limited
    assert Label.of(OWNERS).limited() == Label.of(OWNERS)


def test_one_strangers_word_among_many_makes_the_whole_untrusted() -> None:
    assert Label.of(OWNERS, SERVICES).is_trusted
    assert not Label.of(OWNERS, SERVICES, STRANGERS).is_trusted
    assert not Label.of(OWNERS, AGENTS).is_trusted


def test_readers_without_anybody_in_common_leave_nobody() -> None:
    ann, bob = (Label.of(OWNERS, readers=[PrincipalId(name)]) for name in ("ann", "bob"))
    assert ann.joined(bob).readers == ()
    assert not ann.joined(bob).may_be_read_by(OWNER)


def test_a_label_for_anyone_joined_with_a_private_one_is_private() -> None:
    assert Label.of(SERVICES).joined(owned("terminal")).readers == (OWNER,)
    assert Label.of(SERVICES).may_be_read_by(PrincipalId("guest"))


def test_an_origin_reads_as_who_at_where() -> None:
    assert str(STRANGERS) == "stranger@web:example.org"
