"""How far the agent is in one chat, in words, for whoever asks with `/status`.

Some services show that somebody is at work, none shows at what, and mail shows nothing: so it can be asked, and costs no model. The owner
alone hears which tool it is and what is being waited for, since both may tell what only the owner may know; others hear that it goes on.
It reads the journal and knows neither the channel nor who may ask.
"""

from collections.abc import Sequence
from datetime import datetime

from daimon.abi.ids import HOME_SPACE
from daimon.abi.ports import Archive
from daimon.abi.step import Asked, Happened, Intended, Replied, Started, Step
from daimon.abi.turn import State, Turn
from daimon.kernel import words

NOT_RUNNING = "Nothing is running here."
MOST_QUESTION = 300


async def told(archive: Archive, conversation: str, now: datetime, is_for_owner: bool) -> str:
    for state in (State.RUNNING, State.PARKED, State.QUEUED):
        for turn in await archive.turns(HOME_SPACE, 1, conversation, state):
            took = words.duration(max(0.0, (now - turn.created_at).total_seconds()))
            if not is_for_owner:
                return f"At work on it for {took}." if state is State.RUNNING else "It waits, and goes on as soon as it may."
            return _of(turn, await archive.steps(turn.id), took)
    return NOT_RUNNING


def _of(turn: Turn, steps: Sequence[Step], took: str) -> str:
    if turn.state is State.RUNNING:
        used = words.count(sum(isinstance(step.body, Intended) for step in steps), "tool call")
        return f"At work for {took}, {used} so far; right now {_doing(steps)}."
    asked = [question.text for step in steps if isinstance(step.body, Asked | Started) and (question := step.body.question) is not None]
    return f"It waits, for {took} by now." + (f" The last question was: {words.short(asked[-1], MOST_QUESTION)}" if asked else "")


def _doing(steps: Sequence[Step]) -> str:
    over = {step.body.intent for step in steps if isinstance(step.body, Happened)}
    open_ = [step.body.tool for step in steps if isinstance(step.body, Intended) and step.n not in over]
    if open_:
        return f"it uses {', '.join(dict.fromkeys(open_))}"
    return "it thinks about what came of that" if any(isinstance(step.body, Replied) for step in steps) else "it thinks"
