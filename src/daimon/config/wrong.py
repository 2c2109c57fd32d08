"""What is wrong with the settings, in words: which key, in which file or variable, what was found and what was expected."""

import difflib
from pathlib import Path
from typing import Any, get_args, get_origin

from pydantic import BaseModel

from daimon.config.environment import variable_of
from daimon.config.models import TABLE, WORD
from daimon.config.tree import Settings
from daimon.vault import shapes


def explained(error: Any, file: Path, overrides: dict[str, Any]) -> str:
    place = [str(part) for part in error["loc"] if part not in (WORD, TABLE)]
    key = ".".join(place)
    where = variable_of(place, overrides) or str(file)
    if error["type"] == "extra_forbidden":
        known = _known(place[:-1])
        near = difflib.get_close_matches(place[-1], known, 1)
        return f"{where}: unknown key {key!r}" + (
            f"; did you mean {near[0]!r}?" if near else f"; known are {', '.join(known)}" if known else ""
        )
    told = error["msg"].removeprefix("Value error, ")
    if error["type"] == "model_type":  # which would name a class
        told = f"Input should be a table: [{key}], with {', '.join(_known(place)) or 'its keys'} below it"
    return f"{where}: {key}: {told}" + ("" if repr(error["input"]) in told else f", found {error['input']!r:.80}")


def _known(place: list[str]) -> list[str]:
    found: Any = Settings
    for part in place:
        if get_origin(found) is dict:  # tables by name, such as [agents.NAME]
            found = get_args(found)[1]
        elif _is_section(found) and part in found.model_fields:
            found = found.model_fields[part].annotation
        else:
            return []
    return list(found.model_fields) if _is_section(found) else []


def _is_section(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, BaseModel)


def without_shapes(text: str) -> str:
    """Without what is shaped like a secret: for what a command says of its own, such as which line of the settings is wrong."""
    return shapes.without(text)
