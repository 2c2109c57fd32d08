"""A model that follows the script in the last thing that was said to it.

What it does next depends on the messages of the request and on nothing else. Asked for `silence`, it never answers.
"""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime

from daimon.abi.message import Part, Role, Text, ToolCall, is_said
from daimon.abi.model import Delta, Reply, Request, Unmetered
from lab import deed
from lab.script import EFFECTS, Script


class ScriptedModel(Unmetered):
    name = "scripted"

    async def stream(self, request: Request) -> AsyncIterator[Delta | Reply]:
        asked = max(i for i, message in enumerate(request.messages) if is_said(message))
        script = Script.parse(request.messages[asked].text)
        done = sum(message.role is Role.ASSISTANT for message in request.messages[asked:])
        if done < len(script.rounds) and "silence" in script.rounds[done]:
            await asyncio.Event().wait()
        if done < len(script.rounds):
            calls: tuple[Part, ...] = tuple(_call(script, done, i) for i in range(len(script.rounds[done])))
            yield Reply(calls, self.name, "tools")
        else:
            yield Delta(script.answer)
            yield Reply((Text(script.answer),), self.name)


def _call(script: Script, n: int, i: int) -> ToolCall:
    wish, _, at = script.rounds[n][i].partition("@")
    call = f"{script.mark}.{n}.{i}"
    if wish in EFFECTS:
        return ToolCall(call, f"{wish}_effect", {"what": call})
    if wish in deed.TOOLS:
        return ToolCall(call, deed.TOOLS[wish], deed.arguments(wish, call))
    if wish == "remind":
        due = datetime.fromtimestamp(float(at), UTC).isoformat()
        return ToolCall(call, "remind", {"at": due, "about": f"{script.mark}-timer |"})
    if wish == "ask":
        return ToolCall(call, "ask_owner", {"question": f"What about {call}?", "options": ["stay", "go"]})
    return ToolCall(call, wish, {"text": f"note of {call}"})
