"""Tokens of a text, by OpenAI's o200k, if its vocabulary is on this machine: a benchmark downloads nothing."""

import hashlib
import os
import tempfile
from collections.abc import Callable
from pathlib import Path

_URL = "https://openaipublic.blob.core.windows.net/encodings/o200k_base.tiktoken"


def counter() -> Callable[[str], int] | None:
    """None: there is no vocabulary. tiktoken keeps what it once downloaded under the hash of the address."""
    folder = os.environ.get("TIKTOKEN_CACHE_DIR") or os.environ.get("DATA_GYM_CACHE_DIR") or Path(tempfile.gettempdir(), "data-gym-cache")
    if not Path(folder, hashlib.sha1(_URL.encode(), usedforsecurity=False).hexdigest()).is_file():
        return None
    import tiktoken

    encoding = tiktoken.get_encoding("o200k_base")
    return lambda text: len(encoding.encode(text, disallowed_special=()))
