"""`daimon memory`, as a person types it, with a gateway and without."""

import json
import stat
from pathlib import Path
from typing import Any

import pytest
from tests.cli.processes import DEADLINE_S, Daimon, wait_until
from tests.cli.pseudo import Terminal

BOTH = pytest.mark.parametrize("is_up", [False, True], ids=["nobody runs", "a gateway runs"])
SECRET, OTHER, OWN = "fjordwaltz", "zebraquagga", "marmaladeplan"


@pytest.fixture
def reading(daimon: Daimon) -> Daimon:
    """Its model reads a stranger's page and keeps what stands there."""
    daimon.configure('extensions = ["browser"]\n[model]\nuse = "browser"\n[context]\nhold = "never"\n')
    (daimon.signs / "page.txt").write_text(f"the {OTHER} code is {SECRET}")
    return daimon


def told(daimon: Daimon, *words: str) -> Any:
    done = daimon.run("memory", *words, "--json")
    assert done.code == 0, done.err
    return json.loads(done.out)


def learnt(daimon: Daimon, statement: str, *more: str) -> str:
    return str(told(daimon, "learn", "owner", statement, *more)["id"])


def counts(home: Path, word: str) -> dict[str, int]:
    """In all that is on disk of the two stores."""
    files = {name: [home / f"{name}.db{suffix}" for suffix in ("", "-wal", "-shm")] for name in ("memory", "journal")}
    return {name: sum(file.read_bytes().count(word.encode()) for file in each if file.exists()) for name, each in files.items()}


@BOTH
def test_what_is_kept_is_listed_found_and_explained(daimon: Daimon, is_up: bool) -> None:
    if is_up:
        daimon.up()
    older, newer = (
        learnt(daimon, "The owner lives in Bonn.", "--about", "city"),
        learnt(daimon, "The owner lives in Ulm.", "--about", "city"),
    )
    daimon.run("chat", "remember that Anna likes green tea")
    assert [item["text"] for item in told(daimon, "list")] == ["The owner lives in Ulm.", "Anna likes green tea"]
    hits = told(daimon, "search", "green", "tea")["hits"]
    assert hits[0]["item"]["text"] == "Anna likes green tea"
    assert hits[0]["why"]
    assert "words" in daimon.run("memory", "search", "tea", "--kind", "note", "--since", "today", "--limit", "1").out
    assert told(daimon, "search", "tea", "--until", "2020-01-01")["hits"] == []
    assert [item["id"] for item in told(daimon, "history", "owner")][:2] == [older, newer]
    receipt = told(daimon, "why", older)
    assert (receipt["item"]["standing"], receipt["replaced_by"][0]["id"], receipt["origin"]["what"]) == ("superseded", newer, "amendment")
    shown = daimon.run("memory", "why", hits[0]["item"]["id"]).out
    assert "asked" in shown
    assert "remember that Anna likes green tea" in shown


@BOTH
def test_the_page_is_changed_by_hand_and_a_note_taken_off_it_is_still_a_note(daimon: Daimon, is_up: bool) -> None:
    if is_up:
        daimon.up()
    note = str(told(daimon, "page", "add", "Answer in short sentences.")["id"])
    assert [each["id"] for each in told(daimon, "page")["notes"]] == [note]
    assert "Answer in short sentences." in daimon.run("memory", "page").out
    full = daimon.run("memory", "page", "add", "x" * 3_990)
    assert (full.code, note in full.err, "nothing was kept" in full.err) == (4, True, True)
    assert daimon.run("memory", "page", "remove", note).code == 0
    assert told(daimon, "page")["notes"] == []
    assert [(each["text"], each["on_page"]) for each in told(daimon, "list")] == [("Answer in short sentences.", False)]
    assert daimon.run("memory", "page", "remove", note).code == 3


@BOTH
def test_a_forgotten_item_comes_back_when_memory_is_restored_and_that_can_be_taken_back(daimon: Daimon, is_up: bool) -> None:
    if is_up:
        daimon.up()
    kept = learnt(daimon, "The owner lives in Ulm.", "--about", "city")
    before = told(daimon, "why", kept)["item"]["at"]
    assert "stays as history" in daimon.run("memory", "forget", kept).err
    assert told(daimon, "list") == []
    assert told(daimon, "why", kept)["item"]["standing"] == "forgotten"
    asked = daimon.run("memory", "restore", "--at", before)
    assert (asked.code, "add --yes" in asked.err, told(daimon, "list")) == (4, True, [])
    done = told(daimon, "restore", "--at", before, "--yes")
    assert ([item["id"] for item in done["returned"]], done["ended"]) == ([kept], [])
    assert [item["id"] for item in told(daimon, "list")] == [kept]
    told(daimon, "restore", "--at", done["undo"], "--yes")
    assert told(daimon, "list") == []
    assert daimon.run("memory", "restore", "--at", done["undo"]).out == "nothing to change: what is kept is as it was then\n"


