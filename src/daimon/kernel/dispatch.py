"""The gate before every tool. No code path reaches a tool except through here.

    admit    schema → floor → policy                            pure; before the intent is written
    run      handles → floor and policy of today → limits → tool → result  after the intent is on disk
    go_on    the answer to what it asked in the middle → tool → result     after the answer is on disk

What a tool says, well or ill, is cleaned of secrets here, before anybody else sees it: of known values, and of what is shaped like one.

Whatever a model asks for and whatever a tool does, the answer is a `Happened`: an unknown tool, wrong arguments, a refusal,
an exception, a hang, a result of a hundred megabytes or of broken text are all told to the model, recorded, and the turn goes
on. Only cancellation passes through.
"""

from collections.abc import Coroutine
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Protocol, TypeVar

from pydantic import JsonValue

from daimon.abi.cleaning import cleaned
from daimon.abi.codec import decode, encode
from daimon.abi.errors import BadInput, Misconfigured, ToolFailed
from daimon.abi.event import Late
from daimon.abi.form import Form, is_closed, read
from daimon.abi.ids import OWNER, WITHOUT_TOOLS, AgentId, PrincipalId
from daimon.abi.judgement import Gate, Situation
from daimon.abi.label import UNLABELLED, Author, Label, Origin, join, stated
from daimon.abi.message import Text, ToolCall, ToolResult
from daimon.abi.plain import clean
from daimon.abi.ports import Checkpoints, Clock, Granted, Limiter, Policy
from daimon.abi.secret import Redactor
from daimon.abi.step import Happened, Intended, Started, StepBody
from daimon.abi.tool import Call, Capability, Continuing, Effect, Manifest, Pending, Result, Tool, Word
from daimon.context.held import handles
from daimon.kernel import render
from daimon.kernel.containment import within
from daimon.kernel.files import NoFiles, weighed, with_changes
from daimon.kernel.held import Holding, filled, label_of, require_known

S = TypeVar("S", Happened, Started)
TIMEOUT, CRASHED = "timeout", "crashed"
GONE = "gone"
"""A call asked something, and what asked it was not there any more when the answer came."""
UNCLEAR = frozenset({TIMEOUT, CRASHED})
"""Codes after which nobody knows whether the call took effect."""
UNKNOWN_MANIFEST = ""
BAD_HANDLE = "bad_handle"
KERNEL = Label.of(Origin(Author.SERVICE, "kernel"))
How = Literal["ran", "reran", "verified", "answered", "refused", "recorded", "cancelled"]


class Tools(Protocol):
    """The registry, as the gate sees it."""

    @property
    def hash(self) -> str: ...

    def manifests(self) -> tuple[Manifest, ...]: ...

    def get(self, name: str) -> Tool:
        """Raises BadInput for an unknown name."""
        ...

    def check(self, name: str, arguments: JsonValue) -> dict[str, JsonValue]:
        """The arguments, if they fit the schema. Raises BadInput."""
        ...

    def hash_of(self, name: str) -> str: ...


class Floor(Protocol):
    def forbids(self, manifest: Manifest, arguments: dict[str, JsonValue]) -> str:
        """Why this call may never run, whatever any policy says; empty if it may."""
        ...


