"""One call of the model: context in, reply and intents out.

The order is fixed: assemble, choose a model, reserve what the call may cost, and only when that is on disk, ask. What the reservation
did not fit into, a model that fails, hangs or breaks off, and no model at all are recorded steps as well; the scheduler policy decides what
comes of them, and every further try is a new round with steps of its own. Every tool call in the reply goes through the gate at once and is
written down as an intent, numbered in the order of the reply, together with it. Known secrets are taken out of a reply before all that, and
out of its pieces while they are shown.
"""

from collections.abc import Callable, Iterable
from contextlib import aclosing, suppress
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Literal

from daimon.abi.cleaning import cleaned
from daimon.abi.codec import blob_hash
from daimon.abi.context import Context, Prompt
from daimon.abi.errors import ProviderFailed
from daimon.abi.event import Heartbeat
from daimon.abi.ids import WITHOUT_TOOLS
from daimon.abi.judgement import Gate, Held
from daimon.abi.message import Part, Reasoning, Text, ToolCall
from daimon.abi.model import Choice, Delta, Later, Reply, Router, Task
from daimon.abi.money import Usage, worst
from daimon.abi.plain import clean, mended
from daimon.abi.ports import Blob, Clock
from daimon.abi.secret import Redactor
from daimon.abi.step import Intended, ModelFailed, Replied, Reserved, Sampling, Settled
from daimon.kernel import asking
from daimon.kernel.budget import Budget, without_money
from daimon.kernel.containment import drawn
from daimon.kernel.dispatch import Dispatch, refused
from daimon.kernel.estimate import Estimator
from daimon.kernel.feed import Feed, Token
from daimon.kernel.held import filled, known_in, label_of
from daimon.kernel.log import Log
from daimon.kernel.offers import Wanted
from daimon.kernel.piecewise import Piecewise
from daimon.kernel.progress import PACED, TOO_LONG
from daimon.kernel.recovery import all_of
from daimon.kernel.running import Running, Stopped
from daimon.kernel.situation import situation_for

FIXED_CHUNKS = 2
"""The first chunks of a request, system text and tools, hold nobody's words."""
MOST_NAP_S = 30.0
"""A turn waits so long for a model and keeps its conversation; for longer it parks."""
MOST_NAME = 256
MOST_CALLS = 64
MOST_PARTIAL = 100_000
MOST_SIGNATURE = 1_000_000
CHARACTERS_PER_TOKEN = 32
"""A reply with more than so many for each token that it may have is no reply."""
SOME = 100_000
UNUSED = ProviderFailed("unused", "it was not asked", was_sent=False)


@dataclass(frozen=True, slots=True)
class Patience:
    """How long a model may be silent, before its first word and in the middle of a reply."""

    first_s: float
    next_s: float
    whole_s: float = 1_800.0
    """How long a whole reply may take."""


@dataclass(slots=True)
class Brain:
    """What thinking depends on and an owner may change while it runs: replaced as a whole."""

    router: Router
    budget: Budget
    patience: Patience
    sampling: Sampling = Sampling()


