"""Mail that no person wrote to the agent: nobody is answered who cannot stop answering.

An answer to a bounce, a list or somebody's absence note begins a conversation of two machines. RFC 3834 says how they make themselves
known; the older signs are honoured too. What the agent itself sent carries the same sign, and its own address as the sender.
"""

import re

from daimon.gateway.mail.headers import Headers

_BULK = frozenset({"bulk", "junk", "list", "auto_reply"})
_LISTS = ("list-id", "list-post", "list-unsubscribe", "mailing-list", "x-autoreply", "x-autorespond", "x-loop")
_ROBOTS = re.compile(r"^(mailer-daemon|postmaster|no-?reply|do-?not-?reply|bounces?)(\+[^@]*)?@", re.IGNORECASE)


def why(headers: Headers, address: str, own: str) -> str:
    """Why it is taken for one; empty: a person wrote it, as far as can be seen."""
    submitted = headers.first("auto-submitted").split(";")[0].strip().lower()
    if address == own.lower():
        return "it is the agent's own"
    if submitted not in ("", "no"):
        return f"Auto-Submitted: {submitted[:40]}"
    if headers.first("precedence").strip().lower() in _BULK:
        return "Precedence: bulk"
    if sign := next((name for name in _LISTS if headers.all(name)), ""):
        return f"it has {sign}"
    if any(value.strip() == "<>" for value in headers.all("return-path")):
        return "it has no return path"
    if headers.first("content-type").strip().lower().startswith("multipart/report"):
        return "it is a report of delivery"
    return "its sender is a robot" if _ROBOTS.match(address) else ""
