"""The headers of answers, and what each is against.

Every answer: its type is not guessed at (`nosniff`), no other site may include it or hold a window of it (`Cross-Origin-…`), where one
was is told to nobody (`no-referrer`), and it cannot be framed. What the API answers is kept in no cache.

The page: nothing that it did not bring along runs, is drawn, or is reached. Scripts are the page's own files; a nonce is there for the one
that the page itself begins with. `connect-src 'self'` covers the WebSocket. Text becomes markup through the policy `daimon` only, which
takes what the server has sanitised (Trusted Types).

What an agent made (`FRAME`): shown in a frame of no origin, without scripts, forms, windows or anything from elsewhere.
"""

import secrets

_OFF = ("camera", "display-capture", "geolocation", "hid", "midi", "payment", "serial", "usb", "xr-spatial-tracking")
ALWAYS = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "x-frame-options": "DENY",
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
    "permissions-policy": ", ".join(f"{each}=()" for each in _OFF),
}
PART = {"x-content-type-options": "nosniff", "cross-origin-resource-policy": "same-origin"}
"""Of a script or style, which is no page: the policy of the page that loads it holds. They are many and small, so words count."""
NEVER_KEPT = {"cache-control": "no-store"}
FRAME = {
    "content-security-policy": "sandbox; default-src 'none'; img-src data:; style-src 'unsafe-inline'; font-src data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'self'",
    "x-frame-options": "SAMEORIGIN",
}
_PAGE = (
    "default-src 'none'",
    "script-src 'self' 'nonce-{nonce}'",
    "style-src 'self'",
    "img-src 'self' blob: data:",
    "media-src 'self' blob:",
    "connect-src 'self'",
    "manifest-src 'self'",
    "worker-src 'self'",
    "frame-src 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
    "form-action 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types daimon",
)


def new_nonce() -> str:
    return secrets.token_urlsafe(18)


def page_headers(nonce: str) -> dict[str, str]:
    """Of the page, beside what every answer has. A nonce is for one answer, so the page is not kept."""
    return {"content-security-policy": "; ".join(_PAGE).replace("{nonce}", nonce), **NEVER_KEPT}
