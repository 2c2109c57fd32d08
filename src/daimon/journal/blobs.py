"""Content-addressed values.

A blob is plain, compressed, or a *rope*: the list of the hashes of its chunks. Requests to models are ropes, so that a long
history is stored once and not again with every call. A blob lives as long as a step or an event names it (`blob_refs`), and a
day longer, because a value is often put before the event that names it.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta

import apsw

from daimon.abi.errors import Erased, NotFound
from daimon.abi.ids import BlobHash
from daimon.journal.rows import ROPE, micros, packed, put_blob, unpack

GRACE = timedelta(days=1)
_HASH_BYTES = 32


def put(db: apsw.Connection, data: bytes, now: datetime) -> BlobHash:
    value = packed(data)
    put_blob(db, value, None, micros(now))
    return BlobHash(value.digest.hex())


def get(db: apsw.Connection, blob: BlobHash) -> bytes:
    try:
        return _get(db, bytes.fromhex(blob))
    except ValueError:
        raise NotFound(f"{blob!r} is not a blob hash; expected 64 hexadecimal digits") from None


def unnamed(db: apsw.Connection, now: datetime) -> list[bytes]:
    """What nothing names any more, and has not for a day."""
    keep: set[bytes] = {row[0] for row in db.execute("SELECT DISTINCT hash FROM blob_refs")}
    for digest, rope in db.execute("SELECT hash, body FROM blobs WHERE codec = ? AND body IS NOT NULL", (ROPE,)):
        if digest in keep:
            keep.update(chunks(rope))
    old = db.execute("SELECT hash FROM blobs WHERE at < ? AND body IS NOT NULL", (micros(now - GRACE),))
    return [digest for (digest,) in old if digest not in keep]


def delete(db: apsw.Connection, hashes: Sequence[bytes], now: datetime) -> None:
    """Putting a value again makes it young, so one that came back since it was found to be unnamed stays."""
    db.executemany("DELETE FROM blobs WHERE hash = ? AND at < ?", [(digest, micros(now - GRACE)) for digest in hashes])


def _get(db: apsw.Connection, digest: bytes) -> bytes:
    row = db.execute("SELECT codec, body FROM blobs WHERE hash = ?", (digest,)).get
    if row is None:
        raise NotFound(f"there is no blob {digest.hex()}")
    codec, body = row
    if body is None:
        raise Erased(f"blob {digest.hex()} was erased")
    if codec == ROPE:
        return b"".join(_get(db, chunk) for chunk in chunks(body))
    return unpack(digest, codec, body)


def chunks(rope: bytes) -> list[bytes]:
    return [rope[i : i + _HASH_BYTES] for i in range(0, len(rope), _HASH_BYTES)]