@dataclass(frozen=True, slots=True)
class Dispatch:
    tools: Tools
    floor: Floor
    policy: Policy
    limiter: Limiter
    clock: Clock
    holding: Holding
    redactor: Redactor
    checkpoints: Checkpoints = field(default_factory=NoFiles)

    def offered(self, agent: AgentId, principal: PrincipalId) -> tuple[Manifest, ...]:
        """The tools that an agent is given in a turn for somebody. A reader has none, whatever it reads, nor has a summarizer."""
        held = self.tools.manifests() if agent not in WITHOUT_TOOLS else ()
        may = self.policy
        return tuple(each for each in held if may.holds(agent, each.name) and may.serves(principal, each.name))

    def known(self) -> dict[str, Manifest]:
        return {manifest.name: manifest for manifest in self.tools.manifests()}

    def admit(self, asked: ToolCall, situation: Situation) -> Intended:
        call = situation.call
        try:
            arguments = self.tools.check(asked.tool, asked.arguments)
        except BadInput as bad:
            return _intended(asked, call, Effect.PURE, UNKNOWN_MANIFEST, Gate("invalid", str(bad), bad.code))
        manifest = self.tools.get(asked.tool).manifest
        try:
            require_known(manifest, arguments, situation.held)
        except BadInput as bad:
            return _intended(asked, call, manifest.effect, self.tools.hash_of(asked.tool), Gate("invalid", str(bad), BAD_HANDLE))
        if never := self.floor.forbids(manifest, filled(arguments, situation.held)):
            gate = Gate("deny", never, "floor")
        else:
            gate = self.policy.judge(manifest, arguments, self._weighed(situation, manifest))
        return _intended(asked, call, manifest.effect, self.tools.hash_of(asked.tool), gate)

    async def run(self, n: int, intended: Intended, situation: Situation, how: How = "ran") -> Happened | Started:
        outcome = await self._run(n, intended, situation, how)
        if isinstance(outcome, Happened):
            outcome = await self._with_changes(outcome, intended, situation.call)
        return self._marked(outcome, situation)

    def changes_files(self, intended: Intended) -> bool:
        manifest = self.known().get(intended.tool)
        return manifest is not None and manifest.changes_files

    async def _run(self, n: int, intended: Intended, situation: Situation, how: How) -> Happened | Started:
        try:
            tool, written = self._prepare(intended)
            arguments = self._filled(tool.manifest, written, situation)
            self._judge_again(tool.manifest, written, situation)
            await self._limit(tool.manifest)
        except ToolFailed as failed:
            return self._refused(n, intended, failed)
        return await self._worked(n, intended, tool, tool.run(arguments, situation.call), how)

    async def go_on(self, n: int, intended: Intended, situation: Situation, handle: str, word: Word | None) -> Happened | Started:
        """With the answer to what the tool asked. What nobody can answer for any more has ended, and is not begun again."""
        try:
            tool, _ = self._prepare(intended)
            if word is None or not isinstance(tool, Continuing):
                raise ToolFailed(GONE, f"{intended.tool} was gone before the answer; it may or may not have taken effect")
        except ToolFailed as failed:
            return self._marked(self._refused(n, intended, failed, "cancelled"), situation)
        outcome = await self._worked(n, intended, tool, tool.go_on(handle, word, situation.call), "ran")
        if isinstance(outcome, Happened):
            outcome = await self._with_changes(outcome, intended, situation.call)
        return self._marked(outcome, situation)

    async def _worked(
        self, n: int, intended: Intended, tool: Tool, work: Coroutine[Any, Any, Result | Pending], how: How
    ) -> Happened | Started:
        started = self.clock.monotonic()
        try:
            outcome = await within(tool.manifest.timeout_s, work)
            if isinstance(outcome, Pending):
                return cleaned(_started(n, outcome), self.redactor.clean_known)
            return self._finished(n, intended, tool.manifest, outcome, started, how)
        except TimeoutError:
            limit = f"no result within {tool.manifest.timeout_s:g} s; it may or may not have taken effect"
            return self._failed(n, intended, ToolFailed(TIMEOUT, limit, retryable=True), KERNEL, started)
        except ToolFailed as failed:
            return self._failed(n, intended, failed, _worst(tool.manifest, intended), started)
        except Misconfigured as missing:
            return self._failed(n, intended, ToolFailed(missing.code, str(missing)), KERNEL, started)
        except Exception as bug:  # noqa: BLE001 - a third party's tool may raise anything, and return anything
            crashed = ToolFailed(CRASHED, f"{intended.tool} raised {type(bug).__name__}: {bug}")
            return self._failed(n, intended, crashed, UNLABELLED, started)

    async def verify(self, n: int, intended: Intended, situation: Situation) -> Happened | None:
        """Did it happen before the crash? Raises ToolFailed when the world gives no answer."""
        started = self.clock.monotonic()
        tool, written = self._prepare(intended)
        arguments = self._filled(tool.manifest, written, situation)
        try:
            found = await within(tool.manifest.timeout_s, tool.verify(arguments, situation.call))
            if found is None:
                return None
            happened = self._finished(n, intended, tool.manifest, found, started, "verified")
            return self._mark(await self._with_changes(happened, intended, situation.call), situation)
        except ToolFailed as failed:
            raise ToolFailed(failed.reason, self.redactor.clean(str(failed)), failed.retryable) from failed
        except Exception as bug:
            raise ToolFailed(CRASHED, self.redactor.clean(f"verifying {intended.tool} raised {type(bug).__name__}: {bug}")) from bug

    def is_changed(self, intended: Intended) -> bool:
        """Is the tool gone, or another one than when the call was decided?"""
        try:
            return self.tools.hash_of(intended.tool) != intended.manifest
        except BadInput:
            return True

    def _prepare(self, intended: Intended) -> tuple[Tool, dict[str, JsonValue]]:
        try:
            tool = self.tools.get(intended.tool)
            arguments = self.tools.check(intended.tool, intended.arguments)
        except BadInput as bad:
            raise ToolFailed("tool_changed", f"{bad} (it was there when the call was decided)") from bad
        if self.tools.hash_of(intended.tool) != intended.manifest:
            raise ToolFailed("tool_changed", f"{intended.tool} was updated after this call was decided; decide again")
        return tool, arguments

    def _filled(self, manifest: Manifest, written: dict[str, JsonValue], situation: Situation) -> dict[str, JsonValue]:
        """The arguments with what their handles stand for. What does not fit is not repeated in the error: the model must not see it."""
        if not any(True for _ in handles(written)):
            return written
        try:
            require_known(manifest, written, situation.held)
        except BadInput as gone:
            raise ToolFailed(BAD_HANDLE, str(gone)) from gone
        try:
            return self.tools.check(manifest.name, filled(written, situation.held))
        except BadInput:
            raise ToolFailed(
                "held_misfit", f"what a handle stands for is not what {manifest.name} takes there: too long, perhaps"
            ) from None

    def _marked(self, outcome: Happened | Started, situation: Situation) -> Happened | Started:
        return self._mark(outcome, situation) if isinstance(outcome, Happened) else replace(outcome, hold=self.holding.rule)

    def _mark(self, outcome: Happened, situation: Situation) -> Happened:
        """Says what of it is held. What a tool returns may repeat what it was given, so it carries the labels of that."""
        result, given = outcome.result, label_of(situation.held.values())
        if situation.held and result.label != KERNEL:
            labels = {pattern: label.joined(given) for pattern, label in result.labels.items()}
            result = replace(result, label=result.label.joined(given), labels=labels)
        return replace(outcome, result=result, hold=self.holding.rule)

    async def _with_changes(self, outcome: Happened, intended: Intended, call: Call) -> Happened:
        """A call that was refused has changed nothing."""
        if outcome.how == "refused" or not self.changes_files(intended):
            return outcome
        return await with_changes(outcome, self.checkpoints, call, self.redactor)

    def _judge_again(self, manifest: Manifest, arguments: dict[str, JsonValue], situation: Situation) -> None:
        """Rules may have changed since the call was decided, days ago perhaps. A yes given then does not outweigh a no of today."""
        never = self.floor.forbids(manifest, filled(arguments, situation.held))
        gate = self.policy.judge(manifest, arguments, self._weighed(situation, manifest))
        if never or gate.verdict == "deny":
            raise ToolFailed("denied", never or gate.reason)

    def _weighed(self, situation: Situation, manifest: Manifest) -> Situation:
        """Without grants for another tool that had its name."""
        held = tuple(grant for grant in situation.grants if grant.manifest in ("", self.tools.hash_of(manifest.name)))
        return weighed(replace(situation, grants=held) if len(held) < len(situation.grants) else situation, manifest, self.checkpoints)

    async def _limit(self, manifest: Manifest) -> None:
        if manifest.rate is None:
            return
        turn = await self.limiter.acquire(manifest.name, manifest.rate.calls, manifest.rate.per_s)
        if not isinstance(turn, Granted):
            raise ToolFailed("rate_limited", f"{manifest.name} may be called again in {turn.seconds:.0f} s", retryable=True)

    def _finished(self, n: int, intended: Intended, manifest: Manifest, result: Result, started: float, how: How) -> Happened:
        text, code = render.success(result.data, manifest.max_result_bytes, self.redactor.clean)
        given = {f: stated(each) for f, each in cleaned(result.labels, self.redactor.clean_known).items()}
        label = given.get("") or _label(manifest, intended)
        labels = {f: Label.of(Origin(author, _source(manifest, intended.arguments))) for f, author in manifest.result.fields.items()}
        labels |= {f: each for f, each in given.items() if f}
        if labels:
            labels[""] = label
        label, labels = _private(manifest, label), {f: _private(manifest, each) for f, each in labels.items()}
        parts = cleaned(result.parts, self.redactor.clean)
        happened = Happened(
            n,
            ToolResult(intended.call, intended.tool, (Text(text), *parts), bool(code), join([label, *labels.values()]), labels),
            code,
            how,
            cleaned(result.operations, self.redactor.clean_known),
            cleaned(result.touched, self.redactor.clean),
            self._took_ms(started),
        )
        return _readable(happened)

    def _failed(self, n: int, intended: Intended, failed: ToolFailed, label: Label, started: float) -> Happened:
        outcome = self._refused(n, intended, failed, "ran")
        return replace(outcome, result=replace(outcome.result, label=label), duration_ms=self._took_ms(started))

    def _refused(self, n: int, intended: Intended, failed: ToolFailed, how: How = "refused") -> Happened:
        reason, message = self.redactor.clean(clean(failed.reason)), self.redactor.clean(str(failed))
        return refused(n, intended, reason, message, how, failed.retryable)

    def _took_ms(self, started: float) -> float:
        return round((self.clock.monotonic() - started) * 1000, 3)


