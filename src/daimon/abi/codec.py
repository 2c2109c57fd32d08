"""Our types to bytes and back: JSON through pydantic, the one place that knows how.

Bytes are canonical for equal values (fields in order of declaration, sets sorted by their makers), so hashes of them are stable.
Reading upgrades old rows first (`abi/upgrade.py`). What cannot be read raises `JournalDamaged` with the reason, never a default.
"""

import hashlib
import json
from functools import cache
from typing import Any, TypeVar, get_args

from pydantic import TypeAdapter, ValidationError

from daimon.abi.errors import JournalDamaged
from daimon.abi.event import SCHEMA
from daimon.abi.ids import BlobHash
from daimon.abi.upgrade import check_schema, upgrade

T = TypeVar("T")


@cache
def adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


def encode(kind: Any, value: object) -> bytes:
    return adapter(kind).dump_json(value)


def decode(kind: Any, data: bytes, schema: int = SCHEMA) -> Any:
    check_schema(_name(kind), schema)
    try:
        if schema < SCHEMA:
            data = json.dumps(upgrade(json.loads(data), schema)).encode()
        return adapter(kind).validate_json(data)
    except ValidationError as broken:
        first = broken.errors(include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise JournalDamaged(f"a stored {_name(kind)} of schema {schema} cannot be read: {where}: {first['msg']}") from broken
    except (ValueError, TypeError, AttributeError, LookupError, RecursionError) as broken:
        raise JournalDamaged(f"a stored {_name(kind)} of schema {schema} cannot be read: {broken}") from broken


def blob_hash(data: bytes) -> BlobHash:
    return BlobHash(hashlib.sha256(data).hexdigest())


def fingerprint(kind: Any, value: object) -> str:
    """A short stable hash of a value, for pins."""
    return hashlib.sha256(encode(kind, value)).hexdigest()[:16]


def _name(kind: Any) -> str:
    if args := get_args(kind):
        return "|".join(sorted(getattr(a, "__name__", str(a)) for a in get_args(args[0]) or args))[:40]
    return str(getattr(kind, "__name__", kind))
