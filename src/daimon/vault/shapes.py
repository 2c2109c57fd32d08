"""What looks like a secret, though nobody told us that it is one. Rules that seldom err: a text without secrets stays as it is.

    private-key          blocks of PEM, OpenSSH and PGP that hold key material
    api-key and others   tokens with the beginning that their provider gives them (`tokens.py`)
    password             in `scheme://user:PASSWORD@host`, and in `password = "…"` and the like where the value looks random
    authorization        what stands behind `Authorization: Bearer` or `Basic`
    storage-key          keys in connection strings

Only the secret itself goes; the name beside it, the host, the user stay. Placeholders (`<your-key>`, `changeme`, `${TOKEN}`) and the
dummies of documentations are no secrets. Each rule begins with a literal that is looked for first, so a text without it costs one look.
"""

import re
from collections.abc import Iterator

from daimon.vault import tokens
from daimon.vault.chance import is_mixed, is_placeholder, is_random
from daimon.vault.tokens import Found

KINDS = (*tokens.KINDS, "private-key", "webhook-secret", "password", "authorization", "storage-key")
_BLOCK = re.compile(
    r"-----BEGIN ([A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?)-----"
    r"((?:[A-Za-z0-9+/=\s\"',:.()-]|\\[nr]|\\\s)*?)(?:-----END \1-----|(?![A-Za-z0-9+/=\s\"',:.()-]|\\[nr]|\\\s)|\Z)"
)
_MATERIAL = re.compile(r"[A-Za-z0-9+/=]{40}")
_URL = re.compile(r"://[^\s:/@\"'<>`]{0,100}:([^\s:/@\"'<>`\[\]]{4,200})@[A-Za-z0-9\[]")
_SEPARATED = r"\\?[\"']?\s{0,4}(?:=>|:=|=(?!=)|:(?=[\s\"'\\]))\s{0,4}"
_QUOTED = r"(?P<quote>\\?[\"'])(?P<quoted>[^\s\"'\\<>\[\]]{8,256}+)(?P=quote)"
_BARE = r"(?P<bare>[^\s\"'\\`,;<>(){}\[\]|&]{8,256}+)(?=[\s\"'\\,;&]|\Z)"
_ENDINGS = {
    b"passw": r"(?:passwd|password)",
    b"passphrase": r"passphrase",
    b"secret": r"secret(?:[_-]?(?:access[_-]?)?key)?",
    b"token": r"token",
    b"api": r"api[_-]?key",
    b"access": r"access[_-]?key",
}
_ASSIGNED = {word: re.compile(f"{ending}{_SEPARATED}(?:{_QUOTED}|{_BARE})", re.IGNORECASE) for word, ending in _ENDINGS.items()}
_PLACE_IN_A_LIST = re.compile(r"(?:next|continuation|page|paging|pagination|update|change|sync|resume|marker)[_-]?\Z", re.IGNORECASE)
"""Before `token`: it says where to go on reading, and opens nothing."""
_HEADERS = {
    b"bearer": re.compile(r"bearer\s{1,4}([A-Za-z0-9._~+/=-]{16,4096})", re.IGNORECASE),
    b"authorization": re.compile(r"authorization\\?[\"']?\s{0,4}[:=,]\s{0,4}\\?[\"']?basic\s{1,4}([A-Za-z0-9+/=]{12,1024})", re.IGNORECASE),
}
_WEBHOOK = re.compile(r"whsec_([A-Za-z0-9+/]{20,100}+={0,2})")
_STORAGE = re.compile(r"(?:AccountKey|SharedAccessKey)=([A-Za-z0-9+/]{40,100}={0,2})")


def without(text: str) -> str:
    pieces, at = [], 0
    for each in found(text):
        pieces += [text[at : each.start], f"[redacted {each.kind}]"]
        at = each.end
    return "".join((*pieces, text[at:])) if pieces else text


def found(text: str) -> list[Found]:
    """In order; none overlaps another."""
    kept: list[Found] = []
    for each in sorted(_all(text), key=lambda each: (each.start, -each.end)):
        if not kept or each.start >= kept[-1].end:
            kept.append(each)
    return kept


def _all(text: str) -> Iterator[Found]:
    yield from tokens.found(text)
    if "PRIVATE KEY" in text:
        yield from _blocks(text)
    if "://" in text and "@" in text:
        yield from _urls(text)
    if "AccessKey=" in text or "AccountKey=" in text:
        yield from (Found(each.start(1), each.end(1), "storage-key") for each in _STORAGE.finditer(text) if is_random(each[1]))
    if "whsec_" in text:
        yield from (Found(each.start(), each.end(), "webhook-secret") for each in _WEBHOOK.finditer(text) if is_random(each[1]))
    lower = text.encode("latin-1", "replace").lower()
    yield from _assigned(text, lower)
    yield from _authorised(text, lower)


def _blocks(text: str) -> Iterator[Found]:
    """Without material it is talk about keys."""
    for block in _BLOCK.finditer(text):
        material = re.sub(r"\\[nr]|[\s\"']|\\$", "", block[2])
        if _MATERIAL.search(material) and not is_placeholder(material[:200]):
            yield Found(block.start(), block.end(), "private-key")


def _urls(text: str) -> Iterator[Found]:
    for url in _URL.finditer(text):
        is_word = url[1].isdigit() or (url[1].isalpha() and not is_mixed(url[1]))
        if not is_word and not is_placeholder(url[1]) and "*" not in url[1]:
            yield Found(url.start(1), url.end(1), "password")


def _assigned(text: str, lower: bytes) -> Iterator[Found]:
    for word, pattern in _ASSIGNED.items():
        for match in _matches(text, lower, word, pattern):
            group = "quoted" if match["quoted"] else "bare"
            if is_random(match[group]) and not _PLACE_IN_A_LIST.search(text, max(0, match.start() - 20), match.start()):
                yield Found(match.start(group), match.end(group), "password")


def _authorised(text: str, lower: bytes) -> Iterator[Found]:
    for word, pattern in _HEADERS.items():
        for match in _matches(text, lower, word, pattern):
            if is_random(match[1]):
                yield Found(match.start(1), match.end(1), "authorization")


def _matches(text: str, lower: bytes, word: bytes, pattern: re.Pattern[str]) -> Iterator[re.Match[str]]:
    """Where the pattern matches, which begins with the word."""
    place = lower.find(word)
    while place >= 0:
        if (match := pattern.match(text, place)) is not None:
            yield match
        place = lower.find(word, place + len(word))