def refused(n: int, intended: Intended, code: str, message: str, how: How = "refused", retryable: bool = False) -> Happened:
    """An outcome that is an error, in the form in which every tool error reaches the model."""
    body = render.failure(code, message, retryable)
    result = ToolResult(intended.call, intended.tool, (Text(body),), is_error=True, label=KERNEL)
    return Happened(n, result, code, how)


def answered(
    n: int, intended: Intended, data: JsonValue, label: Label, is_error: bool = False, labels: dict[str, Label] | None = None
) -> Happened:
    """The outcome of a call that ended outside: a person's answer, a long job's result."""
    text, code = render.success(data, 256 * 1024, str)  # what comes by an event was cleaned at the door
    code = code or ("failed" if is_error else "")
    whole = join([label, *(labels or {}).values()])
    return Happened(n, ToolResult(intended.call, intended.tool, (Text(text),), is_error, whole, labels or {}), code, "answered")


def examined(n: int, intended: Intended, form: Form, late: Late, label: Label) -> Happened:
    """The outcome of a call that asked about held words: the answer, if it has the form, and never anything else that was said."""
    said = late.data if isinstance(late.data, dict) else {}
    text = said.get("text")
    if late.is_error or not isinstance(text, str):
        return refused(n, intended, "not_read", "whoever should have read it did not come to an answer", "answered")
    try:
        answer = read(form, text)
    except BadInput as bad:
        return refused(n, intended, "bad_answer", f"whoever read it gave no proper answer: {bad}", "answered")
    outcome = answered(n, intended, {"answer": answer}, label.limited() if is_closed(form) else label)
    return replace(outcome, result=replace(outcome.result, labels={"/answer": outcome.result.label}))


