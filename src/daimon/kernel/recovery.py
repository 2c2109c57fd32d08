"""What a crash left behind, put right before the turn goes on. No model is asked.

A model call that was not settled is settled at its full reservation, and asked anew.

An intent that was allowed and has no outcome is in doubt: the process died somewhere between writing it down and hearing back.

    pure, idempotent   run it again; the key is the same, so the world can tell
    verifiable         ask the world: it happened (record that), or it did not (run it)
    unsafe             never repeated by itself: the owner is asked
    in the middle      it asked something, and the answer was on its way to it: it has ended, and is not begun again

A turn that was started under other pins (another release, policy, tool set or model) goes on with what is there now; the
difference is recorded. A call that was decided under another manifest of its tool is not run: the model hears `tool_changed`, or,
where the call may have run before the crash and is not pure, the owner is asked what became of it.
"""

from daimon.abi.errors import ToolFailed
from daimon.abi.money import Usage
from daimon.abi.step import Intended, Reserved, Settled, Upgraded
from daimon.abi.tool import Effect, Question
from daimon.abi.turn import Pins
from daimon.kernel import asking
from daimon.kernel.dispatch import Dispatch
from daimon.kernel.log import Log
from daimon.kernel.situation import situation_of


async def settle(log: Log, dispatch: Dispatch, pins: Pins) -> None:
    if log.progress.steps and (before := _last_pins(log)) != pins:
        log.add(Upgraded(before, pins))
    settle_call(log)
    if log.progress.is_stopped:
        return  # the turn ends now, and says of each open call that it may or may not have taken effect
    for n in sorted(log.progress.in_doubt):
        intended = log.progress.intent(n)
        assert intended is not None
        await _settle(log, dispatch, n, intended)


def settle_call(log: Log) -> None:
    """A model call under way when its turn was cut off counts as all that was reserved: nobody knows what it took."""
    if log.progress.reservation is not None:
        reserved = log.progress.steps[log.progress.reservation].body
        assert isinstance(reserved, Reserved)
        log.add(Settled(log.progress.reservation, all_of(reserved), "assumed"))


def all_of(reserved: Reserved) -> Usage:
    return Usage(reserved.input_tokens, reserved.output_tokens, cost=reserved.cost)


async def _settle(log: Log, dispatch: Dispatch, n: int, intended: Intended) -> None:
    if (asked := log.progress.resumed(n)) is not None:
        log.add(await dispatch.go_on(n, intended, await situation_of(log, dispatch, n), asked.handle, None))
        log.progress.in_doubt.discard(n)
        return
    effect = intended.effect if log.claim.turn.effects == "world" else Effect.PURE
    if effect is not Effect.PURE and dispatch.is_changed(intended):
        asking.ask(log, what_happened(intended, "Its tool was updated or removed meanwhile."), calls=(n,))
    else:
        await _by_effect(log, dispatch, n, intended, effect)
    log.progress.in_doubt.discard(n)


async def _by_effect(log: Log, dispatch: Dispatch, n: int, intended: Intended, effect: Effect) -> None:
    match effect:
        case Effect.PURE | Effect.IDEMPOTENT:
            log.progress.rerun.add(n)
        case Effect.VERIFIABLE:
            try:
                happened = await dispatch.verify(n, intended, await situation_of(log, dispatch, n))
            except ToolFailed as unclear:
                asking.ask(log, what_happened(intended, f"Asking whether it did failed: {unclear}"), calls=(n,))
            else:
                if happened is not None:
                    log.add(happened, log.progress.label.joined(happened.result.label))
                else:
                    log.progress.rerun.add(n)
        case Effect.UNSAFE:
            asking.ask(log, what_happened(intended, "It cannot be repeated safely."), calls=(n,))


def what_happened(intended: Intended, why: str) -> Question:
    return Question(
        f"I was cut off while calling {intended.tool} and do not know whether it took effect. {why} "
        "Answer `leave` to go on without it, `done` if it did happen, `allow` to run it (again).",
        ("leave", "done", "allow"),
        "outcome",
        {"tool": intended.tool, "arguments": intended.arguments, "key": intended.key},
    )


def _last_pins(log: Log) -> Pins:
    for step in reversed(log.progress.steps):
        if isinstance(step.body, Upgraded):
            return step.body.after
    return log.claim.turn.pins
