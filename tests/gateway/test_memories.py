"""Memory through the HTTP API of a whole Daimon, and through the client that the command line uses."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from urllib.parse import quote

import pytest
from tests.gateway.live import Live

from daimon.abi.errors import BadInput, NotFound
from daimon.abi.ids import HOME_SPACE, OWNER
from daimon.abi.label import Author, Label, Origin, owned
from daimon.abi.memory import Item, Query
from daimon.gateway.remote_memory import RemoteCurator

WEB = Label.of(Origin(Author.STRANGER, "web:example.org"), readers=(OWNER,))


def test_a_fact_is_learnt_found_explained_and_forgotten(daimon: Live) -> None:
    made = daimon.call("POST", "/v1/memory/facts", {"subject": "Anna", "statement": "Anna lives in Ulm.", "about": "city"})
    assert (made.status, made.json["standing"]) == (201, "holds")
    place = f"/v1/memory/items/{made.json['id']}"
    assert made.json["id"] in found(daimon)
    assert daimon.get(place)["origin"]["ref"] == made.json["source"]
    assert made.json["id"] in {item["id"] for item in daimon.get("/v1/memory/items?kind=fact")}
    assert [item["text"] for item in daimon.get("/v1/memory/history?about=Anna")] == ["Anna lives in Ulm."]
    gone = daimon.call("DELETE", place)
    assert (gone.status, gone.json["standing"]) == (200, "forgotten")
    assert made.json["id"] not in found(daimon)


def found(daimon: Live) -> list[str]:
    """Once the model for it is loaded, what others left is found by its meaning too."""
    return [hit["item"]["id"] for hit in daimon.get("/v1/memory/search?text=Ulm&kind=fact")["hits"]]


def test_a_source_is_counted_then_deleted(daimon: Live) -> None:
    note = daimon.call("POST", "/v1/memory/items", {"text": "a quokka smiles"}).json
    where = f"/v1/memory/source?name={quote(note['source'])}"
    foreseen = daimon.get(where)
    assert (foreseen["items"], foreseen["payloads"]) == ({"note": 1}, 1)
    assert daimon.call("DELETE", where).json == foreseen
    assert (daimon.get(f"/v1/memory/items/{note['id']}")["item"], daimon.call("DELETE", where).status) == (None, 404)


def test_the_page_is_shown_added_to_and_taken_from(daimon: Live) -> None:
    note = daimon.call("POST", "/v1/memory/items", {"text": "Be brief.", "on_page": True}).json["id"]
    assert [each["id"] for each in daimon.get("/v1/memory/page")["notes"]] == [note]
    assert daimon.call("DELETE", f"/v1/memory/page/{note}").json["on_page"] is False
    assert daimon.get("/v1/memory/page")["notes"] == []


def test_of_many_who_add_to_the_page_at_once_those_who_find_no_room_are_told(daimon: Live) -> None:
    with ThreadPoolExecutor(8) as many:
        added = list(many.map(lambda n: daimon.call("POST", "/v1/memory/items", {"text": f"{n} " * 500, "on_page": True}), range(8)))
    page = daimon.get("/v1/memory/page")
    there = [each.json["id"] for each in added if each.status == 201]
    assert {note["id"] for note in page["notes"]} == set(there)
    assert {each.code for each in added if each.status != 201} == {"bad_input"}
    assert page["left_out"] == []
    for id_ in there:
        assert daimon.call("DELETE", f"/v1/memory/items/{id_}").status == 200


@pytest.mark.parametrize(
    ("method", "path", "body", "status"),
    [
        ("GET", "search?kind=song", None, 400),
        ("GET", "search?since=tuesday", None, 400),
        ("GET", "search?since=2026-01-01T00:00:00", None, 400),
        ("GET", "search?limit=0", None, 400),
        ("GET", "items?limit=999999999", None, 400),
        ("GET", "items/note_none", None, 404),
        ("DELETE", "items/note_none", None, 404),
        ("DELETE", "page/note_none", None, 404),
        ("GET", "history", None, 400),
        ("GET", "source", None, 400),
        ("DELETE", "source?name=web:nobody", None, 404),
        ("GET", "rewind", None, 400),
        ("POST", "rewind", {"to": "2999-01-01T00:00:00Z"}, 400),
        ("POST", "rewind", {}, 400),
        ("POST", "items", {"text": ""}, 400),
        ("POST", "items", {"text": "x", "nonsense": 1}, 400),
        ("POST", "items", b"{", 400),
        ("POST", "facts", {"subject": "x"}, 400),
        ("POST", "import", {"items": [{"id": "x"}]}, 400),
        ("POST", "graph", {"query": "DROP TABLE items"}, 400),
    ],
)
def test_bad_requests_get_a_clear_error(daimon: Live, method: str, path: str, body: dict[str, object] | bytes | None, status: int) -> None:
    answer = daimon.call(method, f"/v1/memory/{path}", body)
    assert (answer.status, answer.code) == (status, "not_found" if status == 404 else "bad_input")


def test_an_import_that_is_too_large_is_refused_before_it_is_read(daimon: Live) -> None:
    assert daimon.call("POST", "/v1/memory/import", b"x" * ((8 << 20) + 1)).status == 413


def test_memory_needs_the_token(daimon: Live) -> None:
    assert daimon.call_as("GET", "/v1/memory/items", None, {}).status == 401


def test_the_client_does_all_that_the_port_has(daimon: Live) -> None:
    remote = RemoteCurator(daimon.home.socket)
    brought = Item(
        id="note_brought", kind="note", text="brought from elsewhere", at=datetime(2026, 1, 2, tzinfo=UTC), label=WEB, source="x"
    )

    async def through() -> None:
        odd = await remote.learn("a/b c?d", "A strange name.", "x")
        assert [item.id for item in await remote.history("a/b c?d")] == [odd.id]
        assert (await remote.take_in((brought,), True)).new == 1
        assert (await remote.take_in((brought,), True)).known == 1
        found = await remote.search(Query(space=HOME_SPACE, principal=OWNER, text="brought", source="web:example.org", limit=3))
        assert [(hit.item.id, hit.item.label) for hit in found.hits] == [("note_brought", WEB)]
        since = datetime(2026, 1, 3, tzinfo=UTC)
        later = await remote.search(Query(space=HOME_SPACE, principal=OWNER, text="brought", since=since))
        assert "note_brought" not in {hit.item.id for hit in later.hits}  # younger ones are found by meaning, once that is loaded
        account = await remote.why("note_brought")
        assert account.origin is not None
        assert (account.origin.what, account.origin.text) == ("amendment", "brought from elsewhere")
        assert account.item is not None
        kept = await remote.forget("note_brought")
        assert kept.ended_at is not None
        foreseen = await remote.foresee_rewinding(kept.ended_at - timedelta(microseconds=1))
        assert [item.id for item in foreseen.returned] == ["note_brought"]
        done = await remote.rewind(foreseen.to)
        assert (done.ended, [item.id for item in done.returned]) == (foreseen.ended, ["note_brought"])
        assert (await remote.foresee_forgetting("web:example.org")).items == {"note": 2}
        assert (await remote.forget_source("web:example.org")).items == {"note": 2}
        assert (await remote.why("note_brought")).item is None
        note = await remote.remember("on the page", True)
        assert note.label == owned("memory")
        assert (await remote.take_off(note.id)).text == "on the page"
        assert (await remote.page()).notes == ()
        assert (await remote.ask_graph("MATCH (a:Nobody) RETURN a")).rows == ()
        with pytest.raises(NotFound, match="note_none"):
            await remote.why("note_none")
        with pytest.raises(BadInput, match="column"):
            await remote.ask_graph("MATCH")

    asyncio.run(through())
