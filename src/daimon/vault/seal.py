"""The sealed form: bytes in, bytes out. It knows neither files nor where keys come from.

    daimon-vault 1\\n                                                   what it is, and in which format
    {"source": …, "place": …, "kdf": …, "work": …, "salt": …, "key": …}\\n   the header
    nonce, ciphertext                                                   the whole content, as one piece

A random data key seals the content. The key of the source (a file, a passphrase, a keyring) seals only the data key, which stands in
the header. Both lines are bound to the content as associated data, so nothing can be exchanged, reordered, cut or taken out without
the whole being refused. The content is filled up to a multiple of 4 KiB, so that the size of the file does not tell how long a
secret is. The cipher is ChaCha20-Poly1305 with random nonces; a file is written some thousand times in its life, far from where
nonces would meet.

What it cannot notice: an older file put in place of a newer one. Whoever can do that can write into the home.
"""

import base64
import hashlib
import json
import re
import secrets
from dataclasses import dataclass

from daimon.abi.errors import Misconfigured

FORMAT = 1
KEY_BYTES = 32
WORK = 17
"""Of scrypt, as a power of two: 128 MB, and about a second on a small machine."""
MOST_BYTES = 32 * 1024 * 1024
_MAGIC = re.compile(rb"daimon-vault (\d{1,6})\n")
_MOST_HEADER = 4_096
_NONCE_BYTES, _SALT_BYTES = 12, 16
_BLOCK = 4_096
_SCRYPT_R, _SCRYPT_P = 8, 1
_MOST_WORK = 18


class Unopened(Exception):
    """The key does not fit, or what it should open was changed."""


@dataclass(frozen=True, slots=True)
class Header:
    source: str
    """Where the key is that opens the data key."""
    place: str
    """Where exactly, if the source has several."""
    work: int
    """Of scrypt; 0: what the source gives is random already."""
    salt: bytes
    key: bytes
    """The data key, sealed."""


@dataclass(frozen=True, slots=True)
class Sealed:
    header: Header
    head: bytes
    body: bytes


def wrapped(source: str, place: str, work: int, material: bytes) -> tuple[Header, bytes]:
    """A fresh data key, and the header that holds it for whoever has the source's material."""
    data_key, salt = secrets.token_bytes(KEY_BYTES), secrets.token_bytes(_SALT_BYTES)
    bare = Header(source, place, work, salt, b"")
    return Header(source, place, work, salt, _encrypt(_opener(material, bare), data_key, _bound(bare))), data_key


def unwrapped(header: Header, material: bytes) -> bytes:
    """The data key. Raises Unopened."""
    return _decrypt(_opener(material, header), header.key, _bound(header))


def sealed(header: Header, data_key: bytes, content: bytes) -> bytes:
    head = _head(header)
    size = len(content) + 4
    filled = len(content).to_bytes(4) + content + bytes(-size % _BLOCK)
    return head + _encrypt(data_key, filled, head)


def opened(found: Sealed, data_key: bytes) -> bytes:
    """The content. Raises Unopened."""
    filled = _decrypt(data_key, found.body, found.head)
    return filled[4 : 4 + int.from_bytes(filled[:4])]


def parsed(data: bytes, where: str) -> Sealed:
    """Raises Misconfigured for what is no vault, is damaged at its head, or is of a newer release."""
    magic = _MAGIC.match(data)
    if magic is None:
        raise Misconfigured(f"{where} is no vault, or its beginning is damaged; put it back from a backup")
    if int(magic[1]) != FORMAT:
        raise Misconfigured(f"{where} has format {int(magic[1])}, and this release knows format {FORMAT} only; use the one that wrote it")
    end = data.find(b"\n", magic.end(), magic.end() + _MOST_HEADER)
    if end < 0:
        raise damaged(where)
    return Sealed(_header(data[magic.end() : end], where), data[: end + 1], data[end + 1 :])


def damaged(where: str) -> Misconfigured:
    return Misconfigured(f"{where} is damaged or was changed by somebody else; nothing of it is used: put it back from a backup")


def _head(header: Header) -> bytes:
    fields = {
        "source": header.source,
        "place": header.place,
        "kdf": "scrypt" if header.work else "blake2b",
        "work": header.work,
        "salt": base64.b64encode(header.salt).decode(),
        "key": base64.b64encode(header.key).decode(),
    }
    return f"daimon-vault {FORMAT}\n{json.dumps(fields)}\n".encode()


def _header(line: bytes, where: str) -> Header:
    try:
        fields = json.loads(line)
        salt, key = (base64.b64decode(fields[name], validate=True) for name in ("salt", "key"))
        source, place, work = (fields[name] for name in ("source", "place", "work"))
    except (ValueError, TypeError, KeyError, RecursionError):
        raise damaged(where) from None
    if not isinstance(source, str) or not isinstance(place, str) or type(work) is not int or not 0 <= work <= _MOST_WORK:
        raise damaged(where)
    return Header(source, place, work, salt, key)


def _bound(header: Header) -> bytes:
    """What the data key is bound to: the header without it."""
    return json.dumps([FORMAT, header.source, header.place, header.work, header.salt.hex()]).encode()


def _opener(material: bytes, header: Header) -> bytes:
    """The key that the source stands for."""
    if not header.work:
        return hashlib.blake2b(header.salt, digest_size=KEY_BYTES, key=material[:64], person=b"daimon-vault").digest()
    n = 1 << header.work
    room = 128 * _SCRYPT_R * (n + _SCRYPT_P + 2)
    return hashlib.scrypt(material, salt=header.salt, n=n, r=_SCRYPT_R, p=_SCRYPT_P, maxmem=room, dklen=KEY_BYTES)


def _encrypt(key: bytes, plain: bytes, bound: bytes) -> bytes:
    from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305  # takes long to load, and who has no vault needs none

    nonce = secrets.token_bytes(_NONCE_BYTES)
    return nonce + ChaCha20Poly1305(key).encrypt(nonce, plain, bound)


def _decrypt(key: bytes, data: bytes, bound: bytes) -> bytes:
    from cryptography.exceptions import InvalidTag
    from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

    try:
        return ChaCha20Poly1305(key).decrypt(data[:_NONCE_BYTES], data[_NONCE_BYTES:], bound)
    except (InvalidTag, ValueError):
        raise Unopened from None
