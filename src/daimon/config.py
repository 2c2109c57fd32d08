"""The one settings tree: defaults, then daimon.toml, then DAIMON_SECTION__KEY variables.

Unknown keys are errors, and an error says which key, in which file, what was found and what was expected. Nobody but `boot`
and the command line reads this module; each part gets its own branch.
"""

import difflib
import os
import tomllib
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any, Literal
from zoneinfo import ZoneInfo, available_timezones

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from daimon.abi.errors import Misconfigured
from daimon.machine.home import Home as Home

PREFIX = "DAIMON_"
OURS = frozenset({"DAIMON_HOME", "DAIMON_UV", "DAIMON_CHECKOUT"})
"""Variables that are not settings."""


def _zone(name: str) -> str:
    if name and name not in available_timezones():
        raise ValueError(f"{name!r} is not a time zone such as Europe/Berlin")
    return name


class _Branch(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Owner(_Branch):
    name: str = ""
    timezone: Annotated[str, AfterValidator(_zone)] = ""
    """An IANA name such as Europe/Berlin; empty means the machine's own."""


class Gateway(_Branch):
    host: Literal["127.0.0.1", "::1"] = "127.0.0.1"
    port: Annotated[int, Field(ge=0, le=65535)] | None = None
    """Left out: 7310, or any free one if that is taken."""
    max_event_bytes: Annotated[int, Field(ge=1_024, le=64 * 1024 * 1024)] = 8 * 1024 * 1024


class Model(_Branch):
    use: str = "reflex"
    timeout_s: Annotated[float, Field(gt=0)] = 120.0
    temperature: Annotated[float, Field(ge=0, le=2)] | None = None
    seed: int | None = None


class Kernel(_Branch):
    slots: Annotated[int, Field(ge=1, le=1_000)] = 16
    newer: Literal["wait", "steer", "interrupt"] = "wait"
    """What a newer message does to a running turn of its conversation."""
    drain_s: Annotated[float, Field(ge=0, le=600)] = 10.0


class Limits(_Branch):
    """What one turn may take."""

    steps: Annotated[int, Field(ge=1)] = 200
    tokens: Annotated[int, Field(ge=1)] = 500_000
    cost: Annotated[Decimal, Field(ge=0)] | None = None
    active_s: Annotated[float, Field(gt=0)] = 1_800.0
    errors: Annotated[int, Field(ge=1)] = 5
    pause_share: Annotated[float, Field(gt=0, le=1)] = 0.9


class Context(_Branch):
    budget_tokens: Annotated[int, Field(ge=1_000)] = 32_000
    system: str = ""
    """Words of the owner's own for every prompt."""


class Settings(_Branch):
    owner: Owner = Owner()
    gateway: Gateway = Gateway()
    model: Model = Model()
    kernel: Kernel = Kernel()
    limits: Limits = Limits()
    context: Context = Context()
    extensions: tuple[str, ...] = ()
    """Python modules with a function `extend(kit)`, which may add tools, models and channels."""


def home_at(given: Path | None) -> Home:
    return Home((given or Path(os.environ.get("DAIMON_HOME") or Path.home() / ".daimon")).expanduser().absolute())


def load(file: Path, environment: Mapping[str, str]) -> Settings:
    tree = _read(file)
    overrides = _from_environment(environment)
    try:
        return Settings.model_validate(_merged(tree, overrides))
    except ValidationError as bad:
        own = {section: keys for section, keys in overrides.items() if isinstance(tree.get(section, {}), dict)}
        lines = [_explain(error, file, own) for error in bad.errors(include_url=False)]
        raise Misconfigured("\n".join(lines)) from None


def system_zone() -> str:
    """The machine's own zone, as an IANA name."""
    link = os.path.realpath("/etc/localtime")
    name = link.partition("/zoneinfo/")[2]
    return name if name in available_timezones() else "UTC"


def zone(settings: Settings) -> ZoneInfo:
    return ZoneInfo(settings.owner.timezone or system_zone())


def _read(file: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except tomllib.TOMLDecodeError as bad:
        raise Misconfigured(f"{file} is not valid TOML: {bad}") from None
    except RecursionError:
        raise Misconfigured(f"{file} is not valid TOML: it is nested too deep") from None
    except UnicodeDecodeError as bad:
        raise Misconfigured(f"{file} is not valid UTF-8: byte {bad.start}") from None
    except OSError as error:
        raise Misconfigured(f"{file} cannot be read: {error.strerror}") from None


def _from_environment(environment: Mapping[str, str]) -> dict[str, dict[str, str]]:
    tree: dict[str, dict[str, str]] = {}
    for name, value in environment.items():
        if name.startswith(PREFIX) and name not in OURS and "__" in name:
            section, _, key = name.removeprefix(PREFIX).lower().partition("__")
            tree.setdefault(section, {})[key] = value
    return tree


def _merged(tree: dict[str, Any], overrides: dict[str, dict[str, str]]) -> dict[str, Any]:
    merged = dict(tree)
    for section, keys in overrides.items():
        found = merged.get(section, {})
        merged[section] = {**found, **keys} if isinstance(found, dict) else found
    return merged


def _explain(error: Any, file: Path, overrides: dict[str, dict[str, str]]) -> str:
    place = [str(part) for part in error["loc"]]
    key = ".".join(place)
    named = overrides.get(place[0], {})
    inner = place[1] if len(place) > 1 else next(iter(named), "")
    where = f"{PREFIX}{place[0]}__{inner}".upper() if inner in named else str(file)
    if error["type"] == "extra_forbidden":
        near = difflib.get_close_matches(place[-1], _known(place[:-1]), 1)
        return f"{where}: unknown key {key!r}" + (
            f"; did you mean {near[0]!r}?" if near else f"; known are {', '.join(_known(place[:-1]))}"
        )
    return f"{where}: {key}: {error['msg']}, found {error['input']!r:.80}"


def _known(place: list[str]) -> list[str]:
    branch: type[BaseModel] = Settings
    for part in place:
        field = branch.model_fields.get(part)
        if field is None or not isinstance(field.annotation, type) or not issubclass(field.annotation, BaseModel):
            return []
        branch = field.annotation
    return list(branch.model_fields)