def _intended(asked: ToolCall, call: Call, effect: Effect, manifest: str, gate: Gate) -> Intended:
    return Intended(asked.call, asked.tool, asked.arguments, call.key, effect, manifest, gate)


def _source(manifest: Manifest, arguments: JsonValue) -> str:
    known = {k: v for k, v in arguments.items() if isinstance(v, str)} if isinstance(arguments, dict) else {}
    source = manifest.result.source
    for name, value in known.items():
        source = source.replace("{" + name + "}", value[:200])
    return source


def _label(manifest: Manifest, intended: Intended) -> Label:
    return _private(manifest, Label.of(Origin(manifest.result.author, _source(manifest, intended.arguments))))


def _worst(manifest: Manifest, intended: Intended) -> Label:
    """Of what a tool says when it fails: nobody knows which of its fields the text was made of, so it is made of all."""
    source = _source(manifest, intended.arguments)
    authors = (manifest.result.author, *manifest.result.fields.values())
    return _private(manifest, Label.of(*(Origin(author, source) for author in authors)))


def _private(manifest: Manifest, label: Label) -> Label:
    """What comes from the owner's own stores is for the owner, unless the tool says who else may see it."""
    is_open = label.readers is None and Capability.READS_PRIVATE in manifest.capabilities
    return replace(label, readers=(OWNER,)) if is_open else label


def _started(n: int, pending: Pending) -> Started:
    started = Started(n, pending.handle, pending.question, pending.until, pending.operations, pending.expects)
    return _readable(replace(started, goes_on=pending.goes_on, carries=pending.carries))


def _readable(body: S) -> S:
    """What a tool handed over, if it can be written and read back; a naive time or a broken text raises here, not at the next start."""
    if decode(StepBody, encode(StepBody, body)) != body:
        raise ValueError("what it returned does not read back as it was written")
    return body