@BOTH
def test_a_forgotten_source_is_in_no_byte_of_either_store_and_the_owners_words_are(reading: Daimon, is_up: bool) -> None:
    if is_up:
        reading.up()
    mine = learnt(reading, f"The owner has a {OWN}.", "--about", "city")
    reading.run("chat", "read the page")
    reading.run("chat", f"my own {OWN}", "--conversation", "other")
    found = told(reading, "search", SECRET, "--source", "web:example.org")["hits"]
    derived = next(hit["item"]["id"] for hit in found if hit["item"]["kind"] == "note")
    claim = next(hit["item"] for hit in found if hit["item"]["kind"] == "fact")
    assert (claim["standing"], told(reading, "why", mine)["item"]["standing"]) == ("disputed", "holds")
    assert all(n > 0 for word in (SECRET, OTHER) for n in counts(reading.home, word).values())

    asked = reading.run("memory", "forget", "--source", "web:example.org")
    assert (asked.code, "1 fact" in asked.err, "1 note" in asked.err, "add --yes" in asked.err) == (4, True, True, True)
    done = reading.run("memory", "forget", "--source", "web:example.org", "--yes")
    assert done.code == 0
    assert asked.err.partition(": ")[2].partition("\n")[0] == done.out.strip().partition(": ")[2]

    assert [counts(reading.home, word) for word in (SECRET, OTHER)] == [{"memory": 0, "journal": 0}] * 2
    assert all(n > 0 for n in counts(reading.home, OWN).values())
    assert [item["id"] for item in told(reading, "list")] == [mine]
    assert told(reading, "search", OWN, "--kind", "message")["hits"]
    gone = reading.run("memory", "why", derived)
    assert (gone.code, "erased" in gone.out, "web:example.org was forgotten" in gone.out) == (0, True, True)
    assert told(reading, "why", derived)["item"] is None
    again = reading.run("memory", "forget", "--source", "web:example.org", "--yes")
    assert (again.code, "nothing in memory or journal is from 'web:example.org'" in again.err) == (3, True)


@pytest.mark.parametrize(("key", "is_gone"), [(b"y\n", True), (b"n\n", False), (b"\n", False)], ids=["yes", "no", "enter"])
def test_at_a_terminal_a_deletion_is_asked_about(daimon: Daimon, key: bytes, is_gone: bool) -> None:
    source = told(daimon, "learn", "owner", "The owner lives in Ulm.")["source"]
    sitting = Terminal(daimon, "memory", "forget", "--source", source, columns=200)
    try:
        sitting.wait_for("1 fact in memory, 1 entry in the journal")
        sitting.wait_for("[y/N] ")
        sitting.type(key)
        sitting.wait_for("deleted for good" if is_gone else "nothing was changed")
        assert sitting.process.wait(DEADLINE_S) == (0 if is_gone else 1)
    finally:
        sitting.close()
    assert (told(daimon, "list") == []) is is_gone


def test_at_a_terminal_a_restoring_shows_what_will_change(daimon: Daimon) -> None:
    kept = learnt(daimon, "The owner lives in Ulm.")
    sitting = Terminal(daimon, "memory", "restore", "--at", "2020-01-01", columns=200)
    try:
        sitting.wait_for(f"- {kept}")
        sitting.wait_for("1 would end, 0 would come back")
        sitting.wait_for("[y/N] ")
        sitting.type(b"yes\n")
        sitting.wait_for("restored: 1 ended, 0 came back")
        assert sitting.process.wait(DEADLINE_S) == 0
    finally:
        sitting.close()


def test_a_turn_under_way_keeps_its_words_and_the_error_says_so(daimon: Daimon) -> None:
    daimon.use_patient_model()
    daimon.up()
    sent = daimon.run("inject", "--json", given=b'{"type": "message", "text": "wait"}\n')
    event = json.loads(sent.out.splitlines()[0])["event"]
    wait_until((daimon.signs / "started").exists)
    turns = json.loads(daimon.run("turns", "--json").out)
    for source in (event, turns[0]["id"]):
        refused = daimon.run("memory", "forget", "--source", source, "--yes")
        assert (refused.code, "is not over" in refused.err, turns[0]["id"] in refused.err) == (4, True, True)


