"""Whom a mail is from.

Anybody can write anything behind `From:`. Whether it is true was found out by the server that took the mail in from the world, and only
that server's word counts here: an `Authentication-Results` header (RFC 8601) with the name that the owner set (`authserv_id`), and of
several such only the topmost, since servers put theirs on top and whatever a sender wrote lies further down.

The one invariant: `Sender.id` is a bare address only if the head has exactly one `From`, that one is a single plain address, and the
believed header vouches for its domain (`dmarc=pass` for it, a DKIM signature of it or of a domain above it, SPF for exactly it) or says
that whoever handed it in had logged in as that address (`auth=pass`). In any other case it is `unverified:ADDRESS`. Whatever looks odd
on the way (a quote in a comment, an open parenthesis, a `dmarc=fail` beside passes) counts against the mail.

It deliberately does not know public suffixes, so a signature of `mail.example.org` alone does not speak for `example.org`; and it checks
no signature itself, since the mail may have been changed on the way by then.
"""

import re
from dataclasses import dataclass

from daimon.gateway.mail.headers import Headers, shown

UNVERIFIED = "unverified:"
MOST_VALUE = 8_192
"""Longer headers are not read: what is done with them may take time that grows faster than they do."""
_LABEL = r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?"
_DOMAIN = re.compile(rf"{_LABEL}(?:\.{_LABEL})*", re.IGNORECASE)
_ADDRESS = re.compile(rf"[A-Za-z0-9!#$%&'*+/=?^_`{{|}}~-]+(?:\.[A-Za-z0-9!#$%&'*+/=?^_`{{|}}~-]+)*@{_DOMAIN.pattern}", re.IGNORECASE)
_FROM = re.compile(r'(?P<name>"(?:[^"\\]|\\.)*"|[^"<>,;:()@\\]*)\s*<(?P<address>[^<>\s]+)>', re.DOTALL)
_RESULT = re.compile(r"\s*([a-z0-9-]+)(?:/\d+)?\s*=\s*([a-z]+)\b", re.IGNORECASE)
_PROPERTY = re.compile(r'([a-z]+)\s*\.\s*([a-z0-9_-]+)\s*=\s*("(?:[^"\\]|\\.)*"|[^\s;"]+)', re.IGNORECASE)
_AGAINST = ("fail", "reject", "quarantine", "permerror")


@dataclass(frozen=True, slots=True)
class Sender:
    id: str
    """The address, or `unverified:` and what claims to be one."""
    address: str
    """Where an answer would go; empty: nowhere."""
    name: str = ""

    def doubted(self) -> "Sender":
        return Sender(self.id if not self.is_verified else f"{UNVERIFIED}{self.id}", self.address, self.name)

    @property
    def is_verified(self) -> bool:
        return not self.id.startswith(UNVERIFIED)


@dataclass(frozen=True, slots=True)
class _Result:
    method: str
    result: str
    properties: dict[str, str]


def sender(headers: Headers, authserv_id: str) -> Sender:
    lines = headers.all("from")
    name, address = mailbox(lines[0]) if lines else ("", "")
    if len(lines) != 1 or not address:
        return Sender(f"{UNVERIFIED}{_claimed(lines)}", address)
    vouched = bool(authserv_id) and _is_vouched(address, _results(headers, authserv_id))
    return Sender(address if vouched else f"{UNVERIFIED}{address}", address, name)


def mailbox(value: str) -> tuple[str, str]:
    """Name and address, the latter in lower case and only where the value is one plain mailbox; empty otherwise."""
    text = value.strip()
    whole = _FROM.fullmatch(text[:MOST_VALUE])
    address = whole["address"] if whole else text
    if len(address) > 254 or "=?" in address or not _ADDRESS.fullmatch(address) or any(ord(sign) < 32 and sign != "\t" for sign in value):
        return "", ""
    return (shown(whole["name"].strip().strip('"'), 100) if whole else ""), address.lower()


