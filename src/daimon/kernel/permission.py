"""The question whether something may be done, in plain words: what would happen, with which data, and where each part came from.

Pure. One question for all calls of one reply that need a word. The text is for reading and holds no JSON; whatever others wrote stands in
it between quotation marks, on one line (`quote.py`), and long values are cut. The details hold the calls whole, and what a grant would
cover.
"""

from collections.abc import Sequence
from datetime import timedelta

from pydantic import JsonValue

from daimon.abi.codec import adapter
from daimon.abi.judgement import Provenance, Shown
from daimon.abi.tool import ArgumentRole, Capability, Question
from daimon.kernel import quote
from daimon.kernel.offers import DAYS, MOST_PLACE, Ground, Offer, Wanted, offers, words

DENY, ALLOW, GRANT = "deny", "allow", "grant"
SEND, STOP = "send", "stop"
YES = frozenset({ALLOW, GRANT, SEND})
"""Answers after which a call runs."""
MOST_VALUE, MOST_BEGINNING, MOST_NOTE, MOST_REASON = 120, 60, 160, 400
MOST_ITEMS = 6
MOST_PLACES = 100
"""Whom it reaches is told in full: nobody can hide behind the others."""
BRACKETS = str.maketrans("()", "[]")
"""In a note, which stands in parentheses and may quote others."""
VERBS = {
    Capability.SENDS: "sends",
    Capability.SPENDS: "spends",
    Capability.DELETES: "deletes",
    Capability.GRANTS: "changes who may do what",
    Capability.PLANS: "lets me make these calls without asking again",
}
ORIGINS: dict[Shown, str] = {
    "owner": "you wrote that",
    "store": "from a store of yours",
    "named": "from what you named",
    "plan": "as planned before",
    "grant": "as you granted",
    "own": "my own words",
    "untrusted": "NOT shown to be yours",
    "unknown": "NOT shown to be yours",
}


def question(wanted: Sequence[Wanted], ground: Ground) -> Question:
    offered = offers(wanted, ground)
    lines = [f"{_line(call)}{_reason(call)}" for call in wanted]
    if len(lines) == 1:
        text = [f"May I? {lines[0]}", *_grants(wanted, offered, ground)]
    else:
        text = [f"May I do these {len(lines)} things?", *(f"{i}. {line}" for i, line in enumerate(lines, 1))]
        text += [f"`{ALLOW}` is for all of them, `{ALLOW} 1` for the first alone, `{DENY}` for none.", *_grants(wanted, offered, ground)]
    options = (DENY, ALLOW, GRANT) if offered else (DENY, ALLOW)
    return Question("\n".join(text), options, "authorise", _details(wanted, offered))


def second_thought(call: Wanted, seconds: float) -> Question:
    """Asked of a call that is allowed: unless somebody stops it, it runs."""
    text = f"In {seconds:g} s, unless you `{STOP}` it: {_line(call)}"
    return Question(text, (SEND, STOP), "undo", _details((call,), ()))


def _grants(wanted: Sequence[Wanted], offered: Sequence[Offer], ground: Ground) -> list[str]:
    if not offered:
        return []
    until = f"without asking until {ground.today + timedelta(days=DAYS)}"
    moves = any(wanted[offer.call - 1].of(ArgumentRole.AMOUNT) for offer in offered)
    rest = "whatever the amount and the rest says" if moves else "whatever the rest says"
    if len(wanted) == 1:
        return [f"`{GRANT}` allows it, and from now on, {until}: {words(offered[0].grant)}, {rest}."]
    others = "" if len(offered) == len(wanted) else " The others cannot be granted; they are allowed once."
    numbered = "; ".join(f"({offer.call}) {words(offer.grant)}" for offer in offered)
    return [f"`{GRANT}` allows all of them, and from now on, {until}: {numbered}, {rest}.{others}"]


def _line(call: Wanted) -> str:
    verbs = [VERBS[capability] for capability in call.manifest.capabilities if capability in VERBS]
    what = " and ".join(verbs) or quote.prose(call.manifest.description, MOST_VALUE)
    parts = list(_arguments(call))
    to = f" {parts.pop(0)}" if parts and parts[0].startswith("to ") else ""
    return f"{quote.name(call.intended.tool, MOST_VALUE)} — {', '.join([what + to, *parts])}."


def _reason(call: Wanted) -> str:
    return f" Reason: {quote.prose(call.intended.gate.reason, MOST_REASON)}" if call.intended.gate.reason else ""


