"""An agent at work on layers, in a whole Daimon: what it does is checkpointed, recorded, taken back, and survives a restart."""

import asyncio
import json
import os
import shlex
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from daimon.abi.step import Checkpointed, Happened, Step
from daimon.abi.turn import State
from daimon.abi.workspace import CheckpointId, WorkspaceId
from daimon.boot import running
from daimon.config import Home, Model, Sandbox, Settings
from daimon.extension import Kit
from daimon.gateway.client import Client
from daimon.gateway.remote import RemoteWorkspaces
from daimon.sandbox.plan import has_bwrap
from daimon.sites import Sites
from daimon.testing.clock import ManualClock
from daimon.testing.model import ScriptedModel, calls, says

pytestmark = pytest.mark.skipif(not has_bwrap(), reason="bwrap is not installed: no box can be made")
MODELS: dict[str, ScriptedModel] = {}
OWN = WorkspaceId("w1")


def extend(kit: Kit) -> None:
    kit.models.update(MODELS)


@dataclass(frozen=True, slots=True)
class Agent:
    client: Client
    workspaces: RemoteWorkspaces
    project: Path

    async def does(self, *lines: Any) -> list[Step]:
        """One turn in which the model makes these calls, one after the other."""
        MODELS["scripted"].add(*(calls(line) for line in lines), says("done"))
        taken = await asyncio.to_thread(self.client.send, json.dumps({"type": "message", "text": "go"}).encode())
        async with asyncio.timeout(120):
            while True:
                turn = (await asyncio.to_thread(self.client.event, taken.event)).turn
                if turn is not None and turn.state not in (State.QUEUED, State.RUNNING):
                    return list((await asyncio.to_thread(self.client.trace, turn.id)).steps)
                await asyncio.sleep(0.01)

    async def runs(self, command: str, **more: Any) -> dict[str, Any]:
        steps = await self.does(("run", {"command": command, **more}))
        return told(steps)[-1]


@asynccontextmanager
async def agent(place: Path, role: str = "worker", layers_mb: int = 20_000) -> AsyncIterator[Agent]:
    project = place / "project"
    project.mkdir(exist_ok=True)
    MODELS["scripted"] = ScriptedModel([])
    sandbox = Sandbox(workspace=str(project), role=role, layers_mb=layers_mb)
    settings = Settings(model=Model(use="scripted"), extensions=(__name__,), sandbox=sandbox)
    home = Home(place / "home")
    async with running(home, settings, port=0):
        yield Agent(Client(home.socket), RemoteWorkspaces(home.socket), project)


def outcomes(steps: Sequence[Step]) -> list[Happened]:
    return [step.body for step in steps if isinstance(step.body, Happened)]


def told(steps: Sequence[Step]) -> list[dict[str, Any]]:
    return [json.loads(outcome.result.parts[0].text)["data"] for outcome in outcomes(steps)]  # type: ignore[union-attr]


def points(steps: Sequence[Step]) -> list[str]:
    return [step.body.ref for step in steps if isinstance(step.body, Checkpointed)]


async def test_every_changing_call_has_its_checkpoint_and_its_files_on_record_and_the_owner_s_directory_stays(tmp_path: Path) -> None:
    async with agent(tmp_path) as daimon:
        (daimon.project / "a.txt").write_text("one\n")
        steps = await daimon.does(
            ("read_file", {"path": "a.txt"}),
            ("write_file", {"path": "b.txt", "content": "new\n"}),
            ("run", {"command": "rm a.txt; mkdir sub; echo x > sub/c"}),
        )
        assert len(points(steps)) == 2
        read, wrote, ran = outcomes(steps)
        assert read.touched == ()
        assert [(each.what, each.outcome) for each in wrote.touched] == [("b.txt", "added")]
        assert {(each.what, each.outcome) for each in ran.touched if each.kind == "file"} >= {("a.txt", "removed"), ("sub/c", "added")}
        assert os.listdir(daimon.project) == ["a.txt"]
        assert [change.path for change in await daimon.workspaces.diff(OWN, CheckpointId(points(steps)[1]))] == ["a.txt", "sub", "sub/c"]


