"""Secrets, personal data and words of strangers do not enter a draft, wherever they were planted; what is told again is."""

import json
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue
from tests.skills.lived import World, manifests, privacy

from daimon.abi.ids import OWNER, TurnId
from daimon.abi.label import Author, Label, Origin, owned
from daimon.skills import format as form
from daimon.skills.bundle import File
from daimon.skills.experience import Correction, Deed, Experience
from daimon.skills.learning import draft
from daimon.vault.redact import Known

TRUSTED, STRANGER = owned("terminal"), Label.of(Origin(Author.STRANGER, "web:x.org"), readers=(OWNER,))
MANIFESTS = manifests(World().tools())
ASKED = "book the quiet room for friday and tell the team"
KNOWN = Known("bank", "correct-horse-battery-staple")
HOME = privacy("Anna Schmidt", "Zoltán", known=(KNOWN,))

personal = st.one_of(
    st.from_regex(r"[a-z]{3,8}\.[a-z]{3,8}@[a-z]{4,9}\.(com|org|de)", fullmatch=True),
    st.from_regex(r"\+4[0-9] [1-9][0-9]{2} [0-9]{6,8}", fullmatch=True),
    st.from_regex(r"DE[0-9]{2} [0-9]{4} [0-9]{4} [0-9]{4} [0-9]{4} [0-9]{2}", fullmatch=True),
    st.from_regex(r"10\.[1-9][0-9]\.[1-9][0-9]\.[1-9][0-9]", fullmatch=True),
    st.from_regex(r"(Linden|Berg|Haupt)stra(ß|ss)e [1-9][0-9]", fullmatch=True),
    st.from_regex(r"[1-9][0-9]{2} (Baker|Elm) (Street|Road|Lane)", fullmatch=True),
    st.sampled_from(["Anna Schmidt", "Anna", "Schmidt", "Zoltán", "Frau Habermann", "Dr. Watson"]),
)
secrets = st.one_of(
    st.just(KNOWN.value),
    st.from_regex(r"ghp_[A-Za-z0-9]{36}", fullmatch=True),
    st.from_regex(r"sk-ant-api03-[A-Za-z0-9_-]{80}AA", fullmatch=True),
)
foreign = st.from_regex(r"(ignore|obey|transfer|forward) (everything|zqx[a-z]{4,8}) (to|for) zqx[a-z]{4,9}", fullmatch=True)


def deed(n: int, tool: str, arguments: dict[str, JsonValue], *, is_clean: bool = True, code: str = "", data: JsonValue = None) -> Deed:
    return Deed(n, tool, arguments, is_clean, code, data, TRUSTED if is_clean else STRANGER)


def turn(asked: str, *deeds: Deed, corrections: tuple[Correction, ...] = ()) -> Experience:
    said = (asked, *(each.words for each in corrections))
    return Experience(
        turn=TurnId("t1"), conversation="main", at=datetime(2026, 11, 16, tzinfo=UTC), asked=asked, words=said, deeds=deeds,
        corrections=corrections, model_calls=4,
    )  # fmt: skip


def text_of(lived: Experience) -> str:
    made = draft(lived, MANIFESTS, HOME)
    assert made is not None
    return json.dumps([made.name, made.text, made.why, made.words, made.checks, made.asked], ensure_ascii=False)


@given(st.one_of(personal, secrets), st.sampled_from(["asked", "argument", "inside", "correction"]))
def test_what_is_secret_or_personal_is_taken_out_wherever_the_owner_or_the_model_wrote_it(planted: str, where: str) -> None:
    asked = f"{ASKED} by way of {planted} please" if where == "asked" else ASKED
    room = {"argument": planted, "inside": f"--for {planted} now"}.get(where, "n7")
    fixes = (Correction("steered", 1, f"no, use {planted} for that"),) if where == "correction" else ()
    told = text_of(
        turn(asked, deed(0, "book_room", {"room": "x", "day": "friday"}, code="not_found"),
             deed(2, "book_room", {"room": room, "day": "friday", "note": planted}), corrections=fixes)
    )  # fmt: skip
    assert planted not in told
    assert "book_room" in told, "the lesson is still told"
    assert '"friday' in told or "friday" in told


@given(st.one_of(foreign, personal, secrets), st.booleans())
def test_no_word_of_a_stranger_gets_in_from_results_arguments_errors_or_names_of_fields(planted: str, is_last: bool) -> None:
    read = deed(0, "look_up", {"url": "https://x.org/a"}, data={"page": planted, planted: planted})
    read = Deed(read.n, read.tool, read.arguments, True, "", read.data, STRANGER)
    told = text_of(
        turn(
            ASKED,
            read,
            deed(1, "book_room", {"room": planted, "day": planted, planted: planted}, is_clean=False, code=planted),
            deed(2, "book_room", {"room": f"{planted} n7", "day": "friday", "note": planted}, is_clean=False, data={planted: planted}),
            deed(3, planted, {"query": planted}, is_clean=False, data=planted),
            deed(4, "find_room", {"query": planted if is_last else "quiet"}, is_clean=False, data={"room": planted}),
        )
    )
    assert planted not in told
    assert not any(word in told for word in planted.split() if word.startswith("zqx"))
    assert "friday" in told


@given(st.text(max_size=300), st.text(max_size=80))
def test_whatever_was_said_gives_a_skill_that_can_be_read_or_none(asked: str, value: str) -> None:
    fix = Correction("steered", 1, value)
    made = draft(turn(asked, deed(2, "book_room", {"room": value, "day": asked}), corrections=(fix,)), MANIFESTS, HOME)
    if made is not None:
        skill = form.read(made.name, {form.SKILL: File(made.text.encode())})
        assert skill.requires.tools == made.tools
        assert HOME.is_general(made.asked)


@pytest.mark.parametrize(
    "text",
    [
        "grep -n 'total' report.csv | head -20", "on 2026-11-16 at 10:30", "version 3.11.4 of 12 items", "every Friday at 9",
        "https://rooms.example.org/list", "src/daimon/skills/learning.py", "Die Rechnung für März", "5 * 40 = 200",
    ],
)  # fmt: skip
def test_what_is_nobodys_in_particular_stays_as_it_is(text: str) -> None:
    assert HOME.general(text) == text


def test_a_request_of_a_megabyte_is_read_as_far_as_it_is_told() -> None:
    secret = "ghp_" + "Ab3dEf6hIj" * 4
    long = f"book the quiet room {'x' * 1_000_000}@ " + "a" * 500_000
    told = text_of(
        turn(
            f"{'book ' * 190} {secret} {long}",
            deed(1, "book_room", {"room": long, "day": "friday"}),
            corrections=(Correction("steered", 0, long),),
        )
    )
    assert len(told) < 5_000
    assert "Ab3dEf" not in told


def test_signs_that_nobody_sees_are_taken_out() -> None:
    assert HOME.general("book\u202e the\u200b room\x07\nnow") == "book the room now"


def test_what_was_made_general_is_general() -> None:
    told = HOME.general("write to a.b@example.org, +49 170 1234567, Anna and 10.0.0.17 with correct-horse-battery-staple")
    assert told == "write to <mail address>, <number>, <name> and <network address> with <secret>"
    assert HOME.is_general(told)
