"""What a server asks the owner, as a question of ours, and the owner's words as the answer that the server takes. Pure.

Simple forms only, as the protocol has them: texts, numbers, yes or no, one or some of a list. A single choice becomes options; anything
else is answered in words, a line for each field. All that the server wrote is a stranger's, cleaned and marked as its own words. Patterns
that a server gives for a field are not tried: a stranger's pattern can take for ever.
"""

import json
import re
from dataclasses import dataclass, replace
from typing import Any, Literal
from urllib.parse import urlsplit

from pydantic import JsonValue

from daimon.abi.errors import BadInput
from daimon.abi.tool import Question, Word
from daimon.mcp.words import kept, shown

DECLINE, ACCEPT, DONE, YES, NO = "decline", "accept", "done", "yes", "no"
MOST_FIELDS, MOST_OPTIONS, MOST_MESSAGE = 20, 12, 2_000
Kind = Literal["text", "number", "integer", "yes or no", "one of", "some of"]
_SECRET = re.compile(
    r"(?i)pass(?:word|wort|phrase|code|wd)|\bpwd\b|secret|\btokens?\b|api.?key|access.?key|private.?key|\bseed\b.?(?:phrase|words)|mnemonic"
    r"|credential|card.?(?:number|no\b)|credit.?card|\bcvv\b|\bcvc\b|security.?code|\bpin\b|one.?time|\botp\b|2fa|\bmfa\b|\bssn\b"
    r"|social.?security|\biban\b|client.?secret|bearer|cookie|session.?id|recovery.?code"
)
_JOINTS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[_\-.]+")


@dataclass(frozen=True, slots=True)
class Field:
    name: str
    title: str
    kind: Kind
    is_required: bool
    about: str = ""
    options: dict[str, JsonValue] | None = None
    """What is shown, and what is sent."""
    least: float | None = None
    most: float | None = None
    default: JsonValue = None
    """What is sent where the owner leaves it out; the question says so. None: nothing is."""

    @property
    def is_free(self) -> bool:
        """Could hold any words."""
        return self.kind in ("text", "number", "integer")


@dataclass(frozen=True, slots=True)
class Form:
    fields: tuple[Field, ...]

    @property
    def has_defaults(self) -> bool:
        return any(field.default is not None for field in self.fields)

    @property
    def choices(self) -> dict[str, JsonValue]:
        """The answers, where one of a few will do: what is shown, and what is sent as a whole."""
        match self.fields:
            case ():
                return {ACCEPT: {}}
            case (Field(kind="yes or no") as only,):
                return {YES: {only.name: True}, NO: {only.name: False}}
            case (Field(kind="one of", options=dict() as options) as only,) if len(options) <= MOST_OPTIONS:
                return {said: {only.name: value} for said, value in options.items()}
            case _:
                return {}


def form_of(schema: dict[str, Any]) -> Form:
    """Raises BadInput for one that is not simple."""
    fields = schema.get("properties", {})
    if schema.get("type", "object") != "object" or not isinstance(fields, dict) or len(fields) > MOST_FIELDS:
        raise BadInput(f"it is no form of at most {MOST_FIELDS} simple fields")
    required = schema.get("required", [])
    made = [(_field(str(name), each, name in required), each) for name, each in fields.items()]
    return Form(tuple(replace(field, default=_default(field, each)) for field, each in made))


def secret_in(message: str, schema: dict[str, Any]) -> str:
    """What of it asks for a secret; empty: nothing does. Where no free words can be given, none can be given away."""
    fields = [(str(name), each) for name, each in schema.get("properties", {}).items() if isinstance(each, dict)]
    free = [(name, each) for name, each in fields if not ({"enum", "oneOf", "anyOf"} & each.keys()) and each.get("type") != "boolean"]
    for name, each in free:
        said = " ".join(str(each.get(key, "")) for key in ("title", "description"))
        if each.get("format") == "password" or each.get("writeOnly") is True or _SECRET.search(f"{_JOINTS.sub(' ', name)} {said}"):
            return shown(name, 60)
    return "what it says" if free and _SECRET.search(message) else ""


