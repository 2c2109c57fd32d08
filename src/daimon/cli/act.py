"""Commands that change something. All but `reload` are events, like all that enters."""

import asyncio
import json
from pathlib import Path

from daimon import homes
from daimon.abi.codec import encode
from daimon.abi.errors import BadInput, NotFound
from daimon.abi.ids import StepRef
from daimon.abi.turn import State, Turn
from daimon.cli import screen
from daimon.cli.awake import client_of
from daimon.cli.look import find, open_now
from daimon.cli.reach import RESTART_S, door, source
from daimon.cli.speech import misread, pick
from daimon.cli.talk import deliver
from daimon.gateway.answers import Reloaded, Taken

LATER = "; no gateway is running, so it takes effect at the next `daimon up`"


def stop(given: Path | None, turn: str, as_json: bool) -> None:
    home = homes.home_at(given)
    found = asyncio.run(_find(home, turn))
    is_over = found.state in (State.DONE, State.FAILED)
    is_running = is_over or _send(home, {"type": "stop", "turn": found.id, "reason": "asked by the owner"})[1]
    if as_json:
        screen.emit_value({"turn": found.id, "state": found.state, "is_stopping": not is_over})
    elif is_over:
        screen.say(f"{found.id} was over already: {found.ending}")
    else:
        screen.say(f"{found.id} was told to stop{'' if is_running else LATER}")


async def _find(home: homes.Home, turn: str) -> Turn:
    async with source(home) as journal:
        return await find(journal, turn)


def reload(given: Path | None, as_json: bool) -> None:
    done = client_of(homes.home_at(given)).reload()
    if as_json:
        screen.emit(encode(Reloaded, done))
        return
    screen.say(f"read again; {', '.join(done.use)} will answer")
    if done.restart:
        screen.remark(f"changed too, and used from the next start on: {', '.join(done.restart)}")


def answer(given: Path | None, to: str, choice: str, text: str, as_json: bool) -> None:
    home = homes.home_at(given)
    picked, besides = _pick(home, _step(to), choice, text)
    taken, is_running = _send(home, {"type": "answer", "to": to, "choice": picked, "text": besides})
    if as_json:
        screen.emit_value({"event": taken.event, "to": to, "choice": picked, "new": taken.new})
    else:
        screen.say(f"answered {to}: {picked}{'' if is_running else LATER}")


def _pick(home: homes.Home, to: StepRef, choice: str, text: str) -> tuple[str, str]:
    """The option, and all that was said besides."""
    asked = next((q.question for q in asyncio.run(open_now(home)) if q.to == to), None)
    if asked is None:
        raise NotFound(f"nobody asks {to} (any more); `daimon questions` lists what is open")
    picked = pick(asked, choice)
    if picked is None:
        raise BadInput(f"{choice!r} is none of {' / '.join(asked.options)}")
    option, besides = picked[0], " ".join(filter(None, [picked[1], text]))
    if fault := misread(asked, option, besides):
        raise BadInput(f"{' '.join(filter(None, [choice, text]))!r} was not understood: {fault}")
    return option, besides


def _step(text: str) -> StepRef:
    try:
        return StepRef.parse(text)
    except ValueError as bad:
        raise BadInput(str(bad)) from None


def _send(home: homes.Home, event: dict[str, str]) -> tuple[Taken, bool]:
    with door(home) as (opened, is_running):
        return deliver(opened, json.dumps(event).encode(), RESTART_S), is_running
