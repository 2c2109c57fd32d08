"""What a tool gets to know about the call that it serves."""

from daimon.abi.ids import StepRef
from daimon.abi.tool import Call
from daimon.kernel.log import Log


def call_for(log: Log, n: int) -> Call:
    turn, step = log.claim.turn, log.progress.steps[n] if n < log.progress.next_n else None
    return Call(
        key=StepRef(turn.id, n).key,
        space=turn.space,
        principal=turn.principal,
        agent=log.progress.agent,
        conversation=turn.where,
        reply_to=log.claim.event.reply_to,
        now=log.now() if step is None else step.at,
        label=log.progress.label,
    )
