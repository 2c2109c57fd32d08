"""Roles as they are written: TOML files, those of the package and the owner's own, whose names win."""

import tomllib
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from daimon.abi import box
from daimon.abi.errors import Misconfigured
from daimon.abi.secret import FROM_VAULT

SHIPPED = Path(__file__).parent / "roles"
NAME = r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$"
VARIABLE = r"^[A-Za-z_][A-Za-z0-9_]{0,127}$"
_Path = Annotated[str, Field(min_length=1, max_length=4096)]
_Variable = Annotated[str, Field(pattern=VARIABLE)]


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class _Place(_Table):
    host: Annotated[str, Field(pattern=r"^(\*\.)?[A-Za-z0-9._:\[\]-]{1,253}$")]
    ports: tuple[Annotated[int, Field(ge=1, le=65535)], ...] = (443, 80)
    methods: tuple[Annotated[str, Field(pattern=r"^[A-Z]{1,16}$")], ...] = ()
    paths: tuple[Annotated[str, Field(pattern=r"^/")], ...] = ()


class _Limits(_Table):
    memory_mb: Annotated[int, Field(ge=64)] = box.Limits().memory_mb
    processes: Annotated[int, Field(ge=8, le=32_768)] = box.Limits().processes
    open_files: Annotated[int, Field(ge=64, le=1_048_576)] = box.Limits().open_files
    file_mb: Annotated[int, Field(ge=1)] = box.Limits().file_mb
    disk_mb: Annotated[int, Field(ge=1)] = box.Limits().disk_mb
    cpu_s: Annotated[int, Field(ge=1)] = box.Limits().cpu_s


class _Role(_Table):
    description: str = ""
    read: tuple[_Path, ...] = (".",)
    write: tuple[_Path, ...] = ()
    execute: tuple[_Path, ...] = ()
    commands: tuple[_Path, ...] = ("*",)
    places: tuple[_Place, ...] = ()
    secrets: dict[_Variable, Annotated[str, Field(pattern=rf"^{FROM_VAULT}.+")]] = {}
    environment: dict[_Variable, str] = {}
    limits: _Limits = _Limits()
    profile: box.Profile = "build"


def names(own: Path) -> dict[str, Path]:
    """All roles there are, with their files."""
    return {path.stem: path for directory in (SHIPPED, own) for path in sorted(directory.glob("*.toml"))}


def described(path: Path) -> str:
    return _parsed(path).description


def read(name: str, own: Path) -> box.Role:
    """Raises Misconfigured: no such role, or a file that does not say what a role is."""
    there = names(own)
    if name not in there:
        raise Misconfigured(f"there is no role {name!r}; known are {', '.join(sorted(there))}; your own go into {own}/NAME.toml")
    found = _parsed(there[name])
    return box.Role(
        name=name,
        read=found.read,
        write=found.write,
        execute=found.execute,
        commands=found.commands,
        places=tuple(box.Place(place.host, place.ports, place.methods, place.paths) for place in found.places),
        secrets={variable: secret.removeprefix(FROM_VAULT) for variable, secret in found.secrets.items()},
        environment=found.environment,
        limits=box.Limits(**found.limits.model_dump()),
        profile=found.profile,
    )


def _parsed(path: Path) -> _Role:
    try:
        return _Role.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
    except OSError as error:
        raise Misconfigured(f"the role {path} cannot be read: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as bad:
        raise Misconfigured(f"the role {path} is not valid TOML: {bad}") from None
    except ValidationError as bad:
        lines = [f"{path}: {'.'.join(map(str, error['loc']))}: {_told(error)}" for error in bad.errors(include_url=False)]
        raise Misconfigured("\n".join(lines)) from None


def _told(error: object) -> str:
    assert isinstance(error, dict)
    if error["type"] == "extra_forbidden":
        return f"unknown key; known are {', '.join(_Role.model_fields)}"
    return f"{error['msg']}, found {error['input']!r:.80}"
