"""Why each message of a request is there, in their order; worked out only when somebody asks."""

from dataclasses import dataclass

from daimon.abi.context import Entry, Form, Seen, Sort
from daimon.abi.message import Message
from daimon.context import policy
from daimon.context.policy import Line
from daimon.context.tokens import estimate


@dataclass(frozen=True, slots=True)
class Shown:
    """What a layout was at that moment. Its lists may have grown since: only so many entries count."""

    entries: list[Entry]
    forms: "list[Form | None]"
    pins: dict[int, str]
    sizes: list[int]
    edge: int
    """Where this turn begins."""
    count: int
    system: Message
    head: tuple[Message, ...]
    tail: tuple[Message, ...]


def explain(shown: Shown) -> tuple[Seen, ...]:
    entries, forms = shown.entries[: shown.count], shown.forms[: shown.count]
    found = [_fixed("daimon", "system", shown.system, "the system text and the owner's own words for every prompt")]
    found += map(_head, shown.head)
    tiers = policy.tiers(Line(entries, shown.edge), forms, shown.pins)
    used = {entry.subject: entry.source for entry in entries if entry.subject}
    places = [n for n, form in enumerate(forms) if form is not None]
    for n, tokens in zip(places, shown.sizes, strict=False):
        entry, form = entries[n], forms[n] or "whole"
        why = _why(entry, n < shown.edge, form)
        pinned, last_use = shown.pins.get(n, ""), used.get(entry.subject, "")
        found.append(Seen(entry.source, entry.sort, form, tiers[n], tokens, entry.label, why, pinned, entry.version, last_use))
    found += [_fixed("daimon", "notice", message, "what is true now and stands nowhere else") for message in shown.tail]
    return tuple(found)


def _head(message: Message) -> Seen:
    if message.text.startswith("[page]"):
        return _fixed("memory", "page", message, "the page, which is part of every prompt")
    return _fixed("earlier turns", "summary", message, "in place of what was left out")


def _fixed(source: str, sort: Sort, message: Message, why: str) -> Seen:
    return Seen(source, sort, "whole", "L1", estimate(message), message.label, why)


def _why(entry: Entry, is_earlier: bool, form: Form) -> str:
    where = "an earlier turn of this conversation" if is_earlier else "this turn"
    what = {"said": "what was said in", "reply": "a reply of", "result": "the result of a call of", "memory": "recalled from memory for"}
    what["skills"] = "skills that may fit what was said in"
    short = "" if form == "whole" else f", {form} because the window was full"
    return f"{what.get(entry.sort, 'part of')} {where}{short}"
