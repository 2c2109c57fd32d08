"""Workspaces through the HTTP API of a whole Daimon, and through the client that the command line uses."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.gateway.live import Live, live

from daimon.abi.errors import BadInput, NotFound
from daimon.abi.workspace import CheckpointId, WorkspaceId
from daimon.gateway.remote import RemoteWorkspaces
from daimon.sandbox.plan import has_bwrap

needs_bwrap = pytest.mark.skipif(not has_bwrap(), reason="bwrap is not installed: no box can be made")


@pytest.fixture(scope="module")
def daimon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    with live(tmp_path_factory.mktemp("workspaces") / "home") as running:
        yield running


@pytest.fixture
def project(tmp_path: Path) -> Path:
    place = tmp_path / "project"
    place.mkdir()
    (place / "a.txt").write_text("one\n")
    return place


def made(daimon: Live, project: Path) -> str:
    answer = daimon.call("POST", "/v1/workspaces", {"directory": str(project)})
    assert answer.status == 201
    return str(answer.json["id"])


@needs_bwrap
def test_a_rehearsal_in_a_fork_is_merged_applied_and_taken_back(daimon: Live, project: Path) -> None:
    workspace = made(daimon, project)
    fork = daimon.call("POST", f"/v1/workspaces/{workspace}/fork", {"name": "rehearsal"}).json["id"]
    ran = daimon.call("POST", f"/v1/workspaces/{fork}/run", {"command": ["sh", "-c", "echo two >> a.txt; echo new > b.txt; exit 7"]})
    assert (ran.status, ran.json["code"], [change["path"] for change in ran.json["changes"]]) == (200, 7, ["a.txt", "b.txt"])
    assert (project / "a.txt").read_text() == "one\n"
    assert daimon.get(f"/v1/workspaces/{workspace}/diff") == []
    merged = daimon.call("POST", f"/v1/workspaces/{fork}/merge", {"into": workspace})
    assert (merged.status, merged.json["did"], merged.json["conflicts"]) == (200, "merge", [])
    assert "+two" in daimon.get(f"/v1/workspaces/{workspace}/text")["text"]
    assert "+two" not in daimon.get(f"/v1/workspaces/{workspace}/text?path=b.txt")["text"]
    daimon.call("POST", f"/v1/workspaces/{workspace}/apply", {})
    assert ((project / "a.txt").read_text(), (project / "b.txt").read_text()) == ("one\ntwo\n", "new\n")
    undone = daimon.call("POST", "/v1/undo", {"workspace": workspace})
    assert (undone.status, (project / "a.txt").read_text(), (project / "b.txt").exists()) == (200, "one\n", False)
    assert daimon.call("DELETE", f"/v1/workspaces/{fork}").json == {"discarded": fork}
    assert fork not in {each["id"] for each in daimon.get("/v1/workspaces")}


@needs_bwrap
def test_what_cannot_be_merged_is_a_conflict_and_changes_nothing(daimon: Live, project: Path) -> None:
    workspace = made(daimon, project)
    fork = daimon.call("POST", f"/v1/workspaces/{workspace}/fork", {}).json["id"]
    for where, word in ((fork, "fork"), (workspace, "own")):
        daimon.call("POST", f"/v1/workspaces/{where}/run", {"command": ["sh", "-c", f"echo {word} > a.txt"]})
    answer = daimon.call("POST", f"/v1/workspaces/{fork}/merge", {"into": workspace})
    assert (answer.status, [each["path"] for each in answer.json["conflicts"]]) == (409, ["a.txt"])
    assert "+own" in daimon.get(f"/v1/workspaces/{workspace}/text")["text"]


@needs_bwrap
def test_a_name_that_is_no_text_can_be_told(daimon: Live, project: Path) -> None:
    workspace = made(daimon, project)
    ran = daimon.call("POST", f"/v1/workspaces/{workspace}/run", {"command": ["sh", "-c", "touch $(printf 'a\\377b')"]})
    assert (ran.status, len(ran.json["changes"])) == (200, 1)
    assert len(daimon.get(f"/v1/workspaces/{workspace}/diff")) == 1


@pytest.mark.parametrize(
    ("method", "path", "body", "status"),
    [
        ("POST", "/v1/workspaces", {}, 400),
        ("POST", "/v1/workspaces", {"directory": "/no/such/place"}, 400),
        ("POST", "/v1/workspaces", {"directory": 7}, 400),
        ("POST", "/v1/workspaces", {"nonsense": "x"}, 400),
        ("POST", "/v1/workspaces", b"{", 400),
        ("GET", "/v1/workspaces/w999/diff", None, 404),
        ("POST", "/v1/workspaces/w999/run", {"command": ["true"]}, 404),
        ("POST", "/v1/workspaces/w999/run", {}, 400),
        ("DELETE", "/v1/workspaces/w999", None, 404),
        ("POST", "/v1/workspaces/w999/merge", {}, 400),
        ("POST", "/v1/undo", {"workspace": "w999"}, 404),
    ],
)
def test_bad_requests_get_a_clear_error(daimon: Live, method: str, path: str, body: dict[str, object] | bytes | None, status: int) -> None:
    answer = daimon.call(method, path, body)
    assert (answer.status, answer.code) == (status, "not_found" if status == 404 else "bad_input")


def test_the_client_raises_what_the_server_raised(daimon: Live, project: Path) -> None:
    remote = RemoteWorkspaces(daimon.home.socket)

    async def through() -> None:
        workspace = (await remote.new(str(project), "mine")).id
        point = (await remote.checkpoint(workspace, "now")).id
        assert point in {each.id for each in await remote.checkpoints(workspace)}
        assert (await remote.restore(workspace, point)).changes == ()
        with pytest.raises(NotFound, match="c999"):
            await remote.restore(workspace, CheckpointId("c999"))
        with pytest.raises(NotFound, match="w999"):
            await remote.discard(WorkspaceId("w999"))
        with pytest.raises(BadInput):
            await remote.new("/no/such/place")

    asyncio.run(through())
