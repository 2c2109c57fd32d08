"""A grant as a policy: what the owner allowed ahead of time, in the same language as every other rule.

It permits to act and lifts nothing else: a forbid stands above it. It never covers text with links, addresses or account numbers that are
not the owner's, and only serves whoever gave it. Values come from messages and may hold anything, so every character that is not a plain
letter or digit is written as its number: no value can end its own quotes.
"""

from collections.abc import Iterable

from daimon.abi.judgement import Grant
from daimon.abi.plain import clean
from daimon.policy.moments import written
from daimon.policy.names import canonical
from daimon.policy.source import Source

PREFIX = "grant:"
PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 _-.@:/")


def as_policy(grant: Grant) -> str:
    tool = f"resource == Tool::{_text(grant.tool)}" if grant.tool else "resource"
    conditions = " && ".join(_conditions(grant))
    return (
        f"@id({_text(PREFIX + grant.id)})\n"
        f"@says({_text(says(grant))})\n"
        f'permit (principal == Agent::{_text(grant.agent)}, action == Action::"act", {tool})\n'
        f"when {{ {conditions} }};\n"
    )


def as_sources(grants: Iterable[Grant]) -> tuple[Source, ...]:
    return tuple(Source(PREFIX + grant.id, as_policy(grant)) for grant in grants)


def says(grant: Grant) -> str:
    """In words, for the owner."""
    scopes = (
        ("with", (grant.tool,) if grant.tool else ()),
        ("to", grant.destinations),
        ("on", grant.targets),
        ("with text from", grant.contents),
        ("in", (f"the automation {grant.job}",) if grant.job else ()),
        ("until", (f"{grant.until:%Y-%m-%d %H:%M %Z}",) if grant.until else ()),
    )
    limits = "".join(f", {word} {', '.join(values)}" for word, values in scopes if values)
    what = ", ".join(grant.capabilities) or "nothing but harmless calls"
    return f"{grant.by} allowed {grant.agent} ahead of time: {what}{limits}."


def _conditions(grant: Grant) -> list[str]:
    covers = f"{_set(grant.capabilities)}.containsAll(resource.capabilities)" if grant.capabilities else "resource.capabilities.isEmpty()"
    found = [covers, "!context.is_active", f"context.on_behalf == {_text(grant.by)}"]
    for name, values in (("destinations", grant.destinations), ("targets", grant.targets)):
        if values:  # a call of which nobody knows whom it reaches does not fit
            found.append(f"!context.{name}.isEmpty() && {_set(map(canonical, values))}.containsAll(context.{name})")
    if grant.destinations and not grant.targets:
        found.append("context.targets.isEmpty()")  # words for somebody are not things for them
    if grant.contents:
        found.append(f"{_set(grant.contents)}.containsAll(context.drawn)")
    if grant.job:
        found.append(f"context.job == {_text(grant.job)}")
    if grant.until is not None:
        found.append(f'context.now < datetime("{written(grant.until)}")')
    return found


def _set(values: Iterable[str]) -> str:
    return f"[{', '.join(map(_text, values))}]"


def _text(value: str) -> str:
    return '"' + "".join(c if c in PLAIN else f"\\u{{{ord(c):x}}}" for c in clean(value)) + '"'
