"""What somebody typed as the source of a skill, taken apart.

./read-feeds, /home/me/read-feeds          a directory
skills.zip, https://example.org/a.tar.gz   an archive, here or there; `#PATH` for a directory in it
https://example.org/me/skills.git#feeds@v1 a repository; `#PATH` for a directory in it, `@REV` for a branch, a tag or a commit
file:///home/me/skills                     a repository of this machine
"""

import re
from dataclasses import dataclass
from typing import Literal
from urllib.parse import unquote, urlsplit

from daimon.abi.errors import BadInput
from daimon.skills.bundle import Packing

PACKED = (".zip", ".tar.gz", ".tgz", ".skill")
_REVISION = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/-]{0,199}")
FORMS = "give a directory, an archive (.zip, .tar.gz, .tgz), or the https address of an archive or a repository"


@dataclass(frozen=True, slots=True)
class Source:
    kind: Literal["folder", "packed", "download", "repository"]
    where: str
    """A path, or an address without its fragment."""
    below: str = ""
    revision: str = ""
    host: str = ""
    """Empty: nothing is reached for it."""
    port: int = 443

    @property
    def folder(self) -> str:
        """What the directory of the skill would be called; empty: it lies in none."""
        name = (self.below or self.where).rstrip("/").rpartition("/")[2]
        return name if self.below or self.kind == "folder" else name.removesuffix(".git") if self.kind == "repository" else ""


def parsed(text: str) -> Source:
    """Raises BadInput."""
    if not text.strip() or not text.isprintable():
        raise BadInput(f"{text[:200]!a} is no source of a skill; {FORMS}")
    given, _, fragment = text.strip().partition("#")
    below, _, revision = fragment.partition("@")
    below = below.strip("/")
    if below:
        Packing("the address").admit(below, 0)
    if revision and not _REVISION.fullmatch(revision):
        raise BadInput(f"{revision[:80]!a} is no branch, tag or commit; write it after @, as in ADDRESS#PATH@v1.2")
    if "://" in given:
        return _address(given, below, revision)
    if re.match(r"[\w.-]+@[\w.-]+:", given):
        raise BadInput(f"{given[:200]!a} needs a key of yours, which no box is given; use the https address of the repository")
    if given.lower().endswith(PACKED):
        return Source("packed", given, below)
    if fragment:
        raise BadInput(f"{given[:200]!a} is a directory; name the one that holds SKILL.md instead of #{fragment[:80]}")
    return Source("folder", given)


def _address(given: str, below: str, revision: str) -> Source:
    try:
        parts = urlsplit(given)
        port = parts.port or (80 if parts.scheme == "http" else 443)
    except ValueError as broken:
        raise BadInput(f"this is no address: {broken}; {FORMS}") from None
    if parts.username or parts.password:
        raise BadInput("the address holds a name or a password, which would be kept with the skill; take it out")
    if parts.scheme == "file":
        return Source("repository", unquote(parts.path), below, revision)
    if parts.scheme not in ("https", "http") or not parts.hostname:
        raise BadInput(f"{given[:200]!a} cannot be fetched; {FORMS}")
    if parts.path.lower().endswith(PACKED):
        return Source("download", given, below, "", parts.hostname, port)
    return Source("repository", given, below, revision, parts.hostname, port)