def _arguments(call: Wanted) -> list[str]:
    """Whom it reaches first, then the rest as it stands in the call."""
    given = call.intended.arguments if isinstance(call.intended.arguments, dict) else {"arguments": call.intended.arguments}
    if Capability.PLANS in call.manifest.capabilities:
        return [f"{quote.name(name, MOST_VALUE)} {_whole(value)}" for name, value in given.items()]
    places = call.of(ArgumentRole.DESTINATION)
    order = [*places, *(name for name in given if name not in places)]
    origins: dict[str, list[Provenance]] = {}
    for shown in call.intended.gate.provenance:
        origins.setdefault(shown.argument, []).append(shown)
    told = []
    for name in order:
        role = call.manifest.roles.get(name)
        named = "to" if role is ArgumentRole.DESTINATION and len(places) == 1 else quote.name(name, MOST_VALUE)
        told.append(f"{named} {_value(given[name], role)}{_origins(origins.pop(name, []))}")
    # what is said of a part of an argument stands behind them all
    return told + [f"of which {quote.name(part, MOST_VALUE)}{_origins(shown, is_named=True)}" for part, shown in origins.items()]


def _whole(value: JsonValue) -> str:
    """Of a plan, to the last letter: a step that is not shown would be allowed unseen."""
    items = value if isinstance(value, list) else [value]
    return ", ".join(quote.quoted(str(item), len(str(item))) for item in items if item is not None) or "none"


def _origins(shown: Sequence[Provenance], is_named: bool = False) -> str:
    """Of several values in one argument each is told apart: one that is yours says nothing of the others."""
    if not shown:
        return ""
    if len(shown) == 1 and not is_named:
        return f" ({_origin(shown[0])})"
    return f" ({'; '.join(f'{quote.quoted(each.value, MOST_VALUE)}: {_origin(each)}' for each in shown)})"


def _origin(shown: Provenance) -> str:
    note, told = quote.prose(shown.note, MOST_NOTE).translate(BRACKETS), ORIGINS[shown.shown]
    return ": ".join([note, told] if note and told.startswith("NOT") else filter(None, [told, note]))


def _value(value: JsonValue, role: ArgumentRole | None) -> str:
    match value:
        case _ if role is ArgumentRole.SECRET:
            return "(a secret, not shown)"
        case str() if role in (ArgumentRole.DESTINATION, ArgumentRole.TARGET):
            return quote.name(value, MOST_PLACE)
        case str() if len(value) > MOST_VALUE:
            return f"of {len(value):,} characters, beginning {quote.quoted(value[:MOST_BEGINNING], MOST_BEGINNING)}"
        case str():
            return quote.quoted(value, MOST_VALUE)
        case list():
            most = MOST_PLACES if role in (ArgumentRole.DESTINATION, ArgumentRole.TARGET) else MOST_ITEMS
            return _items([_value(item, role) for item in value[:most]], len(value))
        case dict():
            pairs = [f"{quote.name(name, MOST_BEGINNING)} {_value(item, role)}" for name, item in list(value.items())[:MOST_ITEMS]]
            return f"({_items(pairs, len(value))})"
        case None:
            return "nothing"
        case bool():
            return "yes" if value else "no"
        case _:
            return str(value)


def _items(told: list[str], count: int) -> str:
    return ", ".join(told) + (f" and {count - len(told)} more" if count > len(told) else "") if told else "nothing"


def _details(wanted: Sequence[Wanted], offered: Sequence[Offer]) -> JsonValue:
    return {
        "calls": [
            {
                "intent": call.n,
                "tool": call.intended.tool,
                "does": call.manifest.description,
                "can": [capability.value for capability in call.manifest.capabilities],
                "roles": {name: role.value for name, role in call.manifest.roles.items()},
                "arguments": _without_secrets(call),
                "reason": call.intended.gate.reason,
                "provenance": adapter(tuple[Provenance, ...]).dump_python(call.intended.gate.provenance, mode="json"),
            }
            for call in wanted
        ],
        "offers": adapter(tuple[Offer, ...]).dump_python(tuple(offered), mode="json"),
    }


def _without_secrets(call: Wanted) -> JsonValue:
    secrets = call.of(ArgumentRole.SECRET)
    given = call.intended.arguments
    return {name: "(a secret)" if name in secrets else value for name, value in given.items()} if isinstance(given, dict) else given
