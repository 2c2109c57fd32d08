"""What people type about a model, and what to change where it will not do: addresses and prices."""

import re
from urllib.parse import urlsplit

from daimon.abi.errors import BadInput
from daimon.config import Price

_BLANK = re.compile(r"[\s\x00-\x1f\x7f]")
_ZERO = re.compile(r"0+\.?0*|\.0+")
_CALLS = ("/chat/completions", "/messages", "/models")


def address(text: str) -> str:
    """A base URL as it is kept. Raises BadInput."""
    given = text.strip().rstrip("/")
    try:
        parts = urlsplit(given)
        is_whole = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_whole = False
    if not is_whole or _BLANK.search(given):
        raise BadInput(f"{text!r} is no address; it must look like http://127.0.0.1:8000/v1")
    if "@" in urlsplit(given).netloc:
        raise BadInput("an address with a password in it would stand in daimon.toml for all to read; leave it out, give the key apart")
    for call in _CALLS:
        if given.endswith(call):
            raise BadInput(f"{given} is one call, not the address of all; use {given.removesuffix(call)}")
    return given


def price(given_in: str, given_out: str, cache_read: str | None = None, cache_write: str | None = None) -> Price:
    """Dollars a million tokens. Raises BadInput."""
    given = {"input": given_in, "output": given_out, "cache_read": cache_read, "cache_write": cache_write}
    typed = {name: text.strip().removeprefix("$") for name, text in given.items() if text is not None}
    if _ZERO.fullmatch(typed["input"]) or _ZERO.fullmatch(typed["output"]):
        raise BadInput("a price of zero would spend without limit; if the model is really free (your own hardware), say --free")
    try:
        return Price.model_validate(typed)
    except ValueError:
        raise BadInput(f"{' '.join(typed.values())} is no price; say dollars a million tokens, such as 3 15 or 0.25 1.50") from None