async def test_undo_goes_back_under_an_open_shell_which_is_told(tmp_path: Path) -> None:
    async with agent(tmp_path) as daimon:
        await daimon.runs("mkdir sub && echo one > sub/a; export KEPT=yes")
        await daimon.runs("cd sub; export LATER=yes; echo two > a")
        await daimon.workspaces.undo()
        after = await daimon.runs("pwd; cat sub/a; echo [$KEPT] [$LATER]")
        assert after["output"].splitlines() == ["/workspace/project", "one", "[yes] []"]
        assert "began anew" in after["lost"]


async def test_what_a_shell_knew_is_there_after_a_restart(tmp_path: Path) -> None:
    async with agent(tmp_path) as daimon:
        await daimon.runs("mkdir -p deep/er && cd deep/er && export COLOUR=blue && greet() { echo hello $1; } && alias ll='ls -l'")
        await daimon.runs("echo kept > file; export LAST=command")
    async with agent(tmp_path) as daimon:
        after = await daimon.runs("pwd; echo $COLOUR $LAST; greet you; cat file; alias ll")
        assert after["output"].splitlines() == ["/workspace/project/deep/er", "blue command", "hello you", "kept", "alias ll='ls -l'"]


async def test_the_files_driver_and_a_shell_see_the_same_tree(tmp_path: Path) -> None:
    async with agent(tmp_path) as daimon:
        steps = await daimon.does(
            ("run", {"command": "echo from-shell > a"}),
            ("read_file", {"path": "a"}),
            ("write_file", {"path": "b", "content": "from-driver"}),
            ("run", {"command": "cat b; stat -c %U b; rm b"}),
            ("list_files", {}),
        )
        _, read, _, ran, listed = told(steps)
        assert read["text"] == "from-shell\n"
        assert ran["output"].splitlines() == ["from-driveragent"]
        assert listed["entries"] == ["a (11)"]


async def test_a_program_that_holds_files_open_is_said_with_the_checkpoint_and_goes_on(tmp_path: Path) -> None:
    script = "import time\nf = open('log', 'a', buffering=1)\nwhile True:\n    f.write('x\\n')\n    time.sleep(0.05)\n"
    async with agent(tmp_path) as daimon:
        await daimon.runs(f"python3 -c {shlex.quote(script)} > /dev/null 2>&1 &")
        first = await daimon.runs("until test -s log; do sleep 0.01; done; wc -c < log")
        size = int(first["output"].split()[-1])
        later = await daimon.runs(f"until test $(wc -c < log) -gt {size}; do sleep 0.01; done; echo it goes on")
        assert later["output"].strip() == "it goes on"


SERVER = """
import http.server, os, socketserver
class Server(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *words):
        print(*words, file=open('/workspace/project/log', 'a'))
held = open('page')
socketserver.TCPServer.allow_reuse_address = True
server = socketserver.TCPServer(('127.0.0.1', 8123), Server)
print('up', flush=True)
server.serve_forever()
"""
GET = "python3 -c 'import urllib.request as r; print(r.urlopen(\"http://127.0.0.1:8123/page\", timeout=20).read().decode())'"


