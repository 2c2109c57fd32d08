"""THE LOOP: load context → model → tools → repeat → persist → respond or stay silent.

The same code for a message, a webhook, a timer, an injected event. It asks the scheduler policy what comes next and does it,
until the turn rests. Kill the process at any line: what was added and not committed never happened, what was committed is
found by the next claim, and `recovery` settles what was under way. Nothing here knows where events come from or where answers
go.
"""

from dataclasses import dataclass
from itertools import takewhile
from typing import Literal

from daimon.abi.event import Event, Said
from daimon.abi.message import Audio, Content, File, Image, Text
from daimon.abi.people import serves_owner
from daimon.abi.ports import Ended, More, Released
from daimon.abi.step import AskHuman, Complete, Continue, Decided, HandOff, Park, RefreshContext, Replied, UseTools
from daimon.abi.turn import Ending, Pins
from daimon.kernel import answering, asking, recovery, wall
from daimon.kernel.acting import Acting
from daimon.kernel.decide import VERSION, Limits, decide
from daimon.kernel.desk import Desk
from daimon.kernel.dispatch import refused
from daimon.kernel.log import Log
from daimon.kernel.running import Running, Stopped
from daimon.kernel.thinking import Thinking

Newer = Literal["wait", "steer", "interrupt"]
"""What a newer message does to a running turn."""


@dataclass(frozen=True, slots=True)
class Turns:
    thinking: Thinking
    acting: Acting
    limits: Limits
    newer: Newer
    desk: Desk

    async def run(self, running: Running, pins: Pins) -> More | Released:
        log = running.log
        await self.thinking.recollect(log)
        await recovery.settle(log, self.acting.dispatch, pins)
        while True:
            self._take_in(log)
            view = log.progress.view()
            decision = decide(view, self.limits)
            log.add(Decided(decision, VERSION, view.as_inputs()))
            try:
                match decision:
                    case Continue():
                        await self.thinking.think(running, self._take_in)
                    case UseTools(intents):
                        await self.acting.act(running, intents)
                    case AskHuman(question, about):
                        asking.ask(log, question, () if about is None else (about,))
                    case RefreshContext() | HandOff():
                        await log.commit()  # the next thought reads everything anew, for whoever is the agent now
                    case Park(waits=waits):
                        return await log.park(waits)
                    case Complete(ending, reason):
                        return await self._complete(log, ending, reason)
            except Stopped:
                log.progress.is_stopped |= not log.progress.is_interrupted

    async def give_up(self, log: Log, reason: str) -> More | Released:
        """Ends a turn that this system cannot carry on with."""
        recovery.settle_call(log)
        log.add(Decided(Complete(Ending.FAILED, reason), VERSION))
        return await self._complete(log, Ending.FAILED, reason)

    async def _complete(self, log: Log, ending: Ending, reason: str) -> More | Released:
        for n in log.progress.open_intents:
            intended = log.progress.intent(n)
            assert intended is not None
            log.add(refused(n, intended, "cancelled", f"the turn ended before this did: {reason}", "cancelled"))
        reply = _reply(log, ending, reason) if log.claim.turn.effects == "world" else ()
        said, besides = await self.acting.dispatch.holding.said(log, reply)
        return await log.finish(wall.ended(log, Ended(ending, log.progress.label.joined(besides), said)))

    def may_interrupt(self, log: Log, newer: tuple[Event, ...]) -> bool:
        return self.newer == "interrupt" and bool(newer) and _is_for(log, newer[0]) and not _steers(newer[0])

    def _take_in(self, log: Log) -> bool:
        """Takes in what arrived since the last look; says whether anything did."""
        before = log.progress.next_n
        arrived, newer = log.arrived, log.newer
        log.arrived, log.newer = (), ()
        for event in arrived:
            answering.resolve(log, event)
        if self.may_interrupt(log, newer):
            log.progress.is_interrupted = True
        for event in takewhile(lambda e: _is_for(log, e) and (self.newer == "steer" or _steers(e)), newer):
            log.receive(event)
        return log.progress.next_n > before or log.progress.is_interrupted or log.progress.is_stopped


def _is_for(log: Log, event: Event) -> bool:
    """Only what the same person says in the same conversation may steer or interrupt."""
    return isinstance(event.body, Said) and event.principal == log.claim.turn.principal and event.resolves is None


def _steers(event: Event) -> bool:
    """Whoever said it meant it for the turn that runs."""
    return isinstance(event.body, Said) and event.body.steers


def _reply(log: Log, ending: Ending, reason: str) -> tuple[Content, ...]:
    match ending:
        case Ending.ANSWERED:
            reply = log.progress.last_reply
            return () if reply is None else _said(reply)
        case Ending.LIMIT | Ending.FAILED:
            why = f": {reason}" if serves_owner(log.claim.turn.principal) else ""
            return (Text(f"I had to stop before I was done{why}."),)
        case _:
            return ()


def _said(reply: Replied) -> tuple[Content, ...]:
    """What it said; where it was cut off, it says so."""
    notes = tuple(Text(f"\n\n({remark})") for remark in reply.remarks if reply.finish == "length")
    return (*(part for part in reply.parts if isinstance(part, Text | Image | Audio | File)), *notes)
