"""Memory as the page shows it, through the API of a whole Daimon, and through the client that has the same port."""

import asyncio

import pytest
from tests.gateway.live import Live

from daimon.abi.errors import NotFound, Outdated
from daimon.abi.survey import Listing
from daimon.gateway.remote_memory import RemoteCurator


def test_the_overview_has_counts_and_the_page(daimon: Live) -> None:
    note = daimon.call("POST", "/v1/memory/items", {"text": "Be brief.", "on_page": True}).json
    found = daimon.get("/v1/room/memory")
    assert ([each["id"] for each in found["page"]["notes"]], found["characters"]) == ([note["id"]], 10)
    assert found["counts"]["holding"]["note"] >= 1


def test_long_texts_are_cut_in_lists_and_searches(daimon: Live) -> None:
    made = daimon.call("POST", "/v1/memory/items", {"text": "wombat " * 500}).json
    for path in ("items?kind=note&limit=1", "search?text=wombat&limit=1"):
        (row,) = daimon.get(f"/v1/room/memory/{path}")["rows"]
        assert (row["item"]["id"], row["is_cut"], len(row["item"]["text"])) == (made["id"], True, 1_000)
    assert len(daimon.get(f"/v1/memory/items/{made['id']}")["item"]["text"]) > 3_000


def test_a_change_of_what_was_replaced_meanwhile_is_refused(daimon: Live) -> None:
    made = daimon.call("POST", "/v1/memory/facts", {"subject": "Anna", "statement": "one"}).json
    place = f"/v1/room/memory/items/{made['id']}"
    assert daimon.call("PUT", place, {"text": "two"}).json["supersedes"] == [made["id"]]
    answer = daimon.call("PUT", place, {"text": "three"})
    assert (answer.status, answer.code) == (409, "outdated")


def test_the_client_has_all_of_the_port(daimon: Live) -> None:
    remote = RemoteCurator(daimon.home.socket)

    async def through() -> None:
        odd = await remote.learn("a/b ?c", "An odd name.", "x")
        new = await remote.correct(odd.id, "Still odd.")
        with pytest.raises(Outdated):
            await remote.correct(odd.id, "Too late.")
        await remote.forget(new.id)
        back = await remote.bring_back(new.id)
        found = await remote.listed(Listing(subject="a/b ?c", standing="any", limit=2))
        assert ([item.text for item in found.items], found.total, bool(found.next)) == (["Still odd.", "Still odd."], 3, True)
        assert [item.text for item in (await remote.listed(Listing(subject="a/b ?c", standing="any", after=found.next))).items] == [
            "An odd name."
        ]
        assert [fact.id for fact in (await remote.portrait("a/b ?c")).facts] == [back.id]
        assert "a/b ?c" in {each.name for each in (await remote.things("", 200)).things}
        assert "memory" in {each.source for each in await remote.springs()}
        assert (await remote.turned(1))[0].item.id == back.id
        assert (await remote.counts()).holding["fact"] >= 1
        with pytest.raises(NotFound):
            await remote.portrait("nobody at all")

    asyncio.run(through())


@pytest.mark.parametrize(
    ("method", "path", "body", "status"),
    [
        ("GET", "search", None, 400),
        ("GET", "search?text=x&limit=201", None, 400),
        ("GET", "items?after=x", None, 400),
        ("GET", "items?standing=sitting", None, 400),
        ("GET", "thing?name=nobody", None, 404),
        ("GET", "thing", None, 400),
        ("GET", "rewind?to=tuesday", None, 400),
        ("POST", "rewind", {"to": "2999-01-01T00:00:00Z"}, 400),
        ("PUT", "items/note_none", {"text": "x"}, 404),
        ("PUT", "items/note_none", {"words": "x"}, 400),
        ("POST", "back/note_none", {}, 404),
    ],
)
def test_bad_requests_get_a_clear_error(daimon: Live, method: str, path: str, body: dict[str, object] | None, status: int) -> None:
    answer = daimon.call(method, f"/v1/room/memory/{path}", body)
    assert (answer.status, answer.code) == (status, "not_found" if status == 404 else "bad_input")