@pytest.mark.parametrize("how", ["service", "job"])
async def test_a_server_serves_what_was_written_after_it_was_started_and_each_checkpoint_is_another(tmp_path: Path, how: str) -> None:
    async with agent(tmp_path) as daimon:
        (daimon.project / "page").write_text("one")
        (daimon.project / "serve.py").write_text(SERVER)
        if how == "service":
            await daimon.does(("service", {"action": "start", "name": "web", "command": "python3 serve.py > up"}))
        else:
            await daimon.runs("python3 serve.py > up &")
        await daimon.runs("until grep -q up up; do sleep 0.01; done")
        said = []
        ids = []
        for text in ("two", "three", "four"):
            steps = await daimon.does(("write_file", {"path": "page", "content": text, "overwrite": True}), ("run", {"command": GET}))
            said.append(told(steps)[-1]["output"].strip())
            ids.append(CheckpointId(points(steps)[-1]))
        assert said == ["two", "three", "four"]
        assert len({*ids}) == 3
        for before, after in pairwise(ids):
            changes = await daimon.workspaces.diff(OWN, before, after)
            assert "page" in {change.path for change in changes}
        log = await daimon.runs("grep -c GET log")
        assert int(log["output"]) >= 3, "what it writes is seen too"
        done = await daimon.workspaces.restore(OWN, ids[0])
        by_copies = (await daimon.workspaces.list())[0].engine == "copies"  # then there is only one tree
        assert by_copies or any("still on the old files" in note for note in done.notes)
        assert (await daimon.runs("cat page"))["output"] == "two"
        if how == "service":  # it is started again, on the files that are there now
            wait = "until python3 -c 'import socket; socket.create_connection((\"127.0.0.1\", 8123))' 2>/dev/null; do sleep 0.05; done"
            assert (await daimon.runs(f"{wait}; {GET}"))["output"].strip() == "two"


async def test_a_fork_knows_what_the_shells_knew_and_leaves_them_alone(tmp_path: Path) -> None:
    async with agent(tmp_path) as daimon:
        await daimon.runs("echo one > a; export COLOUR=blue")
        fork = await daimon.workspaces.fork(OWN, "rehearsal")
        states = (await daimon.workspaces.checkpoints(OWN))[0].state
        assert isinstance(states, dict)
        assert "blue" in json.dumps(states)
        ran = await daimon.workspaces.run(fork.id, ("sh", "-c", "cat a; echo two > a"), "worker")
        assert (ran.code, ran.out, [change.path for change in ran.changes]) == (0, "one\n", ["a"])
        assert (await daimon.runs("cat a; echo $COLOUR"))["output"] == "one\nblue\n"
        assert (await daimon.workspaces.merge(fork.id, OWN)).conflicts == ()
        assert (await daimon.runs("cat a"))["output"] == "two\n"


async def test_a_role_with_patterns_works_in_its_shell_over_checkpoints_and_not_beyond_them(tmp_path: Path) -> None:
    (tmp_path / "project" / "src").mkdir(parents=True)
    async with agent(tmp_path, "refactorer") as daimon:
        await daimon.runs("cd src && export COLOUR=blue && echo one > a.py")
        after = await daimon.runs("echo two >> a.py && cat a.py && pwd && echo $COLOUR")
        assert after["output"].split() == ["one", "two", "/workspace/project/src", "blue"]
        assert "lost" not in after
        assert (await daimon.runs("echo x > ../Jenkinsfile"))["exit"] != 0


async def test_one_that_only_reads_reads_what_others_wrote_meanwhile(tmp_path: Path) -> None:
    async with agent(tmp_path) as daimon:
        await daimon.runs("echo one > a")
    async with agent(tmp_path, "analyst") as daimon:
        assert (await daimon.runs("cat a"))["output"] == "one\n"
        assert (await daimon.runs("echo two > a"))["exit"] != 0
        (refused,) = outcomes(await daimon.does(("write_file", {"path": "a", "content": "two"})))
        assert refused.code == "not_allowed"
        assert (await daimon.runs("cat a"))["output"] == "one\n"


async def test_the_whole_workspace_can_be_searched(tmp_path: Path) -> None:
    async with agent(tmp_path) as working:
        (working.project / "below").mkdir()
        (working.project / "below/a.py").write_text("needle\n")
        await working.runs("echo needle > b.txt; mkdir -p .git; echo needle > .git/c")
        found = told(
            await working.does(("search_files", {"pattern": "needle"}), ("search_files", {"pattern": "needle", "glob": "below/*.py"}))
        )
    assert [each["hits"] for each in found] == ["b.txt\n1: needle\nbelow/a.py\n1: needle", "below/a.py\n1: needle"]


