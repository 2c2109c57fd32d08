"""A workspace as the page shows it, through the API of a whole Daimon."""

from pathlib import Path

import pytest
from tests.gateway.live import Live

from daimon.sandbox.plan import has_bwrap

needs_bwrap = pytest.mark.skipif(not has_bwrap(), reason="bwrap is not installed: no box can be made")


@pytest.fixture
def workspace(daimon: Live, tmp_path: Path) -> str:
    (tmp_path / "project").mkdir()
    (tmp_path / "project/a.txt").write_text("one\n")
    return str(daimon.call("POST", "/v1/workspaces", {"directory": str(tmp_path / "project")}).json["id"])


@needs_bwrap
def test_the_tree_has_forks_merges_and_the_run_that_made_a_checkpoint(daimon: Live, workspace: str) -> None:
    fork = daimon.call("POST", f"/v1/workspaces/{workspace}/fork", {"name": f"of {workspace}"}).json["id"]
    daimon.call("POST", f"/v1/workspaces/{fork}/run", {"command": ["touch", "b.txt"]})
    daimon.call("POST", f"/v1/workspaces/{fork}/merge", {"into": workspace})
    daimon.call("POST", f"/v1/workspaces/{workspace}/run", {"command": ["touch", "c.txt"]})
    daimon.call("POST", f"/v1/workspaces/{workspace}/checkpoints", {"why": "before write_file (t01jx:4)"})
    tree = daimon.get(f"/v1/room/workspaces/{workspace}")
    assert (tree["workspace"]["id"], {each["id"] for each in tree["family"]}) == (workspace, {workspace, fork})
    newest, merged, *_ = tree["points"]
    assert (newest["why"], newest["turn"], newest["step"]) == ("before write_file", "t01jx", 4)
    assert (merged["workspace"], merged["turn"]) == (workspace, "")
    assert merged["merged"] in {point["id"] for point in tree["points"] if point["workspace"] == fork}
    assert "state" not in newest


@needs_bwrap
def test_changes_come_in_pages_in_the_order_of_names(daimon: Live, workspace: str) -> None:
    daimon.call("POST", f"/v1/workspaces/{workspace}/run", {"command": ["sh", "-c", "mkdir d; touch d/x b c; rm a.txt"]})
    seen: list[str] = []
    after = ""
    for _ in range(3):
        page = daimon.get(f"/v1/room/workspaces/{workspace}/changes?limit=2&after={after}")
        assert page["tally"] == {"added": 4, "changed": 0, "removed": 1, "directories": 1}
        seen += [row["path"] for row in page["rows"]]
        after = page["next"]
    assert (seen, after) == (["a.txt", "b", "c", "d", "d/x"], "")


@needs_bwrap
def test_what_is_foreseen_of_many_files_is_cut_and_counted(daimon: Live, workspace: str) -> None:
    daimon.call("POST", f"/v1/workspaces/{workspace}/run", {"command": ["sh", "-c", "for i in $(seq 150); do echo > f$i; done"]})
    answer = daimon.call("POST", f"/v1/room/workspaces/{workspace}/foresight", {"do": "apply"})
    assert (answer.status, answer.json["tally"]["added"], len(answer.json["rows"])) == (200, 150, 100)


@pytest.mark.parametrize(
    ("method", "path", "body", "status"),
    [
        ("GET", "w999999", None, 404),
        ("GET", "w999999/changes", None, 404),
        ("GET", "{id}/changes?since=c99999999", None, 404),
        ("GET", "{id}/changes?since=nonsense", None, 400),
        ("GET", "{id}/changes?limit=0", None, 400),
        ("POST", "{id}/foresight", {"do": "explode"}, 400),
        ("POST", "{id}/foresight", {"do": "restore"}, 400),
        ("POST", "{id}/foresight", {"do": "merge", "into": "w999999"}, 404),
        ("POST", "{id}/foresight", {"do": "undo"}, 400),
        ("POST", "{id}/foresight", {"do": "undo", "nonsense": 1}, 400),
    ],
)
def test_bad_requests_get_a_clear_error(
    daimon: Live, workspace: str, method: str, path: str, body: dict[str, object] | None, status: int
) -> None:
    answer = daimon.call(method, f"/v1/room/workspaces/{path.format(id=workspace)}", body)
    assert (answer.status, answer.code) == (status, "not_found" if status == 404 else "bad_input")