@dataclass(frozen=True, slots=True)
class Thinking:
    brain: Brain
    context: Context
    dispatch: Dispatch
    feed: Feed
    clock: Clock
    estimator: Estimator
    redactor: Redactor

    async def think(self, running: Running, arrived: Callable[[Log], bool]) -> None:
        """`arrived` takes in what came meanwhile and says whether anything did: then the model is not asked with old news."""
        log = running.log
        scene = replace(log.progress.scene(), window=await self._window(log))
        log.progress.background = background = await running.unless_stopped(self.context.prepare(scene))
        prompt = self.context.assemble(scene, background, self.dispatch.offered(log.progress.agent, scene.turn.principal))
        choice = await running.unless_stopped(self._choose(log, prompt))
        asked = None if choice is None else await self._paid(log, choice, prompt)
        if asked is None:
            return
        if arrived(log):
            self.brain.router.heard(asked.choice, UNUSED)
            _settle(log, asked, Usage(), "unused")
            return
        await self._ask(running, asked)

    async def _window(self, log: Log) -> int | None:
        """What the model reads that will be asked first, as the context counts. None: it takes whatever it is given."""
        progress = log.progress
        found = await self.brain.router.window(log.claim.conversation, progress.agent, log.claim.turn.origin, _wanted(log))
        if found is None:
            return None
        model, tokens = found
        return int(tokens / self.estimator.factor(model))

    async def recollect(self, log: Log) -> None:
        """After a rest or a crash: what the model had before it when it asked for the calls that are still open."""
        if log.progress.open_intents:
            log.progress.background = await self.context.prepare(log.progress.scene())

    async def _paid(self, log: Log, choice: Choice, prompt: Prompt) -> "_Asked | None":
        """The call, on disk and reserved. None: there is no money for it, nor anybody who takes none, and that is recorded."""
        log.add(choice.routed)
        if not choice.profile.is_metered:
            await log.commit()
            return _Asked(choice, prompt, None)
        reserved = self._reserved(log, choice, prompt)
        short = await log.reserve(reserved)
        if short is None:
            return _Asked(choice, prompt, reserved)
        self.brain.router.heard(choice, UNUSED)
        with suppress(ProviderFailed):
            other = await self.brain.router.route(replace(self._task(log, prompt), is_broke=True))
            if isinstance(other, Choice):
                return await self._paid(log, other, prompt)
        log.add(short)
        return None

    def _task(self, log: Log, prompt: Prompt) -> Task:
        progress = log.progress
        return Task(
            request=prompt.request,
            input_tokens=self.estimator.bound(log.claim.conversation, progress.last_model, prompt),
            conversation=log.claim.conversation,
            origin=log.claim.turn.origin,
            origin_agent=log.claim.turn.origin_agent,
            agent=progress.agent,
            failures=tuple(progress.lasting),
            last_model=progress.last_model,
            wanted=_wanted(log),
        )

    async def _choose(self, log: Log, prompt: Prompt) -> Choice | None:
        """The model to ask. None: nobody can be asked now, and that is recorded."""
        task, napped_s = self._task(log, prompt), 0.0
        while True:
            try:
                found = await self.brain.router.route(task)
            except ProviderFailed as failed:
                log.add(ModelFailed("", failed.reason, self._told(str(failed)), is_lasting=True))
                return None
            if isinstance(found, Choice):
                return found
            napped_s += found.seconds
            if napped_s > MOST_NAP_S:
                log.add(_unavailable(log, replace(found, reason=self._told(found.reason))))
                return None
            await self.clock.sleep(found.seconds)

    def _reserved(self, log: Log, choice: Choice, prompt: Prompt) -> Reserved:
        profile, budget = choice.profile, self.brain.budget
        size = self.estimator.bound(log.claim.conversation, choice.model.name, prompt)
        most = worst(profile.price, size, profile.max_output_tokens)
        accounts = budget.accounts(log.claim.turn, log.progress.agent, self.clock.now())
        if most.cost is None and (budget.allows_unknown or log.progress.allows_unknown_price):
            accounts = without_money(accounts)
        source = "unknown" if profile.price is None else profile.price.source
        return Reserved(choice.model.name, profile.provider, size, profile.max_output_tokens, most.cost, source, accounts)

    async def _ask(self, running: Running, asked: "_Asked") -> None:
        log, choice = running.log, asked.choice
        whole = Blob(blob_hash(b"".join(asked.prompt.chunks)), asked.prompt.chunks, FIXED_CHUNKS)
        log.keep(whole)
        started, said = self.clock.monotonic(), _Said()
        try:
            reply = await running.unless_stopped(self._stream(log, asked, said))
        except ProviderFailed as failed:
            self.brain.router.heard(choice, failed)
            if failed.reason == TOO_LONG:
                self.estimator.too_long(choice.model.name)
            _settle(log, asked, None if failed.was_sent else Usage(), "assumed" if failed.was_sent else "unused")
            log.add(self._failed(asked, failed, whole, said), asked.prompt.request.label)
            return
        except Stopped:
            self.brain.router.heard(choice, ProviderFailed("stopped", "it was stopped"))
            _settle(log, asked, None, "assumed")
            partial = self.redactor.clean_known(said.text)
            context, label = asked.prompt.request.context, asked.prompt.request.label
            why = "it was stopped in the middle of its reply"
            log.add(ModelFailed(choice.model.name, "stopped", why, whole.hash, partial=partial, context=context), label)
            raise
        self.brain.router.heard(choice, None)
        took_ms = round((self.clock.monotonic() - started) * 1000, 3)
        reply = _without_calls(reply) if log.progress.agent in WITHOUT_TOOLS else reply
        await self.dispatch.holding.fetch(log, *(part.arguments for part in reply.parts if isinstance(part, ToolCall)))
        self._take(log, asked, reply, whole, took_ms)

    def _take(self, log: Log, asked: "_Asked", reply: Reply, whole: Blob, took_ms: float) -> None:
        told = reply.usage if reply.usage is not None and reply.usage.is_sane else None
        _settle(log, asked, told, "assumed" if told is None else "measured")
        usage = told or Usage(cost=None)
        self.estimator.learn(log.claim.conversation, asked.choice.model.name, asked.prompt, usage.input_tokens)
        logprobs = None if reply.logprobs is None else Blob(blob_hash(reply.logprobs), (reply.logprobs,))
        if logprobs is not None:
            log.keep(logprobs)
        request = asked.prompt.request
        replied = Replied(
            reply.model, reply.parts, reply.finish, usage, whole.hash, self._sampling(asked), None if logprobs is None else logprobs.hash,
            request.context, took_ms, (*reply.remarks, *_shortened(reply, asked)),
        )  # fmt: skip
        log.add(replied, request.label)
        intend(log, self.dispatch, tuple(part for part in reply.parts if isinstance(part, ToolCall)))

    async def _stream(self, log: Log, asked: "_Asked", said: "_Said") -> Reply:
        step, model, patience, showing = log.progress.next_n, asked.choice.model, self.brain.patience, Piecewise(self.redactor)
        request = replace(asked.prompt.request, sampling=self._sampling(asked))
        most = SOME + CHARACTERS_PER_TOKEN * asked.choice.profile.max_output_tokens
        ends_at = self.clock.monotonic() + patience.whole_s
        try:
            async with aclosing(drawn(lambda: model.stream(request), patience.first_s, patience.next_s)) as pieces:
                async for piece in pieces:
                    if isinstance(piece, Reply):
                        self._show(log, step, showing.rest())
                        return _whole(self._without_secrets(keepable(piece)), model.name)
                    self._show(log, step, showing.take(piece))
                    said.hear(piece)
                    if said.offset > most or self.clock.monotonic() > ends_at:
                        raise ProviderFailed("endless", f"{model.name} did not come to an end: {said.offset:,} characters so far")
        except TimeoutError:
            setting, seconds = ("next_token_s", patience.next_s) if said.offset else ("first_token_s", patience.first_s)
            raise ProviderFailed("timeout", f"{model.name} sent nothing for {seconds:g} s (model.{setting})") from None
        except ProviderFailed:
            raise
        except Exception as bug:
            raise ProviderFailed("crashed", clean(f"{model.name} raised {type(bug).__name__}: {bug}")) from bug
        raise ProviderFailed("cut", f"{model.name} broke off before its reply was complete")

    def _sampling(self, asked: "_Asked") -> Sampling:
        return replace(self.brain.sampling, max_output_tokens=asked.choice.profile.max_output_tokens or None)

    def _show(self, log: Log, step: int, pieces: Iterable[tuple[int, Delta]]) -> None:
        for offset, piece in pieces:
            self.feed.publish(Token(log.claim.conversation, log.claim.turn.id, step, offset, piece.text, piece.of))

    def _without_secrets(self, reply: Reply) -> Reply:
        """Before it is written down, and before anybody acts on it. Log probabilities spell a reply out, so they go with what was said."""
        kept = cleaned(replace(reply, usage=None, logprobs=None), self.redactor.clean_known)
        return replace(kept, usage=reply.usage, logprobs=reply.logprobs if kept.parts == reply.parts else None)

    def _told(self, text: str) -> str:
        return self.redactor.clean(clean(text))

    def _failed(self, asked: "_Asked", failed: ProviderFailed, whole: Blob, said: "_Said") -> ModelFailed:
        return ModelFailed(
            asked.choice.model.name, failed.reason, self._told(str(failed)), whole.hash, asked.choice.profile.provider, failed.is_lasting,
            partial=self.redactor.clean_known(said.text), context=asked.prompt.request.context,
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Asked:
    choice: Choice
    prompt: Prompt
    reserved: Reserved | None


class _Said:
    """What has come of a reply."""

    def __init__(self) -> None:
        self.offset = 0
        self._text: list[str] = []

    def hear(self, piece: Delta) -> None:
        self.offset += len(piece.text)
        if piece.of == "text":
            self._text.append(piece.text)

    @property
    def text(self) -> str:
        return clean("".join(self._text))[:MOST_PARTIAL]


def _wanted(log: Log) -> str:
    body = log.claim.event.body
    return body.model if isinstance(body, Heartbeat) else ""


def _settle(log: Log, asked: _Asked, usage: Usage | None, how: Literal["measured", "unused", "assumed"]) -> None:
    """None: nobody said what the call took, so it counts as all that was reserved."""
    if log.progress.reservation is not None and asked.reserved is not None:
        log.add(Settled(log.progress.reservation, all_of(asked.reserved) if usage is None else usage, how))


def _unavailable(log: Log, later: Later) -> ModelFailed:
    code = PACED if later.is_pace else "unavailable"
    return ModelFailed("", code, later.reason, retry_at=log.now() + timedelta(seconds=later.seconds))


def _whole(reply: Reply, model: str) -> Reply:
    """A reply that says nothing on purpose is silence; one that was kept from saying anything is a failure."""
    if reply.parts or reply.finish in ("stop", "tools"):
        return reply
    if reply.finish == "filtered":
        message = f"{model} was kept from answering by its provider's content filter; say it in other words, or let another model answer"
        raise ProviderFailed("filtered", message, is_lasting=True)
    message = f"{model} used up all its tokens before it said anything; raise max_output_tokens"
    raise ProviderFailed("length", message, is_lasting=True)


def _shortened(reply: Reply, asked: _Asked) -> tuple[str, ...]:
    limit = asked.choice.profile.max_output_tokens
    return (f"cut off: a reply may have {limit:,} tokens (max_output_tokens)",) if reply.finish == "length" else ()


def _without_calls(reply: Reply) -> Reply:
    """A reader was given no tools. What it tries to call anyway is noted and goes nowhere."""
    tried = tuple(f"it tried to call {part.tool}, though it has no tools" for part in reply.parts if isinstance(part, ToolCall))
    return replace(reply, parts=tuple(p for p in reply.parts if not isinstance(p, ToolCall)), remarks=(*reply.remarks, *tried[:MOST_CALLS]))


def keepable(reply: Reply) -> Reply:
    """The reply with nothing in it that could be written and not be read again. A model may send anything."""
    return replace(
        reply,
        parts=tuple(_keepable(part) for part in reply.parts),
        model=clean(reply.model)[:MOST_NAME],
        remarks=tuple(clean(remark)[:MOST_PARTIAL] for remark in reply.remarks),
    )


def _keepable(part: Part) -> Part:
    match part:
        case Text(text):
            return Text(clean(text))
        case Reasoning(text):
            return replace(part, text=clean(text), signature=_signature(part.signature))
        case ToolCall(call, tool, arguments):
            kept = replace(part, call=clean(call)[:MOST_NAME], tool=clean(tool)[:MOST_NAME], arguments=mended(arguments))
            return replace(kept, signature=_signature(part.signature))
        case _:
            return part


def _signature(signature: str | None) -> str | None:
    """Whole or not at all: it is handed back byte for byte."""
    return signature if signature is None or (len(signature) <= MOST_SIGNATURE and clean(signature) == signature) else None


def intend(log: Log, dispatch: Dispatch, calls: tuple[ToolCall, ...]) -> None:
    """Every call becomes an intent; what the gate refused gets its outcome, what needs a person one question for all."""
    judged: list[tuple[int, Intended]] = []
    known = dispatch.known()
    for i, asked in enumerate(calls):
        n = log.progress.next_n
        intended = dispatch.admit(asked, situation_for(log, n, known, asked.arguments))
        if i >= MOST_CALLS:
            intended = replace(intended, gate=Gate("invalid", f"a reply may call at most {MOST_CALLS} tools", "too_many_calls"))
        log.add(intended)
        if log.claim.turn.effects == "world":
            log.desk.outflow.note(intended.gate, log.now())
        judged.append((n, intended))
    for n, intended in judged:
        if intended.gate.verdict in ("invalid", "deny"):
            log.add(refused(n, intended, intended.gate.code or "denied", intended.gate.reason))
    if wanted := [(n, intended) for n, intended in judged if intended.gate.verdict == "ask"]:
        held = known_in(log, [intended.arguments for _, intended in wanted])
        told = [Wanted(n, _unveiled(intended, held), known[intended.tool]) for n, intended in wanted]
        asking.permit(log, told, log.progress.label.joined(label_of(held.values())))


def _unveiled(intended: Intended, held: dict[str, Held]) -> Intended:
    """Who is asked sees what the handles stand for."""
    return replace(intended, arguments=filled(intended.arguments, held)) if isinstance(intended.arguments, dict) else intended