async def test_old_checkpoints_are_thinned_out_while_daimon_runs(tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    clock = ManualClock()
    sites = await Sites.opened(tmp_path / "workspaces", tmp_path / "project", 59_001, clock, 600)
    own = await sites.own()
    store = Path(sites._store.store_of(own))
    for number in range(5):
        (store / sites._store.stack_of(own).live / "tree" / str(number)).write_text("x")
        await sites.checkpoint(own, "work")
    tending = asyncio.create_task(sites.tend())
    try:
        async with asyncio.timeout(60):
            await clock.advance(3_600.0)
            assert len(await sites.checkpoints(own)) == 6
            while len(await sites.checkpoints(own)) > 3:
                await clock.advance(3_600.0)
    finally:
        tending.cancel()
        await asyncio.wait([tending])
        await sites.close()


async def test_work_goes_on_after_the_agent_s_own_workspace_was_discarded(tmp_path: Path) -> None:
    async with agent(tmp_path) as daimon:
        (daimon.project / "mine").write_text("mine")
        await daimon.does(("write_file", {"path": "a", "content": "one"}))
        await daimon.workspaces.discard(OWN)
        steps = await daimon.does(("list_files", {}), ("write_file", {"path": "b", "content": "two"}))
        assert told(steps)[0]["entries"] == ["mine (4)"]
        assert outcomes(steps)[1].code == ""


async def test_files_written_and_removed_call_by_call_do_not_fill_the_disk_and_the_shell_goes_on(tmp_path: Path) -> None:
    async with agent(tmp_path, layers_mb=100) as daimon:
        await daimon.runs("cd /; cd - >/dev/null; mkdir -p kept; echo x > kept/first; cd kept")
        for number in range(16):
            steps = await daimon.does(
                ("run", {"command": f"head -c 8000000 /dev/urandom > large{number}; ls"}),
                ("run", {"command": f"rm large{number}; echo {number} > small{number}"}),
            )
            assert [each["exit"] for each in told(steps)] == [0, 0], told(steps)
        seen = await daimon.runs("ls; cat first")
        workspaces = tmp_path / "home/workspaces"
        files = [path.lstat() for path in workspaces.rglob("*") if path.is_file()]
    assert set(seen["output"].split()) == {"first", *(f"small{number}" for number in range(16)), "x"}
    assert sum({found.st_ino: found.st_blocks * 512 for found in files}.values()) <= 110_000_000
    assert os.listdir(tmp_path / "project") == []


async def test_a_call_for_which_there_is_no_room_is_refused_and_undo_is_not(tmp_path: Path) -> None:
    async with agent(tmp_path, layers_mb=100) as daimon:
        await daimon.runs("head -c 60000000 /dev/urandom > one")
        await daimon.runs("head -c 60000000 /dev/urandom > two")
        (refused,) = outcomes(await daimon.does(("run", {"command": "echo more"})))
        assert "sandbox.layers_mb" in str(refused.result)
        await daimon.workspaces.undo(OWN)
        assert [change.path for change in await daimon.workspaces.diff(OWN)] == ["one"]


@pytest.mark.skipif("DAIMON_TEST_ON_OVERLAY" in os.environ, reason="a copy has the owner's edits when it is made anew, not before")
async def test_a_file_that_the_owner_changed_is_told_before_the_model_is_asked_until_it_is_read_again(tmp_path: Path) -> None:
    async with agent(tmp_path) as made:
        (made.project / "a.txt").write_text("one")
        (made.project / "b.txt").write_text("one")
        await made.does(("read_file", {"path": "./a.txt"}), ("read_file", {"path": "b.txt"}))
        (made.project / "a.txt").write_text("two")
        await made.does()
        assert "changed since you read it: a.txt" in _notice()
        assert "b.txt" not in _notice()
        await made.does(("read_file", {"path": "a.txt"}))
        await made.does()
        assert not _notice()


def _notice() -> str:
    """Of the last request."""
    last = MODELS["scripted"].requests[-1].messages[-1].text
    return last if last.startswith("[now]") else ""
