"""What no policy can lift: calls that never run, whoever allows them."""

from pydantic import JsonValue

from daimon.abi.tool import Manifest

MOST_CHARACTERS = 1_000_000
MOST_DEPTH = 64


class StandingFloor:
    def forbids(self, manifest: Manifest, arguments: dict[str, JsonValue]) -> str:
        size, depth = _measure(arguments)
        if size > MOST_CHARACTERS:
            return f"the arguments of {manifest.name} hold {size} characters, at most {MOST_CHARACTERS} may be passed; use a file"
        if depth > MOST_DEPTH:
            return f"the arguments of {manifest.name} are nested {depth} deep, at most {MOST_DEPTH} levels may be passed"
        return ""


def _measure(value: JsonValue) -> tuple[int, int]:
    """Characters and depth, without recursion: hostile nesting must not overflow the stack."""
    size = deepest = 0
    todo: list[tuple[JsonValue, int]] = [(value, 1)]
    while todo:
        item, depth = todo.pop()
        deepest = max(deepest, depth)
        if isinstance(item, dict):
            size += sum(map(len, item))
            todo += [(child, depth + 1) for child in item.values()]
        elif isinstance(item, list):
            todo += [(child, depth + 1) for child in item]
        else:
            size += len(item) if isinstance(item, str) else 8
    return size, deepest
