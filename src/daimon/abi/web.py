"""One request to the world, by the guarded way out.

The way out resolves the name once, refuses addresses of this machine and of private networks (unless the owner named them), follows
redirects by the same rules, stops at the limits, and puts secrets in at the last hop: a request names a secret by its placeholder, and
the value leaves only towards hosts that the secret is for. It never appears in an answer, an error or a log.

A placeholder is `{vault:NAME}`, in a header, in the query or in the body: `Authorization: Bearer {vault:github}`. An answer that repeats
the value has the placeholder in its place.
"""

from dataclasses import dataclass, field
from typing import Protocol

from daimon.abi.ids import AgentId
from daimon.abi.label import UNLABELLED, Label
from daimon.abi.tool import Touched


@dataclass(frozen=True, slots=True, kw_only=True)
class WebRequest:
    url: str
    method: str = "GET"
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""
    secrets: tuple[str, ...] = ()
    """Names of the vault; each stands in headers, query or body as its placeholder, `{vault:NAME}`."""
    agent: AgentId | None = None
    """On whose behalf; None: the owner's own automation."""
    label: Label = UNLABELLED
    """What it was decided under: what leaves carries this."""
    most_bytes: int = 5 * 1024 * 1024
    timeout_s: float = 30.0
    most_redirects: int = 5


@dataclass(frozen=True, slots=True)
class WebResponse:
    status: int
    url: str
    """Where it came from in the end."""
    headers: dict[str, str]
    """Names in small letters."""
    body: bytes
    is_cut: bool = False
    """There was more than `most_bytes`."""
    touched: tuple[Touched, ...] = ()


class Web(Protocol):
    async def request(self, request: WebRequest) -> WebResponse:
        """Raises WebFailed: refused by the rules, no such host, no answer in time. An answer with any status is an answer."""
        ...