def question(server: str, message: str, form: Form, fault: str = "") -> Question:
    lines = [f"{fault} Once more." if fault else "", f"The server {server} asks, in its own words: {kept(message, MOST_MESSAGE)}"]
    if choices := form.choices:
        return Question("\n".join(filter(None, lines)), (DECLINE, *choices))
    lines += [_line(field) for field in form.fields]
    how = "Answer with it" if len(form.fields) == 1 else "Answer each on a line of its own, as NAME: VALUE"
    how += f", or {ACCEPT} to leave all as it is" if form.has_defaults else ""
    return Question("\n".join(filter(None, (*lines, f"{how}, or say {DECLINE}. Do not give it a secret: it goes to the server as it is."))))


def page(server: str, message: str, url: str) -> Question:
    """Raises BadInput for an address that nobody should open."""
    host = _host(url)
    if not host or not url.isascii() or not url.isprintable() or len(url) > MOST_MESSAGE:
        raise BadInput("it names no page that could be shown safely")
    asked = f"The server {server} asks you to open a page of {host}, in its own words: {kept(message, MOST_MESSAGE)}"
    text = f"{asked}\n{url}\nIt was not opened. Open it only if you expect this, and know {host}; say {DONE} when you are."
    return Question(text, (DECLINE, DONE))


def _host(url: str) -> str:
    """As it is on the wire, so that one that only looks alike is seen to be another. Empty: nobody should open this."""
    try:
        parts = urlsplit(url)
        port = f":{parts.port}" if parts.port else ""
    except ValueError:
        return ""
    return (parts.hostname or "") + port if parts.scheme in ("https", "http") and parts.hostname and not parts.username else ""


def answer(form: Form, word: Word) -> dict[str, JsonValue] | None:
    """What the owner's words say; None: no. Raises BadInput with what to mend."""
    if choices := form.choices:
        found = choices.get(word.choice)
        return found if isinstance(found, dict) else None
    said = word.choice.strip() or word.text.strip()
    if said.casefold() in (DECLINE, "cancel", NO):
        return None
    given = {} if said.casefold() == ACCEPT and form.has_defaults else _given(form, said)
    found_: dict[str, JsonValue] = {field.name: field.default for field in form.fields if field.default is not None}
    found_ |= {field.name: _value(field, given[field.name]) for field in form.fields if given.get(field.name, "") != ""}
    if missing := [field.title for field in form.fields if field.is_required and field.name not in found_]:
        raise BadInput(f"{', '.join(missing)} is missing.")
    return found_


def _given(form: Form, said: str) -> dict[str, Any]:
    if len(form.fields) == 1:
        return {form.fields[0].name: said.removeprefix(f"{form.fields[0].title}:").strip()}
    if said.startswith("{"):
        try:
            read = json.loads(said)
        except (ValueError, RecursionError):
            raise BadInput("That is no JSON.") from None
        return {str(name): value for name, value in read.items()}
    known = {each.casefold(): field.name for field in form.fields for each in (field.name, field.title)}
    given: dict[str, Any] = {}
    for line in filter(str.strip, said.splitlines()):
        name, colon, value = line.partition(":")
        if not colon or (field := known.get(name.strip().casefold())) is None:
            raise BadInput(f"{shown(line, 60)!r} is not NAME: VALUE with one of {', '.join(f.title for f in form.fields)}.")
        given[field] = value.strip()
    return given


def _value(field: Field, said: Any) -> JsonValue:
    text = said if isinstance(said, str) else json.dumps(said)
    match field.kind:
        case "yes or no":
            if text.casefold() not in ("yes", "no", "true", "false"):
                raise BadInput(f"{field.title} is yes or no.")
            return text.casefold() in ("yes", "true")
        case "one of":
            return _option(field, text)
        case "some of":
            return [_option(field, each.strip()) for each in text.strip("[]").replace('"', "").split(",") if each.strip()]
        case "number" | "integer":
            return _number(field, text)
        case _:
            return _within(field, text, len(text), "characters")


def _option(field: Field, text: str) -> JsonValue:
    found = {shown_.casefold(): value for shown_, value in (field.options or {}).items()}
    if text.casefold() not in found:
        raise BadInput(f"{field.title} is one of {', '.join(field.options or {})}.")
    return found[text.casefold()]


