"""Is it the service that sent this? Pure: headers, body, secrets and the time in, yes or no out.

    github    X-Hub-Signature-256: sha256=HEX                            over BODY
    slack     X-Slack-Signature: v0=HEX, X-Slack-Request-Timestamp: T    over v0:T:BODY
    stripe    Stripe-Signature: t=T,v1=HEX[,v1=HEX…]                     over T.BODY
    generic   X-Signature: sha256=HEX, X-Timestamp: T                    over T.BODY
              X-Signature: sha256=HEX                                    over BODY, for a hook with tolerance_s = 0

All are HMAC-SHA256. Which of the two forms of `generic` counts is a property of the hook and never of the request: else what was signed in
one form could be shown in the other. Every secret is tried with every signature, whatever the first says, in constant time. A header that
came twice was joined with a comma by `heads` and so fits nothing. A timestamp may be as far ahead as it may be old: clocks differ.
"""

import hashlib
import hmac
from collections.abc import Iterable
from dataclasses import dataclass

from daimon.abi.hook import Hook

MOST_SIGNATURES = 8
_MOST_DIGITS = 12
Heads = dict[str, str]


@dataclass(frozen=True, slots=True)
class Shown:
    """What a request says for itself."""

    content: bytes
    signatures: tuple[str, ...]
    at: int | None
    """None: the scheme has no time."""


def heads(headers: Iterable[tuple[bytes, bytes]]) -> Heads:
    """By name in small letters; the values of one that came twice are joined, as HTTP says."""
    found: Heads = {}
    for raw, value in headers:
        name, text = raw.decode("latin-1").lower(), value.strip(b" \t").decode("latin-1")
        found[name] = f"{found[name]}, {text}" if name in found else text
    return found


def shown(hook: Hook, given: Heads, body: bytes) -> Shown | None:
    """None: what the scheme asks for is not there, or not in its form."""
    match hook.scheme:
        case "github":
            return _shown(body, given.get("x-hub-signature-256", ""), "sha256=")
        case "slack":
            at = given.get("x-slack-request-timestamp", "")
            return _timed(b"v0:%b:" % at.encode() + body, (given.get("x-slack-signature", "").removeprefix("v0="),), at)
        case "stripe":
            return _stripe(given.get("stripe-signature", ""), body)
        case "generic" if hook.tolerance_s == 0:
            return _shown(body, given.get("x-signature", ""), "sha256=")
        case "generic":
            at = given.get("x-timestamp", "")
            return _timed(at.encode() + b"." + body, (given.get("x-signature", "").removeprefix("sha256="),), at)


def is_signed(what: Shown | None, secrets: tuple[str, ...], now_s: float, tolerance_s: int) -> bool:
    """Takes the same time for a request that shows nothing."""
    if what is None:
        what = Shown(b"", (), None)
    is_timely = what.at is None or abs(now_s - what.at) <= tolerance_s
    fits = False
    for secret in secrets or ("nobody knows this one",):
        right = hmac.digest(secret.encode(), what.content, "sha256").hex().encode()
        for signature in what.signatures[:MOST_SIGNATURES]:
            fits |= hmac.compare_digest(right, signature.encode("utf-8", "replace"))
    return fits and is_timely and bool(secrets)


def fault(what: Shown | None, now_s: float, tolerance_s: int) -> str:
    """Why it was not let in, for the owner's record; the sender is told none of it."""
    if what is None or not any(what.signatures):
        return "no signature, or not in the form of its scheme"
    if what.at is not None and (off := now_s - what.at) and abs(off) > tolerance_s:
        return f"its timestamp is {abs(off):.0f} s {'old' if off > 0 else 'ahead'}; {tolerance_s} s are allowed"
    return "the signature does not fit"


def digest(content: bytes) -> str:
    """The name of what was signed."""
    return hashlib.sha256(content).hexdigest()[:40]


def sign(hook: Hook, secret: str, body: bytes, now_s: int) -> Heads:
    """What a sender shows, for samples and tests."""
    at = str(now_s)

    def made(content: bytes) -> str:
        return hmac.digest(secret.encode(), content, "sha256").hex()

    match hook.scheme:
        case "github":
            return {"x-hub-signature-256": f"sha256={made(body)}"}
        case "slack":
            return {"x-slack-request-timestamp": at, "x-slack-signature": f"v0={made(b'v0:%b:' % at.encode() + body)}"}
        case "stripe":
            return {"stripe-signature": f"t={at},v1={made(at.encode() + b'.' + body)}"}
        case "generic" if hook.tolerance_s == 0:
            return {"x-signature": f"sha256={made(body)}"}
        case "generic":
            return {"x-timestamp": at, "x-signature": f"sha256={made(at.encode() + b'.' + body)}"}


def _shown(body: bytes, signature: str, prefix: str) -> Shown | None:
    return Shown(body, (signature.removeprefix(prefix),), None) if signature.startswith(prefix) else None


def _timed(content: bytes, signatures: tuple[str, ...], at: str) -> Shown | None:
    if not at.isascii() or not at.isdigit() or len(at) > _MOST_DIGITS:
        return None
    return Shown(content, signatures, int(at))


def _stripe(header: str, body: bytes) -> Shown | None:
    parts = [part.strip().partition("=") for part in header.split(",")]
    times = [value for name, _, value in parts if name == "t"]
    if len(times) != 1:
        return None
    return _timed(times[0].encode() + b"." + body, tuple(value for name, _, value in parts if name == "v1"), times[0])
