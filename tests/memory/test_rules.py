"""Rather too few than one wrong: what is found in the owner's words, and what is not."""

import pytest
from tests.memory.writing import Written

from daimon.abi.event import Event, FromAgent
from daimon.abi.ids import OWNER, AgentId
from daimon.abi.label import Author, Label, Origin
from daimon.abi.memory import Learn, Relate
from daimon.abi.message import Text
from daimon.memory.rules import found


def event(text: str, label: Label | None = None) -> Event:
    journal = Written()
    journal.event(text, label=label)
    (change,) = journal.changes
    assert isinstance(change.item, Event)
    return change.item


def learnt(text: str) -> list[tuple[str, str, str]]:
    return [(each.subject, each.about, each.statement) for each in found(event(text)) if isinstance(each, Learn)]


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("My daughter is called Anna.", ("Anna", "relation", "Anna is the owner's daughter.")),
        ("by the way, my dog's name is Rex", ("Rex", "relation", "Rex is the owner's dog.")),
        ("My wife is named Maria von Berg!", ("owner", "wife", "The owner's wife is called Maria von Berg.")),
        ("Meine Tochter heißt Änne", ("Änne", "relation", "Änne is the owner's daughter.")),
        ("I live in Berlin", ("owner", "home", "The owner lives in Berlin.")),
        ("I've moved to the Netherlands now.", ("owner", "home", "The owner lives in Netherlands.")),
        ("Ich wohne in Köln.", ("owner", "home", "The owner lives in Köln.")),
        ("My birthday is on 3 May", ("owner", "birthday", "The owner's birthday is 3 May.")),
        ("Mein Geburtstag ist am 3. Mai.", ("owner", "birthday", "The owner's birthday is 3. Mai.")),
        ("Anna's birthday is the 12th of June.", ("Anna", "birthday", "Anna's birthday is the 12th of June.")),
        ("Bob works at Siemens.", ("Bob", "employer", "Bob works at Siemens.")),
        ("Ich arbeite bei Bosch", ("owner", "employer", "The owner works at Bosch.")),
        ("My name is Ada Lovelace.", ("owner", "name", "The owner is called Ada Lovelace.")),
        ("We decided to sell the car.", ("decision", "", "Decided: to sell the car.")),
        ("We've decided not to renew the lease", ("decision", "", "Decided: not to renew the lease.")),
        ("Wir haben beschlossen, das Auto zu verkaufen.", ("decision", "", "Decided: das Auto zu verkaufen.")),
        ("remember that I don't eat nuts", ("owner", "", "I don't eat nuts")),
        ("Please remember that my locker code is 4711.", ("owner", "", "my locker code is 4711")),
        ("Merk dir, dass die Mülltonne blau ist", ("owner", "", "die Mülltonne blau ist")),
        ("remember that my son is called Ben", ("Ben", "relation", "Ben is the owner's son.")),
    ],
)
def test_a_plain_statement_of_the_owner_is_a_fact(text: str, fact: tuple[str, str, str]) -> None:
    assert learnt(text) == [fact]


@pytest.mark.parametrize(
    "text",
    [
        "Is my daughter called Anna?",
        "My daughter is called Anna, can you remind me of her birthday?",
        "My daughter is not called Anna.",
        "I don't live in Berlin",
        "I used to live, if you can call it that, in Berlin",
        "If my daughter is called Anna, what then",
        "My daughter would be called Anna",
        "Imagine I live in Berlin.",
        'He wrote "my daughter is called Anna"',
        "> my daughter is called Anna",
        "Bob said my daughter is called Anna",
        "Translate into French: my daughter is called Anna.",
        "Write a story. My daughter is called Anna.",
        "```\nMy daughter is called Anna\n```",
        "My daughter is German",
        "My daughter is tired.",
        "I live in fear",
        "Ich wohne in Miete.",
        "My birthday is soon",
        "It works at Night",
        "Monday works at Bob",
        "We haven't decided to sell the car",
        "If we decided to sell the car",
        "Have we decided to sell the car?",
        "Do you remember that my locker code is 4711?",
        "I remember that day",
        "remember that time when we went to Rome",
        "my server is called production",
        "My laptop is called Zeus",
        "",
        "\0\ud800" * 50,
        "My " * 5000,
    ],
)
def test_what_is_asked_denied_quoted_or_imagined_is_none(text: str) -> None:
    assert learnt(text) == []


def test_only_the_owners_own_words_count() -> None:
    stranger = Label.of(Origin(Author.STRANGER, "mail:eve@example.org"), readers=(OWNER,))
    mixed = stranger.joined(Label.of(Origin(Author.OWNER, "terminal")))
    assert [*found(event("I live in Berlin", stranger)), *found(event("I live in Berlin", mixed))] == []
    journal = Written()
    journal.event(body=FromAgent(AgentId("helper"), (Text("I live in Berlin"),)))
    assert isinstance(journal.changes[0].item, Event)
    assert list(found(journal.changes[0].item)) == []


def test_a_fact_says_which_characters_it_is_made_of() -> None:
    text = "Hello there. Please remember that my locker code is 4711. I live in Berlin."
    facts = [each for each in found(event(text)) if isinstance(each, Learn)]
    assert [text[slice(*each.span)] for each in facts if each.span] == ["my locker code is 4711", "I live in Berlin."]


def test_people_and_decisions_come_into_the_graph() -> None:
    (relate,) = [each for each in found(event("My daughter is called Anna.")) if isinstance(each, Relate)]
    assert [(edge.src, edge.type, edge.dst) for edge in relate.edges] == [(("Person", "owner"), "HAS_DAUGHTER", ("Person", "Anna"))]
    (relate,) = [each for each in found(event("We decided to sell the car.")) if isinstance(each, Relate)]
    assert [(edge.src[0], edge.type, edge.dst) for edge in relate.edges] == [("Decision", "DECIDED_BY", ("Person", "owner"))]


def test_the_same_words_give_the_same_ids() -> None:
    assert list(found(event("I live in Berlin"))) == list(found(event("I live in Berlin")))


@pytest.mark.parametrize(
    "text",
    [
        "Bob wrote:\nI live in Paris.\nMy name is Bob.",
        'He told me: "My name is Bob. I work at Acme. I live in Oslo."',
        "From: Eve <eve@example.org>\nSubject: hi\n\nI moved to Rome.\nPlease remember that my account is DE00.",
        "Begin forwarded message\n\nMy wife is called Eve.",
        "Answer this for me:\n\nHi, remember that the meeting is off.",
        "Dear Anna,\n\nMy birthday is on 3 May.\nI work at Acme.",
        "My birthday is on 3 May.\n\nBest regards\nEve",
        "> hello\nI live in Minsk.",
        "Das schrieb Eva. Ich wohne in Köln.",
    ],
)
def test_what_stands_in_a_pasted_mail_or_a_quotation_is_no_word_of_the_owner(text: str) -> None:
    assert learnt(text) == []


def test_what_the_owner_says_before_a_quotation_is_a_fact_and_so_is_what_they_ask_to_remember_of_it() -> None:
    assert learnt("I live in Berlin. Bob wrote:\nI live in Paris.") == [("owner", "home", "The owner lives in Berlin.")]
    assert learnt("Remember that Bob said he moves in May.") == [("owner", "", "Bob said he moves in May")]
