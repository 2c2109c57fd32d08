"""The head of a `SKILL.md`: YAML between two lines of `---`, read so that it says the same to every reader. Pure.

All scalars are text, whatever they look like: `name: 123` is a name. Anchors, aliases, tags and collections in braces are refused, and so
are a key that comes twice and a head that is large or deep: none of them is needed for six fields, and each has been a way to say one
thing to a person and another to a program. So is `---` anywhere inside the head, where readers do not agree on its end.
"""

from typing import Any

from daimon.abi.errors import BadInput

MOST_TEXT, MOST_HEAD = 256 << 10, 16 << 10
DEEPEST = 4
Value = str | list["Value"] | dict[str, "Value"]


def split(text: str) -> tuple[str, str]:
    """Head and body. Raises BadInput."""
    first, _, rest = text.partition("\n")
    if first.rstrip() != "---":
        raise BadInput(f"SKILL.md begins with {first[:40]!r}; its first line must be --- and its head, in YAML, follow")
    head, found, body = f"\n{rest}".partition("\n---")
    end, _, body = body.partition("\n")
    if not found or end.strip():
        raise BadInput("the head of SKILL.md has no end; a line --- must follow it, and --- must not stand elsewhere in it")
    if "---" in head:
        raise BadInput("--- stands inside the head of SKILL.md, and readers do not agree on where such a head ends; take it out")
    if len(head) > MOST_HEAD:
        raise BadInput(f"the head of SKILL.md has {len(head):,} characters; {MOST_HEAD:,} are the most")
    return head.removeprefix("\n"), body.strip()


def fields(head: str) -> dict[str, Value]:
    """Raises BadInput."""
    import yaml  # type: ignore[import-untyped]

    try:
        _require_plain(head)
        node = yaml.compose(head, Loader=yaml.SafeLoader)
    except yaml.YAMLError as broken:
        raise BadInput(f"the head of SKILL.md is no YAML: {_told(broken)}") from None
    value = "" if node is None else _value(node)
    if not isinstance(value, dict):
        raise BadInput("the head of SKILL.md is no list of fields; write lines such as `name: my-skill`")
    return value


def _require_plain(head: str) -> None:
    """By events, which nest nothing: neither depth nor aliases can hurt here."""
    import yaml

    depth = 0
    for event in yaml.parse(head, Loader=yaml.SafeLoader):
        line = event.start_mark.line + 2
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
            raise BadInput(f"line {line} of SKILL.md holds an anchor or an alias (& or *); write the text itself, in quotes")
        if getattr(event, "tag", None):
            raise BadInput(f"line {line} of SKILL.md holds a tag (!); write plain text, in quotes")
        if getattr(event, "flow_style", False) and isinstance(event, yaml.CollectionStartEvent):
            raise BadInput(f"line {line} of SKILL.md holds a collection in braces or brackets; write one item a line, or text in quotes")
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > DEEPEST:
            raise BadInput(f"line {line} of SKILL.md is nested more than {DEEPEST} deep")


def _value(node: Any) -> Value:
    """No deeper than `_require_plain` let it be."""
    import yaml

    if isinstance(node, yaml.ScalarNode):
        return str(node.value)
    if isinstance(node, yaml.SequenceNode):
        return [_value(each) for each in node.value]
    found: dict[str, Value] = {}
    for key, value in node.value:
        line = key.start_mark.line + 2
        if not isinstance(key, yaml.ScalarNode):
            raise BadInput(f"line {line} of SKILL.md has a field whose name is no text")
        if key.value in found:
            raise BadInput(f"line {line} of SKILL.md names {key.value[:40]!r} a second time; take one out")
        found[key.value] = _value(value)
    return found


def _told(broken: Exception) -> str:
    mark, problem = getattr(broken, "problem_mark", None), getattr(broken, "problem", None) or "it holds signs that YAML does not allow"
    where = f"line {mark.line + 2}, " if mark is not None else ""
    return f"{where}{str(problem)[:200]}; quote texts that hold a colon or begin with a sign"
