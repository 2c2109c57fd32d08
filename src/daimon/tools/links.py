"""Where a link of a page leads, in full. Pure; what is no web address leads nowhere."""

import re

_WHOLE = re.compile(r"(?i)https?://[^\s]+")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_BASE = re.compile(r"(?i)(https?:)//([^/?#]*)([^?#]*)(\?[^#]*)?")
LONGEST = 2_000


def led_to(href: str, base: str) -> str:
    """Empty: nowhere. Fragments are dropped: they name a place in a page that was read whole."""
    href = re.sub(r"[\x00-\x20]+", "" if "\n" in href else "%20", href.strip()).partition("#")[0]
    found = _BASE.match(base)
    if not href or len(href) > LONGEST or found is None:
        return ""
    scheme, host, path, _ = found.groups()
    if _WHOLE.fullmatch(href):
        return href
    if _SCHEME.match(href):
        return ""
    if href.startswith("//"):
        return f"{scheme}{href}"
    if href.startswith("?"):
        return f"{scheme}//{host}{path or '/'}{href}"
    where, mark, query = href.partition("?")
    full = where if where.startswith("/") else f"{path.rpartition('/')[0]}/{where}"
    return f"{scheme}//{host}{_walked(full)}{mark}{query}"


def host_of(url: str) -> str:
    """As a label names it; empty for what is no web address."""
    found = _BASE.match(url)
    return found[2].rpartition("@")[2].lower() if found else ""


def _walked(path: str) -> str:
    """Without `.` and `..`."""
    kept: list[str] = []
    for part in path.split("/")[1:]:
        if part == "..":
            del kept[-1:]
        elif part != ".":
            kept.append(part)
    ends = "/" if path.endswith(("/.", "/..")) and kept and kept[-1] else ""
    return f"/{'/'.join(kept)}{ends}"
