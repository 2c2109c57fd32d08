"""One call of the model: context in, reply and intents out.

A model that fails, hangs or breaks off is a recorded step as well; the scheduler policy counts such failures and decides.
Every tool call in the reply goes through the gate at once and is written down as an intent, numbered in the order of the
reply, together with it.
"""

from contextlib import aclosing
from dataclasses import dataclass, replace

from daimon.abi.codec import blob_hash
from daimon.abi.context import Context
from daimon.abi.errors import ProviderFailed
from daimon.abi.message import Part, Reasoning, Text, ToolCall
from daimon.abi.model import Delta, Model, Reply, Request, Router
from daimon.abi.plain import clean, mended
from daimon.abi.ports import Blob, Clock
from daimon.abi.step import Gate, Intended, ModelFailed, Replied
from daimon.abi.tool import Question
from daimon.kernel import asking
from daimon.kernel.calls import call_for
from daimon.kernel.containment import drawn
from daimon.kernel.dispatch import Dispatch, refused
from daimon.kernel.feed import Feed, Token
from daimon.kernel.log import Log
from daimon.kernel.running import Running

FIXED_CHUNKS = 2
"""The first chunks of a request, system text and tools, hold nobody's words."""
BACKOFF_S = 0.25
MOST_NAME = 256
MOST_CALLS = 64


@dataclass(frozen=True, slots=True)
class Thinking:
    router: Router
    context: Context
    dispatch: Dispatch
    feed: Feed
    clock: Clock
    timeout_s: float

    async def think(self, running: Running) -> None:
        log = running.log
        await running.unless_stopped(self._back_off(log))
        scene = log.progress.scene()
        background = await running.unless_stopped(self.context.prepare(scene))
        prompt = self.context.assemble(scene, background, self.dispatch.tools.manifests())
        request = prompt.request
        model, routed = self.router.route(request)
        whole = Blob(blob_hash(b"".join(prompt.chunks)), prompt.chunks, FIXED_CHUNKS)
        started = self.clock.monotonic()
        log.add(routed)
        log.keep(whole)
        try:
            reply = await running.unless_stopped(self._stream(log, model, request))
        except ProviderFailed as failed:
            log.add(ModelFailed(model.name, failed.reason, str(failed), whole.hash))
            return
        took_ms = round((self.clock.monotonic() - started) * 1000, 3)
        log.add(
            Replied(reply.model, reply.parts, reply.finish, reply.usage, whole.hash, request.sampling, None, request.context, took_ms),
            request.label,
        )
        intend(log, self.dispatch, tuple(part for part in reply.parts if isinstance(part, ToolCall)))

    async def _back_off(self, log: Log) -> None:
        if failures := log.progress.model_failures:
            await self.clock.sleep(BACKOFF_S * 2**failures)

    async def _stream(self, log: Log, model: Model, request: Request) -> Reply:
        offset, step = 0, log.progress.next_n
        try:
            async with aclosing(drawn(lambda: model.stream(request), self.timeout_s)) as pieces:
                async for piece in pieces:
                    if isinstance(piece, Reply):
                        return keepable(piece)
                    self._show(log, step, offset, piece)
                    offset += len(piece.text)
        except TimeoutError:
            raise ProviderFailed("timeout", f"{model.name} sent nothing for {self.timeout_s:g} s (model.timeout_s)") from None
        except ProviderFailed:
            raise
        except Exception as bug:
            raise ProviderFailed("crashed", clean(f"{model.name} raised {type(bug).__name__}: {bug}")) from bug
        raise ProviderFailed("cut", f"{model.name} broke off before its reply was complete")

    def _show(self, log: Log, step: int, offset: int, piece: Delta) -> None:
        self.feed.publish(Token(log.claim.conversation, log.claim.turn.id, step, offset, piece.text, piece.of))


def keepable(reply: Reply) -> Reply:
    """The reply with nothing in it that could be written and not be read again. A model may send anything."""
    return replace(reply, parts=tuple(_keepable(part) for part in reply.parts))


def _keepable(part: Part) -> Part:
    match part:
        case Text(text):
            return Text(clean(text))
        case Reasoning(text):
            return replace(part, text=clean(text))
        case ToolCall(call, tool, arguments):
            return ToolCall(clean(call)[:MOST_NAME], clean(tool)[:MOST_NAME], mended(arguments))
        case _:
            return part


def intend(log: Log, dispatch: Dispatch, calls: tuple[ToolCall, ...]) -> None:
    """Every call becomes an intent; what the gate refused gets its outcome, what needs a person its question."""
    judged: list[tuple[int, Intended]] = []
    for i, asked in enumerate(calls):
        n = log.progress.next_n
        intended = dispatch.admit(asked, call_for(log, n))
        if i >= MOST_CALLS:
            intended = replace(intended, gate=Gate("invalid", f"a reply may call at most {MOST_CALLS} tools", "too_many_calls"))
        log.add(intended)
        judged.append((n, intended))
    for n, intended in judged:
        match intended.gate.verdict:
            case "invalid" | "deny":
                log.add(refused(n, intended, intended.gate.code or "denied", intended.gate.reason))
            case "ask":
                asking.ask(log, _permission(intended), about=n)
            case "allow":
                pass


def _permission(intended: Intended) -> Question:
    return Question(
        f"May I call {intended.tool}? {intended.gate.reason}".strip(),
        ("deny", "allow"),
        "authorise",
        {"tool": intended.tool, "arguments": intended.arguments},
    )
