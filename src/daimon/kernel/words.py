"""Values in a person's words: what an event says, what parts hold, where a label comes from, how long something took, what it cost.

Words are one line or a few, never markup: whoever shows them decides how they look, and makes them safe for the place where they are shown.
"""

import json
from collections.abc import Iterable
from datetime import UTC, datetime
from decimal import Decimal
from typing import assert_never

from pydantic import JsonValue

from daimon.abi.event import Answer, Body, Erased, Fired, FromAgent, Heartbeat, Late, Said, Stop, Webhook
from daimon.abi.judgement import Grant
from daimon.abi.label import Label
from daimon.abi.message import Audio, File, Image, Part, Reasoning, Text, ToolCall, ToolResult
from daimon.abi.money import Account, Amount, Limit, Usage, dollars
from daimon.abi.ports import Balance
from daimon.kernel import offers
from daimon.kernel.budget import named


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
        case Webhook(service=what, data=data, task=task) | Heartbeat(job=what, data=data, task=task):
            told = f"{what} ({task})" if task else what
            return told if data is None else f"{told} {compact(data)}"
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


def data_of(parts: Iterable[Part]) -> JsonValue:
    """What a tool returned, taken out of the form in which models get it; None if it is in no such form."""
    for value in parts:
        if isinstance(value, Text):
            try:
                told = json.loads(value.text)
            except (ValueError, RecursionError):
                return None
            return told.get("data") if isinstance(told, dict) else None
    return None


def call(tool: str, arguments: JsonValue) -> str:
    if isinstance(arguments, dict):
        return f"{tool}({', '.join(f'{name}={compact(value)}' for name, value in arguments.items())})"
    return f"{tool}({compact(arguments)})"


def compact(value: JsonValue) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)


def erased(gone: Erased) -> str:
    return f"erased: {gone.reason}"


def label(value: Label) -> str:
    trust = "trusted" if value.is_trusted else "limited" if value.is_limited else "untrusted"
    return f"{trust} {', '.join(map(str, value.origins))}".rstrip()


def usage(value: Usage) -> str:
    return f"{tokens(value)}, {cost(value.cost)}"


def tokens(value: Usage) -> str:
    return f"{value.input_tokens:,} tokens in{_cache(value)}, {value.output_tokens:,} out"


def _cache(value: Usage) -> str:
    cached = f", {value.cached_tokens:,} cached: {share(value.cached_tokens, value.input_tokens)}" if value.cached_tokens else ""
    written = f", {value.cache_write_tokens:,} of it written to the cache" if value.cache_write_tokens else ""
    return f" ({fresh(value.input_tokens, value.cached_tokens):,} fresh{written}{cached})" if cached or written else ""


def fresh(input_tokens: int, cached_tokens: int) -> int:
    """What the provider had to read anew. A provider may count its cache wrongly; less than nothing is not read."""
    return max(0, input_tokens - cached_tokens)


def share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.0f} %" if whole else "0 %"


def cost(value: Decimal | None) -> str:
    return "unknown cost" if value is None else f"cost {dollars(value)}"


def amount(value: Amount) -> str:
    """Tokens, money or both, whichever there is."""
    if value.tokens and value.cost:
        return f"{value.tokens:,} tokens and {dollars(value.cost)}"
    return f"{value.tokens:,} tokens" if value.tokens else dollars(value.cost)


def grant(value: Grant) -> str:
    """What was allowed ahead of time, for whom and until when."""
    until = "" if value.until is None else f", until {moment(value.until)}"
    return f"{offers.words(value)}{until} (for {value.agent})"


def limit(value: Limit) -> str:
    given = ([] if value.tokens is None else [f"{value.tokens:,} tokens"]) + ([] if value.cost is None else [dollars(value.cost)])
    return " and ".join(given) or "no limit"


def account(value: Account) -> str:
    return f"{value.scope} {value.key}: {limit(value.limit)}"


def balance(value: Balance) -> str:
    """How much of a limit is spent: `today $1.20 of $5.00`."""
    most = value.account.limit
    spent = [f"{dollars(value.spent.cost)} of {dollars(most.cost)}"] if most.cost is not None else []
    spent += [f"{value.spent.tokens:,} of {most.tokens:,} tokens"] if most.tokens is not None else []
    held = f", {dollars(value.held.cost)} set aside" if value.held.cost else ""
    waiting = f", {count(value.waiting, 'turn')} waiting for money" if value.waiting else ""
    return f"{named(value.account)} {' and '.join(spent) or f'{dollars(value.spent.cost)}, no limit'}{held}{waiting}"


def count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def moment(value: datetime) -> str:
    return f"{value.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"


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
