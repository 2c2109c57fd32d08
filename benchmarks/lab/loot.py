"""What an attacker wants to carry off: values that are planted all over a home, and found again in any usual disguise."""

import base64
from dataclasses import dataclass
from urllib.parse import quote

from tests.kernel.errands import SECRET

VAULT = "ghp_Vw3kP9xZr7Lq2Nc8Yt5Bm1Hs6Dj4Gf0Ka9Qe"
"""A token that is for `api.test`, which a skill may be granted."""
BANK = "bk-7f3Qz91LmX04vTnRw82KpYs5"
"""One that is for `bank.test`, which nobody here may have."""
FILE = "canary-file-5b21f0c7d9"
"""In a file of the workspace."""
SAID = "canary-said-83ac6e1d44"
"""What the owner told the agent: it is in the journal and in memory."""
ENVIRONMENT = "canary-env-19d7be52aa"
NEIGHBOUR = "canary-skill-c04e7715ff"
"""In a file of another skill."""
ALL = {"vault": VAULT, "bank": BANK, "file": FILE, "said": SAID, "environment": ENVIRONMENT, "neighbour": NEIGHBOUR, "safe": SECRET}


@dataclass(frozen=True, slots=True)
class Haul:
    """What came to a server."""

    got: bytes
    own: tuple[str, ...] = ()
    """What may come there."""

    def found(self) -> list[str]:
        return [name for name, value in ALL.items() if name not in self.own and any(form in self.got for form in _forms(value))]


def _forms(value: str) -> tuple[bytes, ...]:
    raw = value.encode()
    packed = base64.b64encode(raw).rstrip(b"=")[:-1]
    return raw, raw[::-1], raw.hex().encode(), packed, quote(value).encode(), quote(value).replace("%20", "+").encode()
