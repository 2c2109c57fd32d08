"""The gate before every tool. No code path reaches a tool except through here.

    admit    schema → floor → policy                            pure; before the intent is written
    run      floor and policy of today → limits → tool → result  after the intent is on disk

Whatever a model asks for and whatever a tool does, the answer is a `Happened`: an unknown tool, wrong arguments, a refusal,
an exception, a hang, a result of a hundred megabytes or of broken text are all told to the model, recorded, and the turn goes
on. Only cancellation passes through.
"""

from dataclasses import dataclass, replace
from typing import Literal, Protocol, TypeVar

from pydantic import JsonValue

from daimon.abi.codec import decode, encode
from daimon.abi.errors import BadInput, ToolFailed
from daimon.abi.ids import OWNER
from daimon.abi.judgement import Gate, Situation
from daimon.abi.label import UNLABELLED, Author, Label, Origin, join, stated
from daimon.abi.message import Text, ToolCall, ToolResult
from daimon.abi.plain import clean
from daimon.abi.ports import Clock, Granted, Limiter, Policy
from daimon.abi.step import Happened, Intended, Started, StepBody
from daimon.abi.tool import Call, Capability, Effect, Manifest, Pending, Result, Tool
from daimon.kernel import render
from daimon.kernel.containment import within

S = TypeVar("S", Happened, Started)
TIMEOUT, CRASHED = "timeout", "crashed"
UNCLEAR = frozenset({TIMEOUT, CRASHED})
"""Codes after which nobody knows whether the call took effect."""
UNKNOWN_MANIFEST = ""
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

    def known(self) -> dict[str, Manifest]:
        return {manifest.name: manifest for manifest in self.tools.manifests()}

    def admit(self, asked: ToolCall, situation: Situation) -> Intended:
        call = situation.call
        try:
            arguments = self.tools.check(asked.tool, asked.arguments)
        except BadInput as bad:
            return _intended(asked, call, Effect.PURE, UNKNOWN_MANIFEST, Gate("invalid", str(bad), bad.code))
        manifest = self.tools.get(asked.tool).manifest
        if never := self.floor.forbids(manifest, arguments):
            gate = Gate("deny", never, "floor")
        else:
            gate = self.policy.judge(manifest, arguments, situation)
        return _intended(asked, call, manifest.effect, self.tools.hash_of(asked.tool), gate)

    async def run(self, n: int, intended: Intended, situation: Situation, how: How = "ran") -> Happened | Started:
        started, call = self.clock.monotonic(), situation.call
        try:
            tool, arguments = self._prepare(intended)
            self._judge_again(tool.manifest, arguments, situation)
            await self._limit(tool.manifest)
        except ToolFailed as failed:
            return refused(n, intended, clean(failed.reason), str(failed), retryable=failed.retryable)
        try:
            outcome = await within(tool.manifest.timeout_s, tool.run(arguments, call))
            if isinstance(outcome, Pending):
                return _started(n, outcome)
            return self._finished(n, intended, tool.manifest, outcome, started, how)
        except TimeoutError:
            limit = f"no result within {tool.manifest.timeout_s:g} s; it may or may not have taken effect"
            return self._failed(n, intended, ToolFailed(TIMEOUT, limit, retryable=True), KERNEL, started)
        except ToolFailed as failed:
            return self._failed(n, intended, failed, _worst(tool.manifest, intended), started)
        except Exception as bug:  # noqa: BLE001 - a third party's tool may raise anything, and return anything
            crashed = ToolFailed(CRASHED, f"{intended.tool} raised {type(bug).__name__}: {bug}")
            return self._failed(n, intended, crashed, UNLABELLED, started)

    async def verify(self, n: int, intended: Intended, call: Call) -> Happened | None:
        """Did it happen before the crash? Raises ToolFailed when the world gives no answer."""
        started = self.clock.monotonic()
        tool, arguments = self._prepare(intended)
        try:
            found = await within(tool.manifest.timeout_s, tool.verify(arguments, call))
            return None if found is None else self._finished(n, intended, tool.manifest, found, started, "verified")
        except ToolFailed:
            raise
        except Exception as bug:
            raise ToolFailed(CRASHED, f"verifying {intended.tool} raised {type(bug).__name__}: {bug}") from bug

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

    def _judge_again(self, manifest: Manifest, arguments: dict[str, JsonValue], situation: Situation) -> None:
        """Rules may have changed since the call was decided, days ago perhaps. A yes given then does not outweigh a no of today."""
        never = self.floor.forbids(manifest, arguments)
        gate = self.policy.judge(manifest, arguments, situation)
        if never or gate.verdict == "deny":
            raise ToolFailed("denied", never or gate.reason)

    async def _limit(self, manifest: Manifest) -> None:
        if manifest.rate is None:
            return
        turn = await self.limiter.acquire(manifest.name, manifest.rate.calls, manifest.rate.per_s)
        if not isinstance(turn, Granted):
            raise ToolFailed("rate_limited", f"{manifest.name} may be called again in {turn.seconds:.0f} s", retryable=True)

    def _finished(self, n: int, intended: Intended, manifest: Manifest, result: Result, started: float, how: How) -> Happened:
        text, code = render.success(result.data, manifest.max_result_bytes)
        given = {f: stated(each) for f, each in result.labels.items()}
        label = given.get("") or _label(manifest, intended)
        labels = {f: Label.of(Origin(author, _source(manifest, intended.arguments))) for f, author in manifest.result.fields.items()}
        labels |= {f: each for f, each in given.items() if f}
        if labels:
            labels[""] = label
        label, labels = _private(manifest, label), {f: _private(manifest, each) for f, each in labels.items()}
        happened = Happened(
            n,
            ToolResult(intended.call, intended.tool, (Text(text), *result.parts), bool(code), join([label, *labels.values()]), labels),
            code,
            how,
            result.operations,
            result.touched,
            self._took_ms(started),
        )
        return _readable(happened)

    def _failed(self, n: int, intended: Intended, failed: ToolFailed, label: Label, started: float) -> Happened:
        outcome = refused(n, intended, clean(failed.reason), str(failed), "ran", failed.retryable)
        return replace(outcome, result=replace(outcome.result, label=label), duration_ms=self._took_ms(started))

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
    text, code = render.success(data, 256 * 1024)
    code = code or ("failed" if is_error else "")
    whole = join([label, *(labels or {}).values()])
    return Happened(n, ToolResult(intended.call, intended.tool, (Text(text),), is_error, whole, labels or {}), code, "answered")


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
    return _readable(Started(n, pending.handle, pending.question, pending.until, pending.operations))


def _readable(body: S) -> S:
    """What a tool handed over, if it can be written and read back; a naive time or a broken text raises here, not at the next start."""
    if decode(StepBody, encode(StepBody, body)) != body:
        raise ValueError("what it returned does not read back as it was written")
    return body
