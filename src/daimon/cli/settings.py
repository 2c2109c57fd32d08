"""`daimon config`: every setting, its value, and where that comes from."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel
from rich.text import Text

from daimon import config, homes, keeper, lines
from daimon.abi.codec import encode
from daimon.abi.errors import Misconfigured
from daimon.cli import screen

Origin = Literal["default", "file", "env"]


@dataclass(frozen=True, slots=True)
class Value:
    name: str
    value: Any
    origin: Origin


def path(given: Path | None) -> None:
    screen.say(str(homes.home_at(given).config))


def check(given: Path | None, as_json: bool) -> None:
    home = homes.home_at(given)
    file = home.config
    warnings = _lacking(home, config.load(file, os.environ))
    if as_json:
        screen.emit_value({"path": str(file), "ok": True, "warnings": list(warnings)})
        return
    screen.say(f"{file} is good" if file.exists() else f"{file} is not there; all settings have their defaults")
    for warning in warnings:
        screen.remark(warning, style="yellow")


def _lacking(home: homes.Home, settings: config.Settings) -> tuple[str, ...]:
    """What channels would miss if they started now. Nobody is asked for a passphrase."""
    wanted = lines.all_wanted(settings).values()
    if not wanted:
        return ()
    vault = keeper.found(home, os.environ)
    try:
        return tuple(why for each in wanted for why in lines.lacking(each, vault, os.environ, settings.gateway.public_url))
    except Misconfigured as locked:
        return (f"whether the secrets of the channels are there was not looked at: {locked}",)
    finally:
        vault.close()


def show(given: Path | None, as_json: bool) -> None:
    file = homes.home_at(given).config
    values = tuple(_values(config.load(file, os.environ)))
    if as_json:
        settings = {value.name: {"value": value.value, "from": value.origin} for value in values}
        screen.emit(encode(dict[str, object], {"path": str(file), "settings": settings}))
        return
    rows = screen.table("setting", "value", "from")
    for value in values:
        style = "dim" if value.origin == "default" else "bold"
        rows.add_row(Text(value.name, style), Text(screen.plain(_written(value.value)), style), Text(value.origin, "dim"))
    screen.out().print(rows)
    screen.remark(str(file))


def _values(branch: BaseModel, prefix: str = "") -> Iterator[Value]:
    for key in type(branch).model_fields:
        value = getattr(branch, key)
        if isinstance(value, BaseModel):
            yield from _values(value, f"{prefix}{key}.")
        else:
            yield Value(prefix + key, value, _origin(branch, prefix, key))


def _origin(branch: BaseModel, prefix: str, key: str) -> Origin:
    variable = f"{config.PREFIX}{prefix.replace('.', '__')}{key}".upper()
    if prefix and any(name.upper() == variable for name in os.environ):
        return "env"
    return "file" if key in branch.model_fields_set else "default"


def _written(value: object) -> str:
    """As it would stand in daimon.toml, near enough; left out is left out."""
    return "-" if value is None else encode(Any, value).decode()
