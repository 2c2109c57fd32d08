"""A checkpoint before a call that changes files, and what it changed, on record."""

import os
from pathlib import Path

from tests.kernel.rig import Tool, kernel, kinds, outcomes, result_text

from daimon.abi.errors import ToolFailed
from daimon.abi.label import EMPTY, Author, Label, Origin
from daimon.abi.step import Checkpointed
from daimon.abi.tool import Call, Capability, Effect, Result, Touched
from daimon.kernel.files import MOST_TOLD
from daimon.policy.agents import Terms
from daimon.testing.model import calls, says
from daimon.vault.redact import Known


class Directory:
    """Checkpoints of a real directory: what it holds is what changed."""

    def __init__(self, path: Path, why_not: str = "") -> None:
        self.path, self.why_not, self.made = path, why_not, 0

    async def before(self, call: Call, why: str) -> str:
        if self.why_not:
            raise ToolFailed("disk_full", self.why_not, retryable=True)
        for file in self.path.iterdir():
            file.unlink()
        self.made += 1
        return f"c{self.made}"

    def label(self, call: Call) -> Label:
        return EMPTY

    async def since(self, call: Call) -> tuple[Touched, ...]:
        return tuple(Touched("file", file.name, "added") for file in sorted(self.path.iterdir()))


def writer(path: Path, name: str = "write", files: tuple[str, ...] = ("a",)) -> Tool:
    async def write(*_: object) -> Result:
        for file in files:
            (path / file).write_text("x")
        return Result({"wrote": len(files)})

    return Tool(name, behaviour=write, effect=Effect.IDEMPOTENT, changes_files=True)


async def test_a_checkpoint_is_on_record_before_the_call_and_what_changed_with_its_outcome(tmp_path: Path) -> None:
    async with kernel(
        script=[calls(("write", {"text": "x"})), says("done")], tools=[writer(tmp_path)], checkpoints=Directory(tmp_path)
    ) as rig:
        _, steps = await rig.ask("go")
        assert kinds(steps)[3:7] == ["intent", "decision", "checkpoint", "outcome"]
        assert [step.body for step in steps if isinstance(step.body, Checkpointed)] == [Checkpointed("workspace", "c1")]
        assert outcomes(steps)[0].touched == (Touched("file", "a", "added"),)


async def test_calls_made_at_once_share_a_checkpoint_and_later_ones_get_their_own(tmp_path: Path) -> None:
    made = Directory(tmp_path)
    script = [calls(("one", {"text": "x"}), ("two", {"text": "x"})), calls(("one", {"text": "y"})), says("done")]
    tools = [writer(tmp_path, "one"), writer(tmp_path, "two", ("b",))]
    async with kernel(script=script, tools=tools, checkpoints=made) as rig:
        _, steps = await rig.ask("go")
        assert [step.body.ref for step in steps if isinstance(step.body, Checkpointed)] == ["c1", "c2"]


async def test_a_call_that_only_reads_makes_no_checkpoint(tmp_path: Path) -> None:
    made = Directory(tmp_path)
    async with kernel(script=[calls(("look", {"text": "x"})), says("done")], tools=[Tool("look")], checkpoints=made) as rig:
        _, steps = await rig.ask("go")
        assert "checkpoint" not in kinds(steps)
        assert made.made == 0


async def test_without_a_checkpoint_a_call_that_changes_files_does_not_run_and_others_do(tmp_path: Path) -> None:
    script = [calls(("write", {"text": "x"}), ("look", {"text": "x"})), says("I see")]
    tools = [writer(tmp_path), Tool("look")]
    async with kernel(script=script, tools=tools, checkpoints=Directory(tmp_path, "no room is left on the disk")) as rig:
        turn, steps = await rig.ask("go")
        by_tool = {outcome.result.tool: outcome for outcome in outcomes(steps)}
        assert by_tool["write"].code == "disk_full"
        assert "no checkpoint could be made before it: no room is left" in result_text(by_tool["write"])
        assert by_tool["look"].code == ""
        assert not os.listdir(tmp_path)
        assert turn.ended_at is not None


async def test_names_of_files_are_cleaned_of_secrets_and_a_thousand_are_counted(tmp_path: Path) -> None:
    names = ("key-hunter2hunter2", *(f"f{n:04}" for n in range(1_000)))
    known = (Known("mail", "hunter2hunter2"),)
    script = [calls(("write", {"text": "x"})), says("done")]
    async with kernel(script=script, tools=[writer(tmp_path, files=names)], checkpoints=Directory(tmp_path), known=known) as rig:
        _, steps = await rig.ask("go")
        touched = outcomes(steps)[0].touched
        assert len(touched) == MOST_TOLD + 1
        assert touched[-1].outcome == "and 801 more"
        assert not any("hunter2" in each.what for each in touched)


async def test_a_name_that_is_no_text_can_be_written_down(tmp_path: Path) -> None:
    script = [calls(("write", {"text": "x"})), says("done")]
    async with kernel(script=script, tools=[writer(tmp_path, files=("a\udcff\n",))], checkpoints=Directory(tmp_path)) as rig:
        _, steps = await rig.ask("go")
        assert len(outcomes(steps)[0].touched) == 1


class Marked(Directory):
    """With a stranger's words in it."""

    def label(self, call: Call) -> Label:
        return Label.of(Origin(Author.STRANGER, "web"))


async def online(checkpoints: Directory, text: str) -> list[str]:
    """What becomes of a call that sends and works on files, in a turn in which nobody but the owner was heard."""
    send = Tool("send", Effect.UNSAFE, capabilities=(Capability.SENDS, Capability.EXECUTES), changes_files=True)
    script = [calls(("send", {"text": "example.org"})), says("done")]
    async with kernel(script=script, tools=[send], checkpoints=checkpoints, terms=Terms("assistant", may_hold_all=True)) as rig:
        _, steps = await rig.ask(text)
        return kinds(steps)


async def test_files_with_a_stranger_s_words_are_not_sent_where_nobody_said_by_itself(tmp_path: Path) -> None:
    assert "question" in await online(Marked(tmp_path), "go online")
    assert "question" not in await online(Directory(tmp_path), "go online")


async def test_files_with_a_stranger_s_words_go_where_the_owner_said(tmp_path: Path) -> None:
    assert "question" not in await online(Marked(tmp_path), "send it to example.org")