def _number(field: Field, text: str) -> JsonValue:
    try:
        number = int(text) if field.kind == "integer" else float(text.replace(",", "."))
    except (ValueError, OverflowError):
        raise BadInput(f"{field.title} is a number.") from None
    _within(field, text, number, "")
    return number


def _within(field: Field, text: str, size: float, unit: str) -> str:
    if (field.least is not None and size < field.least) or (field.most is not None and size > field.most) or not abs(size) < float("inf"):
        bounds = f"from {field.least:g}" if field.least is not None else ""
        bounds += f" to {field.most:g}" if field.most is not None else ""
        raise BadInput(f"{field.title} has {bounds.strip()} {unit}".strip() + ".")
    return text


def _field(name: str, each: Any, is_required: bool) -> Field:
    if not isinstance(each, dict):
        raise BadInput(f"its field {shown(name, 40)} is none")
    title, about = shown(str(each.get("title") or name), 80), shown(str(each.get("description", "")), 300)
    options = _options(each)
    match each.get("type"):
        case "boolean":
            return Field(name, title, "yes or no", is_required, about)
        case "array":
            items = each.get("items")
            options = _options(items) if isinstance(items, dict) else None
            if options is None:
                raise BadInput(f"its field {title} is a list of anything")
            return Field(name, title, "some of", is_required, about, options)
        case _ if options is not None:
            return Field(name, title, "one of", is_required, about, options)
        case "number" | "integer" as kind:
            return Field(name, title, kind, is_required, about, None, _limit(each, "minimum"), _limit(each, "maximum"))
        case "string":
            return Field(name, title, "text", is_required, about, None, _limit(each, "minLength"), _limit(each, "maxLength"))
        case _:
            raise BadInput(f"its field {title} is not simple")


def _default(field: Field, each: dict[str, Any]) -> JsonValue:
    """What the server would take, if it is something that the owner could have said as well."""
    given: JsonValue = each.get("default")
    if given is None:
        return None
    if field.options is not None:
        is_some, wanted = field.kind == "some of", given if isinstance(given, list) else [given]
        return given if is_some == isinstance(given, list) and all(one in field.options.values() for one in wanted) else None
    try:
        return _value(field, given)
    except BadInput:
        return None


def _spoken(field: Field) -> str:
    """The default, as a person reads it."""
    if isinstance(field.default, bool):
        return YES if field.default else NO
    chosen = field.default if isinstance(field.default, list) else [field.default]
    names = {json.dumps(value): said for said, value in (field.options or {}).items()}
    return ", ".join(names.get(json.dumps(each), str(each)) for each in chosen)


def _options(each: dict[str, Any]) -> dict[str, JsonValue] | None:
    """None: it has none. Two that look alike to a person are one too many."""
    values = each.get("enum")
    listed = each.get("oneOf") or each.get("anyOf")
    if isinstance(values, list):
        told = each.get("enumNames")
        names = [*told, *values[len(told) :]] if isinstance(told, list) else values
        pairs = [(str(name), value) for name, value in zip(names, values, strict=False)]
    elif isinstance(listed, list):
        pairs = [(str(one.get("title", one.get("const"))), one.get("const")) for one in listed if isinstance(one, dict)]
    else:
        return None
    found: dict[str, JsonValue] = {}
    for said, value in pairs:
        text = shown(said, 60) or shown(str(value), 60)
        if text.casefold() in (known.casefold() for known in (*found, DECLINE)) or not text:
            raise BadInput("two of its options look alike")
        found[text] = value
    return found


def _limit(each: dict[str, Any], name: str) -> float | None:
    found = each.get(name)
    return float(found) if isinstance(found, int | float) and not isinstance(found, bool) else None


def _line(field: Field) -> str:
    what = f"{field.kind} {', '.join(field.options)}" if field.options else field.kind
    left_out = "" if field.is_required else ", may be left out"
    left_out = left_out if field.default is None else f", {shown(_spoken(field), 80)} if left out"
    return f"- {field.title} ({what}{left_out}){f': {field.about}' if field.about else ''}"
