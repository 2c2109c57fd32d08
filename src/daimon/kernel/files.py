"""Files that calls change: a checkpoint before, what changed after.

One checkpoint serves all calls that are made at once: they run beside each other, so there is no state between them to go back to, and
what each is said to have changed is what all of them have so far.
"""

from dataclasses import replace

from daimon.abi.cleaning import cleaned
from daimon.abi.errors import ToolFailed
from daimon.abi.judgement import Situation
from daimon.abi.label import EMPTY, Label
from daimon.abi.plain import clean
from daimon.abi.ports import Checkpoints
from daimon.abi.secret import Redactor
from daimon.abi.step import Checkpointed, Happened, Intended
from daimon.abi.tool import Call, Capability, Manifest, Touched

MOST_TOLD = 200
MOST_NAMED, MOST_WORDS = 4, 80


class NoFiles:
    """Where no workspace is."""

    async def before(self, call: Call, why: str) -> str:
        return ""

    async def since(self, call: Call) -> tuple[Touched, ...]:
        return ()

    def label(self, call: Call) -> Label:
        return EMPTY


def weighed(situation: Situation, manifest: Manifest, checkpoints: Checkpoints) -> Situation:
    """A call that sends and works on files is judged as if the model had read them: a program does what is written there."""
    if not manifest.changes_files or Capability.SENDS not in manifest.capabilities:
        return situation
    label = checkpoints.label(situation.call)
    if label == EMPTY:
        return situation
    call = replace(situation.call, label=situation.call.label.joined(label))
    return replace(situation, call=call, heard=situation.context.joined(label))


async def kept(checkpoints: Checkpoints, call: Call, intended: tuple[Intended, ...], redactor: Redactor) -> Checkpointed | None:
    """Raises ToolFailed."""
    made = await checkpoints.before(call, "; ".join(redactor.clean(_words(each)) for each in intended[:MOST_NAMED]))
    return Checkpointed("workspace", made) if made else None


def _words(intended: Intended) -> str:
    given = intended.arguments if isinstance(intended.arguments, dict) else {}
    told = next((value for value in given.values() if isinstance(value, str)), "")
    return f"{intended.tool} {' '.join(clean(told).split())[:MOST_WORDS]}".strip()


async def with_changes(outcome: Happened, checkpoints: Checkpoints, call: Call, redactor: Redactor) -> Happened:
    """An outcome stands even where nobody can say what it changed."""
    try:
        found = await checkpoints.since(call)
    except ToolFailed as silent:
        found = (Touched("file", "?", f"nobody can say which: {silent}"),)
    known = {each.what for each in outcome.touched if each.kind == "file"}
    found = tuple(each for each in found if each.what not in known)
    told = tuple(replace(each, what=clean(each.what), outcome=clean(each.outcome)) for each in found[:MOST_TOLD])
    if len(found) > MOST_TOLD:
        told += (Touched("file", "…", f"and {len(found) - MOST_TOLD} more"),)
    return replace(outcome, touched=(*outcome.touched, *cleaned(told, redactor.clean)))
