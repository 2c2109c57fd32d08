"""Tokens that tell what they are by how they begin.

All of them hold a run of at least twenty letters, digits, `_` and `-`. Such runs are rare in ordinary text and found in one pass; only
they are looked at. A token begins where its run begins, or behind the escape that a run stands behind (`\\n` in JSON, `%3D` in a URL).
"""

import base64
import json
import re
import string
from collections.abc import Iterator
from dataclasses import dataclass

from daimon.vault.chance import LOOSE, PIECE, bits, is_mixed, is_placeholder, is_random

RUN = 20
_MASK = bytes(0x61 if chr(byte) in string.ascii_letters + string.digits + "_-" else 0x20 for byte in range(256))
_NEEDLE = b"a" * RUN
_WORD = "[A-Za-z0-9_-]"
_BEGINS = r"(?:(?<![0-9A-Za-z])|(?<=\\[nrt]))"
"""Not in the middle of a word; behind a line break in JSON, though it is written with a letter."""
_RULES = {
    "sk-ant-": ("api-key", rf"sk-ant-{_WORD}{{20,}}"),
    "sk-proj-": ("api-key", rf"sk-proj-{_WORD}{{20,}}"),
    "sk-svcacct-": ("api-key", rf"sk-svcacct-{_WORD}{{20,}}"),
    "sk-admin-": ("api-key", rf"sk-admin-{_WORD}{{20,}}"),
    "sk-or-": ("api-key", r"sk-or-v1-[0-9a-f]{32,}"),
    "sk-": ("api-key", r"sk-[A-Za-z0-9]{32,}"),
    "ghp_": ("github-token", r"ghp_[A-Za-z0-9]{36,}"),
    "gho_": ("github-token", r"gho_[A-Za-z0-9]{36,}"),
    "ghs_": ("github-token", r"ghs_[A-Za-z0-9]{36,}"),
    "ghu_": ("github-token", r"ghu_[A-Za-z0-9]{36,}"),
    "ghr_": ("github-token", r"ghr_[A-Za-z0-9]{36,}"),
    "github_pat_": ("github-token", r"github_pat_[A-Za-z0-9_]{40,}"),
    "glpat-": ("gitlab-token", rf"glpat-{_WORD}{{20,}}"),
    "AKIA": ("aws-key", r"AKIA[A-Z2-7]{16}(?![A-Za-z0-9_-])"),
    "ASIA": ("aws-key", r"ASIA[A-Z2-7]{16}(?![A-Za-z0-9_-])"),
    "xoxb-": ("slack-token", r"xoxb-[0-9A-Za-z-]{20,}"),
    "xoxp-": ("slack-token", r"xoxp-[0-9A-Za-z-]{20,}"),
    "xoxa-": ("slack-token", r"xoxa-[0-9A-Za-z-]{20,}"),
    "xoxs-": ("slack-token", r"xoxs-[0-9A-Za-z-]{20,}"),
    "xapp-": ("slack-token", r"xapp-[0-9A-Za-z-]{20,}"),
    "AIza": ("google-key", rf"AIza{_WORD}{{35}}(?!{_WORD})"),
    "GOCSPX-": ("google-key", rf"GOCSPX-{_WORD}{{24,}}"),
    "npm_": ("npm-token", r"npm_[A-Za-z0-9]{36}(?![A-Za-z0-9_-])"),
    "pypi-AgEI": ("pypi-token", rf"pypi-AgEI{_WORD}{{40,}}"),
    "hf_": ("huggingface-token", r"hf_[A-Za-z0-9]{30,}"),
    "dckr_pat_": ("docker-token", rf"dckr_pat_{_WORD}{{20,}}"),
    "shpat_": ("shopify-token", r"shpat_[A-Fa-f0-9]{32}"),
    "shpss_": ("shopify-token", r"shpss_[A-Fa-f0-9]{32}"),
    "sk_live_": ("stripe-key", r"sk_live_[A-Za-z0-9]{20,}"),
    "rk_live_": ("stripe-key", r"rk_live_[A-Za-z0-9]{20,}"),
    "sk_test_": ("stripe-key", r"sk_test_[A-Za-z0-9]{20,}"),
    "SK": ("twilio-key", r"SK[0-9a-f]{32}(?![A-Za-z0-9_-])"),
    "eyJ": ("jwt", rf"eyJ{_WORD}{{10,}}\.eyJ{_WORD}{{5,}}\.{_WORD}{{20,}}"),
}
_BEGINNINGS = tuple(_RULES)
_COMPILED = {beginning: (kind, re.compile(rule)) for beginning, (kind, rule) in _RULES.items()}
_BEHIND = (
    ("SG.", "sendgrid-key", re.compile(rf"{_BEGINS}SG\.{_WORD}{{20,24}}\.{_WORD}{{39,50}}")),
    ("ya29.", "google-key", re.compile(rf"{_BEGINS}ya29\.{_WORD}{{20,}}")),
)
_BOT = re.compile(rf"{_BEGINS}[0-9]{{8,10}}:AA{_WORD}{{33}}(?!{_WORD})")
_AWS_SECRET = re.compile(r"(?<![A-Za-z0-9/+=_-])[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+=_-])")
NEAR = 200
"""So far behind an id of AWS its secret key is looked for."""
LEAST_BITS = 3.0
KINDS = tuple(dict.fromkeys((*(kind for kind, _ in _RULES.values()), *(kind for _, kind, _ in _BEHIND), "telegram-token", "aws-secret")))
_DUMMIES = ("SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV_adQssw5c",)
"""What documentations show."""