def addresses(values: tuple[str, ...]) -> tuple[str, ...]:
    """All that looks like one in a list of recipients: good enough to see whether the agent is among them."""
    words = (word for value in values for word in re.split(r"""[\s,;:<>()"]+""", value[:100_000]) if "@" in word and len(word) <= 254)
    return tuple(dict.fromkeys(word.lower() for word in words if _ADDRESS.fullmatch(word)))


def believable(headers: Headers) -> str:
    """The name on the topmost `Authentication-Results`, in lower case: who would have to be believed. Empty: there is none."""
    values = headers.all("authentication-results")
    sections = _sections(values[0]) if values else []
    name = (sections[0].split() or [""])[0].strip('"').lower() if sections else ""
    return name if _DOMAIN.fullmatch(name) else ""


def _claimed(lines: tuple[str, ...]) -> str:
    return " and ".join(shown(line, 100) for line in lines[:3]) or "nobody"


def _results(headers: Headers, authserv_id: str) -> tuple[_Result, ...]:
    for value in headers.all("authentication-results"):
        sections = _sections(value)
        if not sections and _may_be_of(value, authserv_id):
            return ()  # it cannot be read, and still hides those below it
        if sections and (sections[0].split() or [""])[0].strip('"').lower() == authserv_id.lower():
            return tuple(result for section in sections[1:] if (result := _result(section)))
    return ()


def _may_be_of(value: str, authserv_id: str) -> bool:
    name = value[:MOST_VALUE].strip().strip('"').lower()
    return name.startswith((authserv_id.lower(), "("))


def _sections(value: str) -> list[str]:
    """What stands between semicolons, without comments. Nothing where quotes or parentheses do not add up, or a comment has a quote."""
    if len(value) > MOST_VALUE:
        return []
    sections, depth, is_quoted, skip = [""], 0, False, False
    for sign in value:
        if skip or sign == "\\":
            skip = not skip
            sections[-1] += "" if depth else sign
        elif depth:
            if sign == '"':
                return []
            depth += (sign == "(") - (sign == ")")
        elif sign == '"':
            is_quoted = not is_quoted
            sections[-1] += sign
        elif sign in "()" and not is_quoted:
            if sign == ")":
                return []
            depth, sections[-1] = 1, sections[-1] + " "
        elif sign == ";" and not is_quoted:
            sections.append("")
        else:
            sections[-1] += sign
    return [] if depth or is_quoted else sections


def _result(section: str) -> _Result | None:
    verdict = _RESULT.match(section)
    if verdict is None:
        return None
    properties: dict[str, str] = {}
    for kind, name, value in _PROPERTY.findall(section[verdict.end() :]):
        if properties.setdefault(f"{kind}.{name}".lower(), value.lower()) != value.lower():
            return None  # said twice, and differently
    return _Result(verdict[1].lower(), verdict[2].lower(), properties)


def _is_vouched(address: str, results: tuple[_Result, ...]) -> bool:
    if any(result.method == "dmarc" and result.result in _AGAINST for result in results):
        return False
    return any(result.result == "pass" and _speaks_for(result, address) for result in results)


def _speaks_for(result: _Result, address: str) -> bool:
    domain = address.rpartition("@")[2]
    told = result.properties
    match result.method:
        case "dmarc":
            return told.get("header.from", "").rpartition("@")[2] == domain
        case "dkim":
            signer = told.get("header.d", "") or told.get("header.i", "").rpartition("@")[2]
            return _DOMAIN.fullmatch(signer) is not None and "." in signer and (domain == signer or domain.endswith(f".{signer}"))
        case "spf":
            return _plain(told.get("smtp.mailfrom", "")) == domain
        case "auth":
            return told.get("smtp.auth", "").strip('"') == address
        case _:
            return False


def _plain(mailfrom: str) -> str:
    """The domain of an envelope's sender; nothing where that has quotes or anything else that could hide a second one."""
    return mailfrom.rpartition("@")[2] if _ADDRESS.fullmatch(mailfrom) or _DOMAIN.fullmatch(mailfrom) else ""