def test_an_export_is_taken_in_elsewhere_once(daimon: Daimon, tmp_path: Path) -> None:
    learnt(daimon, "The owner lives in Bonn.", "--about", "city")
    learnt(daimon, "The owner lives in Ulm.", "--about", "city")
    file = tmp_path / "kept.jsonl"
    assert daimon.run("memory", "export", str(file)).out == f"2 items in {file}\n"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert json.loads(file.read_text().splitlines()[0]) == {"format": "daimon-memory", "version": 1}
    assert daimon.run("memory", "export").out == file.read_text()
    refused = daimon.run("memory", "export", str(file))
    assert (refused.code, "there already" in refused.err) == (4, True)

    other = Daimon(tmp_path / "elsewhere", daimon.signs)
    assert other.run("memory", "import", str(file)).out == "2 taken in, 0 were known and stay as they are\n"
    assert other.run("memory", "import", "-", given=file.read_bytes()).out == "0 taken in, 2 were known and stay as they are\n"
    strip = ("source", "span")
    here, there = ([{k: v for k, v in item.items() if k not in strip} for item in told(each, "list", "--all")] for each in (daimon, other))
    assert here == there


def test_what_others_had_in_their_hands_is_not_the_owners_word(daimon: Daimon, tmp_path: Path) -> None:
    learnt(daimon, "The owner lives in Bonn.", "--about", "city")
    file = tmp_path / "kept.jsonl"
    daimon.run("memory", "export", str(file))
    other = Daimon(tmp_path / "elsewhere", daimon.signs)
    mine = learnt(other, "The owner lives in Ulm.", "--about", "city")
    assert other.run("memory", "import", "--untrusted", str(file)).code == 0
    standings = {item["id"]: item["standing"] for item in told(other, "list")}
    assert (standings.pop(mine), list(standings.values())) == ("holds", ["disputed"])
    assert told(other, "search", "Bonn", "--source", "import")["hits"]


SPOILT: tuple[tuple[Any, str], ...] = (
    (lambda lines: lines[1:], "line 1"),
    (lambda lines: ['{"format": "daimon-memory", "version": 2}', *lines[1:]], "line 1"),
    (lambda lines: [*lines, "{"], "line 4"),
    (lambda lines: [*lines, lines[1]], "line 4"),
    (lambda lines: [lines[0], lines[1].replace('"holds"', '"unheard of"'), lines[2]], "line 2"),
    (lambda lines: [*lines[:2], lines[2].replace('"kind":"fact"', '"kind":"fact","extra":1')], "line 3"),
    (lambda lines: [*lines[:2], lines[2].replace('"origins":[{"author":"owner","source":"memory"}]', '"origins":[]')], "line 3"),
    (lambda lines: [], "line 1"),
)


def test_one_bad_line_is_named_and_nothing_is_taken_in(daimon: Daimon, tmp_path: Path) -> None:
    for text in ("one", "two"):
        learnt(daimon, text)
    lines = daimon.run("memory", "export").out.splitlines()
    other = Daimon(tmp_path / "elsewhere", daimon.signs)
    for change, line in SPOILT:
        refused = other.run("memory", "import", "-", given="\n".join(change(lines)).encode())
        assert (refused.code, line in refused.err, "nothing was taken in" in refused.err) == (4, True, True), refused.err
    assert not other.home.exists()


def test_the_graph_is_asked_in_a_table_and_in_json(daimon: Daimon) -> None:
    daimon.run("chat", "My wife is called Berta.")
    query = "MATCH (a:Person)-[r]->(b:Person) RETURN a.name AS who, r, b"
    assert "(Person Berta)" in daimon.run("memory", "graph", query).out
    found = told(daimon, "graph", query)
    assert (found["columns"], found["rows"][0][2]["name"]) == (["who", "r", "b"], "Berta")
    wrong = daimon.run("memory", "graph", "MATCH (a) FOO")
    assert (wrong.code, "column 11" in wrong.err) == (4, True)


REFUSED: tuple[tuple[tuple[str, ...], int], ...] = (
    (("why", "note_none"), 3),
    (("forget", "note_none"), 3),
    (("forget",), 2),
    (("forget", "note_none", "--source", "web:x"), 2),
    (("forget", "--source", "web:nobody", "--yes"), 3),
    (("history", "nobody"), 3),
    (("search", "x", "--kind", "song"), 4),
    (("search", "x", "--since", "tuesday"), 4),
    (("restore", "--at", "2999-01-01", "--yes"), 4),
    (("learn", "owner", " "), 4),
    (("import", "/no/such/file"), 4),
    (("page", "remove", "note_none"), 3),
)


@BOTH
def test_bad_input_gets_a_sentence_and_an_exit_code(daimon: Daimon, is_up: bool) -> None:
    if is_up:
        daimon.up()
    else:
        learnt(daimon, "something")
    for words, code in REFUSED:
        done = daimon.run("memory", *words)
        assert (words, done.code, done.out, "Traceback" in done.err) == (words, code, "", False)


def test_looking_into_an_empty_home_leaves_it_empty(daimon: Daimon) -> None:
    for words in (("list",), ("search", "x"), ("page",), ("export",), ("forget", "--source", "x", "--yes")):
        assert daimon.run("memory", *words).code == 3
    assert not daimon.home.exists()
