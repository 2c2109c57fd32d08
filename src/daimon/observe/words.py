"""Values in a person's words: what an event says, what parts hold, where a label comes from, how long something took.

Words are one line or a few, never markup: whoever shows them decides how they look, and makes them safe for the place where they are shown.
"""

import json
from collections.abc import Iterable
from typing import assert_never

from pydantic import JsonValue

from daimon.abi.event import Answer, Body, Erased, Fired, FromAgent, Heartbeat, Late, Said, Stop, Webhook
from daimon.abi.label import Label
from daimon.abi.message import Audio, File, Image, Part, Reasoning, Text, ToolCall, ToolResult
from daimon.abi.step import Usage


def said(body: Body) -> str:
    """What an event brought."""
    match body:
        case Said(parts=parts) | FromAgent(parts=parts):
            return joined(parts)
        case Webhook() | Heartbeat() | Fired() | Late():
            return _happened(body)
        case Answer(choice=choice, text=text):
            return f"{choice}: {text}" if text else choice
        case Stop(turn=turn, reason=reason):
            return f"stop {turn}: {reason}" if reason else f"stop {turn}"
        case Erased():
            return erased(body)
        case _:
            assert_never(body)


def _happened(body: Webhook | Heartbeat | Fired | Late) -> str:
    match body:
        case Webhook(service=service, data=data):
            return f"{service} {compact(data)}"
        case Heartbeat(job=job, data=data):
            return job if data is None else f"{job} {compact(data)}"
        case Fired(about=about, due=due, late_s=late_s):
            return f"{about} (due {due:%Y-%m-%d %H:%M:%S}" + (f", {duration(late_s)} late)" if late_s >= 1 else ")")
        case Late(data=data, is_error=is_error):
            return f"{'failed: ' if is_error else ''}{compact(data)}"
        case _:
            assert_never(body)


def joined(parts: Iterable[Part]) -> str:
    return "\n".join(filter(None, map(part, parts)))


def reply(parts: Iterable[Part]) -> str:
    """What a model said to a person: its text in one piece, then what else came with it."""
    parts = tuple(parts)
    text = "".join(p.text for p in parts if isinstance(p, Text))
    return "\n".join(filter(None, [text, *(part(p) for p in parts if isinstance(p, Image | Audio | File))]))


def part(value: Part) -> str:
    match value:
        case Text(text=text) | Reasoning(text=text):
            return text
        case Image(description=description):
            return f"[image {value.media_type}{': ' + description if description else ''}]"
        case Audio(transcript=transcript):
            return transcript or f"[audio {value.media_type}]"
        case File(name=name, size=size):
            return f"[file {name}, {size} bytes]"
        case ToolCall(tool=tool, arguments=arguments):
            return call(tool, arguments)
        case ToolResult(parts=parts):
            return joined(parts)
        case _:
            assert_never(value)


def call(tool: str, arguments: JsonValue) -> str:
    if isinstance(arguments, dict):
        return f"{tool}({', '.join(f'{name}={compact(value)}' for name, value in arguments.items())})"
    return f"{tool}({compact(arguments)})"


def compact(value: JsonValue) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)


def erased(gone: Erased) -> str:
    return f"erased: {gone.reason}"


def label(value: Label) -> str:
    trust = "trusted" if value.is_trusted else "untrusted"
    return f"{trust} {', '.join(map(str, value.origins))}".rstrip()


def usage(value: Usage) -> str:
    cached = f" ({value.cached_tokens} cached)" if value.cached_tokens else ""
    cost = "unknown cost" if value.cost is None else f"cost {value.cost.normalize():f}"
    return f"{value.input_tokens}{cached} tokens in, {value.output_tokens} out, {cost}"


def duration(seconds: float) -> str:
    if seconds < 1:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 120:
        return f"{seconds:.1f} s"
    hours, rest = divmod(int(seconds), 3600)
    return f"{hours} h {rest // 60} min" if hours else f"{rest // 60} min {rest % 60} s"


def short(text: str, most: int = 60) -> str:
    """The beginning, on one line."""
    line = " ".join(text.split())
    return line if len(line) <= most else line[: most - 1].rstrip() + "…"