@dataclass(frozen=True, slots=True)
class Found:
    start: int
    end: int
    kind: str


def found(text: str) -> Iterator[Found]:
    mask = text.encode("latin-1", "replace").translate(_MASK)
    start = mask.find(_NEEDLE)
    while start >= 0:
        end = mask.find(b" ", start)
        yield from _at(text, start)
        start = -1 if end < 0 else mask.find(_NEEDLE, end)


def _at(text: str, run: int) -> Iterator[Found]:
    for start in _beginnings(text, run):
        if text.startswith(_BEGINNINGS, start):
            for beginning in _BEGINNINGS:
                if text.startswith(beginning, start):
                    yield from _matched(text, start, beginning)
    for before, kind, rule in _BEHIND:
        if text.endswith(before, 0, run):
            match = rule.match(text, run - len(before))
            if match is not None and is_credible(match[0][len(before) :]):
                yield Found(match.start(), match.end(), kind)
    if text.startswith(":AA", run - 1):
        match = _BOT.search(text, max(0, run - 12), run + 40)
        if match is not None and is_credible(match[0].partition(":")[2]):
            yield Found(match.start(), match.end(), "telegram-token")


def _beginnings(text: str, run: int) -> Iterator[int]:
    yield run
    before = text[run - 1 : run]
    if before == "\\":
        yield run + (5 if text[run] == "u" else 1)
    elif before == "%":
        yield run + 2


def _matched(text: str, start: int, beginning: str) -> Iterator[Found]:
    kind, rule = _COMPILED[beginning]
    match = rule.match(text, start)
    if match is None or not _is_meant(kind, match[0], match[0][len(beginning) :]):
        return
    yield Found(match.start(), match.end(), kind)
    if kind == "aws-key":
        for secret in _AWS_SECRET.finditer(text, match.end(), match.end() + NEAR):
            if is_random(secret[0]):
                yield Found(secret.start(), secret.end(), "aws-secret")


def _is_meant(kind: str, token: str, tail: str) -> bool:
    match kind:
        case "jwt":
            return _is_jwt(token)
        case "aws-key":  # capitals, hardly a digit, and nothing else looks like it
            return not is_placeholder(tail) and "EXAMPLE" not in tail
        case _:
            return is_credible(tail)


def is_credible(tail: str) -> bool:
    """What follows the beginning is no placeholder, and no words."""
    if is_placeholder(tail) or bits(tail) < LEAST_BITS:
        return False
    longest = max(tail.split("-"), key=len)
    return is_mixed(tail, LOOSE if tail.isalnum() else PIECE) or (len(longest) >= RUN and is_mixed(longest))


def _is_jwt(token: str) -> bool:
    head, body, signature = token.split(".")
    return signature not in _DUMMIES and "alg" in _read(head) and bool(_read(body))


def _read(part: str) -> dict[str, object]:
    try:
        read = json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))
    except ValueError:
        return {}
    return read if isinstance(read, dict) else {}
