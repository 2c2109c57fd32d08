"""Files that a message names: `@path` words become parts beside the text.

A word that begins with @ and names a file is one; `@"my file.png"` where there are spaces. Any other @word stays a word, except one that
looks like a path and leads nowhere: then the message is not sent, because its writer meant a file. The text keeps the words as they are,
so that whoever reads it knows which file is spoken of.

What a file is, its bytes say first: an image is one by its first bytes, whatever its name.
"""

import mimetypes
import re
import stat
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import NoReturn

from daimon.abi.errors import BadInput, TooLarge
from daimon.abi.ids import BlobHash
from daimon.abi.message import File, Image
from daimon.abi.plain import clean

LARGEST = 64 * 1024 * 1024
"""More than any gateway takes; a larger file is not even read."""
_WORD = re.compile(r"""(?<!\S)@(?:"(?P<double>[^"\n]+)"|'(?P<single>[^'\n]+)'|(?P<bare>\S+))""")
_AFTER = ".,;:!?)]}»”’\"'"
_NO_PATH = re.compile(r"[()\[\]{}<>\"'`|*=]")
_SUFFIX = re.compile(r"\.[A-Za-z][A-Za-z0-9]{0,3}$")
_MAGIC = ((b"\x89PNG\r\n\x1a\n", "image/png"), (b"\xff\xd8\xff", "image/jpeg"), (b"GIF87a", "image/gif"), (b"GIF89a", "image/gif"))
_SNIFFED = 64 * 1024


def named_in(text: str) -> tuple[Path, ...]:
    """The files that this message names, each once. Raises BadInput for one that is missing."""
    found = [path for word in _WORD.finditer(text) if (path := _file(word)) is not None]
    return tuple(dict.fromkeys(found))


def part(path: Path, upload: Callable[[bytes], BlobHash]) -> Image | File:
    """Hands its bytes over. Raises BadInput, with its name, if it cannot be read or is too large."""
    try:
        if path.stat().st_size > LARGEST:
            raise TooLarge(f"it has more than {LARGEST} bytes")
        data = path.read_bytes()
        blob = upload(data)
    except OSError as failed:
        raise BadInput(f"{path} cannot be read: {failed.strerror}; nothing was sent") from None
    except TooLarge as large:
        raise TooLarge(f"{path} cannot be sent: {large}") from None
    name = clean(path.name)
    if image := _image(data):
        return Image(blob, image, name)
    return File(blob, name, _media_type(name, data), len(data))


def _file(word: re.Match[str]) -> Path | None:
    quoted = word["double"] or word["single"]
    if quoted:
        return _existing(quoted) or _missing(quoted)
    bare = word["bare"]
    shorter = bare.rstrip(_AFTER)
    if (path := _existing(bare) or _existing(shorter)) is not None:
        return path
    return _missing(shorter) if _looks_like_path(shorter) else None


def _existing(name: str) -> Path | None:
    try:
        path = Path(name).expanduser().absolute()
        return path if stat.S_ISREG(path.stat().st_mode) else None
    except (OSError, ValueError, RuntimeError):  # a name too long, a NUL in it, a ~user who is nobody
        return None


def _missing(name: str) -> NoReturn:
    raise BadInput(f"@{clean(name)}: there is no such file; nothing was sent. If you mean none, write it without the @")


def _looks_like_path(name: str) -> bool:
    if not name or _NO_PATH.search(name):
        return False
    return "/" in name or _SUFFIX.search(name) is not None or _types().guess_type(name)[0] is not None


def _image(data: bytes) -> str:
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    return next((media_type for magic, media_type in _MAGIC if data.startswith(magic)), "")


def _media_type(name: str, data: bytes) -> str:
    """By its name, unless its bytes speak against that."""
    guessed = _types().guess_type(name)[0] or ""
    if not _is_text(data):
        return "application/octet-stream" if not guessed or guessed.startswith(("text/", "image/")) else guessed
    return guessed if guessed.startswith(("text/", "application/")) or guessed == "image/svg+xml" else "text/plain"


@cache
def _types() -> mimetypes.MimeTypes:
    """Those that Python knows by itself, so that a file is the same on every machine."""
    return mimetypes.MimeTypes()


def _is_text(data: bytes) -> bool:
    try:
        data[:_SNIFFED].decode("utf-8")
    except UnicodeDecodeError as odd:
        return len(data) > _SNIFFED and odd.start >= _SNIFFED - 4 and odd.reason == "unexpected end of data"
    return b"\0" not in data[:_SNIFFED]
