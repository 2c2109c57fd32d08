"""What is tried through a gateway's own doors: errands, providers that quote, letters, what becomes known later, every route."""

import asyncio
import json
from typing import Any

from daimon.testing.provider.line import Call, Line
from lab.coding import UNPROMISED
from lab.errand import OVER, Errand
from lab.gate import Gate
from lab.planted import QUOTING
from lab.rounds import Tour, received

FILE = {"kind": "file", "blob": "0" * 64, "media_type": "text/plain", "size": 1}


async def errands(tour: Tour, gate: Gate) -> None:
    for errand in tour.errands.values():
        if errand.group != "later":
            await gate.post(errand.posted())
    tried = [errand for errand in tour.errands.values() if errand.group != "later"]
    await gate.rest(*(errand.id for errand in tried))
    for errand in tried:
        for sink, data in (await tour.sinks(gate, errand.id)).items():
            tour.look(errand.group, f"{errand.name}, seen in the {sink}", data)


async def unpromised(tour: Tour, gate: Gate) -> None:
    """Said, not counted: what passes in forms that nobody promises to see."""
    for number, coding in enumerate(UNPROMISED):
        call = Call("leak", {"how": "result", "text": coding})
        tour.errands[f"u{number}"] = errand = Errand(f"u{number}", "later", coding, (Line(calls=(call,)), OVER))
        await gate.ask(errand.posted())
        prompt = (await tour.sinks(gate, errand.id))["prompt"].decode()
        if UNPROMISED[coding](tour.planted.texts["one"]) in prompt:
            tour.passed.append(coding)


async def quoting(tour: Tour, gate: Gate) -> None:
    names = [f"quoting-{number}" for number in range(len(QUOTING))]
    for name in names:
        event = {"type": "message", "text": "hello", "conversation": name, "reply_to": {"channel": "recorder", "to": name}}
        await gate.post(event)
    await gate.rest(*names)
    for name, kind in zip(names, QUOTING, strict=True):
        for sink, data in (await tour.sinks(gate, name)).items():
            if sink != "prompt":
                tour.look("provider quotes its key", f"{kind}, seen in the {sink}", data, "environment")


async def letters(tour: Tour, gate: Gate) -> None:
    one, plain = tour.planted.texts["one"], tour.planted.texts["plain"]
    bad: dict[str, Any] = {
        "no kind": {"text": plain}, "unknown kind": {"type": one}, "unknown field": {"type": "message", "text": "x", one: plain},
        "wrong type": {"type": "message", "text": [plain]}, "reserved source": {"type": "message", "text": plain, "source": "timer"},
        "a step that is none": {"type": "answer", "to": one, "choice": plain}, "a list": [plain],
        "a file that is not there": {"type": "message", "parts": [{**FILE, "name": one}]},
    }  # fmt: skip
    for name, event in bad.items():
        tour.look("dead letter", f"{name}, the answer", (await gate.call("POST", "/v1/events", event)).body)
    for row in await gate.data("/v1/letters?limit=100"):
        tour.look("dead letter", f"kept: {row['reason'][:40]}", json.dumps(row).encode())


async def late(tour: Tour, gate: Gate) -> str:
    """A value that was written down before it became known. Returns the turn."""
    value = tour.planted.value("late")
    note = Line(text=f"I keep {value}.", calls=(Call("remember", {"text": value}), Call("leak", {"how": "result", "text": "nothing"})))
    tour.errands["late1"] = Errand("late1", "later", "late", (note, Line(text=f"Kept {value}.")))
    tour.errands["late2"] = Errand("late2", "later", "late", (Line(calls=(Call("recall", {"query": ""}),)), OVER))
    said = {"type": "message", "conversation": "late", "reply_to": {"channel": "recorder", "to": "late"}}
    await gate.ask({**said, "text": f"errand late1; my password is {value}"})
    turn: str = (await gate.data("/v1/turns?conversation=late"))[0]["id"]
    if value.encode() not in await gate.get(f"/v1/turns/{turn}"):
        raise RuntimeError("what is not known yet should stand in the record")
    await asyncio.to_thread(tour.planted.run, "secrets", "add", "late", stdin=value)
    sent, streamed = tour.planted.sent.stat().st_size, len(gate.streamed["late"])
    asked = len(tour.provider.requests)
    await gate.ask({**said, "text": "errand late2; what do you know?"})
    tour.look("known later", "next prompts", b"\n".join(map(received, tour.provider.requests[asked:])), "late")
    tour.look("known later", "live stream", b"\n".join(gate.streamed["late"][streamed:]), "late")
    tour.look("known later", "channel", tour.planted.sent.read_bytes()[sent:], "late")
    for each in await gate.data("/v1/turns?conversation=late"):
        tour.look("known later", "record", await gate.get(f"/v1/turns/{each['id']}"), "late")
        tour.look("known later", "event", await gate.get(f"/v1/events/{each['event']}"), "late")
        for blob in await _requests(gate, each["id"]):
            tour.look("known later", "request of a model call", await gate.get(f"/v1/blobs/{blob}"), "late")
    return turn


async def _requests(gate: Gate, turn: str) -> list[str]:
    steps = (await gate.data(f"/v1/turns/{turn}"))["steps"]
    return [step["body"]["request"] for step in steps if step["body"].get("request")]


async def routes(tour: Tour, gate: Gate) -> None:
    one = tour.planted.texts["one"]
    paths = [
        "/v1/status", "/v1/turns?limit=1000", "/v1/questions", "/v1/letters?limit=1000", "/v1/costs", "/v1/grants?all=true", "/healthz",
        f"/v1/turns?state={one}", f"/v1/turns?limit={one}", f"/v1/turns/{one}", f"/v1/events/{one}", f"/v1/blobs/{one}",
        f"/v1/costs?by={one}", f"/v1/costs?since={one}", f"/{one}", f"/v1/{one}?{one}={one}",
        *(f"/v1/costs?by={by}" for by in ("month", "job", "agent", "model", "conversation", "turn")),
    ]  # fmt: skip
    for path in paths:
        tour.look("answer of the API", path.replace(one, "VALUE"), await gate.get(path), "late")
    for method, path in (
        ("DELETE", f"/v1/grants/{one}"),
        ("POST", f"/v1/turns/{one}/stop"),
        ("PUT", f"/v1/{one}"),
        ("POST", "/v1/reload"),
    ):
        tour.look("answer of the API", f"{method} {path}".replace(one, "VALUE"), (await gate.call(method, path)).body or b"-", "late")
