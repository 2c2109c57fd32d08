"""What a server says with its refusal about the rights that it wants (`WWW-Authenticate`, RFC 6750): a stranger's words, so bounded."""

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import httpx2

MOST_SCOPES = 50
_SCOPE = re.compile(r"[\x21\x23-\x5b\x5d-\x7e]{1,100}")


def field(answer: "httpx2.Response", name: str) -> str:
    """Of the header; empty: it is not there."""
    from mcp.client.auth.utils import extract_field_from_www_auth

    return extract_field_from_www_auth(answer, name) or ""


def wanted(answer: "httpx2.Response") -> tuple[str, ...] | None:
    """The scopes that it wants besides what the token is good for; empty: it does not say which. None: that is not what it refuses for."""
    if answer.status_code != 403 or field(answer, "error") != "insufficient_scope":
        return None
    return scopes(field(answer, "scope"))


def scopes(text: str) -> tuple[str, ...]:
    """Those that may be one."""
    return tuple(dict.fromkeys(each for each in text.split(" ")[:MOST_SCOPES] if _SCOPE.fullmatch(each)))
