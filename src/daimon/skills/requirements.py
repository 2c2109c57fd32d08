"""What a skill requires: read from its metadata, compared, and said in plain words. Pure.

    metadata:
      daimon-tools: read_page remind        tools of Daimon that its steps name
      daimon-hosts: api.example.org         that its scripts reach
      daimon-secrets: github                of the vault, for its scripts
      daimon-files: read                    none, read or write: what its scripts do in the workspace

Hosts are named one by one: a star would be a grant that nobody can judge.
"""

import re
from collections.abc import Callable, Mapping

from daimon.abi.skill import Requires

PREFIX = "daimon-"
TOOLS, HOSTS, SECRETS, FILES = (f"{PREFIX}{each}" for each in ("tools", "hosts", "secrets", "files"))
MOST = 32
"""Of each."""
_LABEL = r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"
_TOOL = re.compile(r"[a-z][a-z0-9_]{0,63}")
_HOST = re.compile(rf"(?=[^:]{{1,253}}(?::|$)){_LABEL}(?:\.{_LABEL})*(?::[1-9][0-9]{{0,4}})?")
_SECRET = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_RANKS = {"none": 0, "read": 1, "write": 2}


def requires_of(metadata: Mapping[str, str]) -> tuple[Requires, list[str]]:
    """And what is wrong with it."""
    faults: list[str] = []

    def listed(name: str, form: re.Pattern[str], what: str) -> tuple[str, ...]:
        found = tuple(sorted(set(re.split(r"[\s,;]+", metadata.get(name, "")) if name in metadata else ()) - {""}))
        bad = [each for each in found if not form.fullmatch(each)]
        faults.extend(f"{name} names {each[:80]!a}, which is no {what}" for each in bad[:3])
        if len(found) > MOST:
            faults.append(f"{name} names {len(found)}; {MOST} are the most")
        return found

    files = metadata.get(FILES, "none").strip() or "none"
    if files not in _RANKS:
        faults.append(f"{FILES} is {files[:40]!a}; it must be none, read or write")
        files = "none"
    tools = listed(TOOLS, _TOOL, "name of a tool, such as read_page")
    hosts = listed(HOSTS, _HOST, "host, such as api.example.org or example.org:8443; name each, without stars")
    secrets = listed(SECRETS, _SECRET, "name of a secret")
    return Requires(tools, hosts, secrets, files), faults  # type: ignore[arg-type] # looked up in _RANKS


def is_wider(new: Requires, than: Requires) -> bool:
    """Does it need anything that was not agreed to?"""
    return bool(added(new, than))


def added(new: Requires, than: Requires) -> Requires | None:
    """What is in the one and not in the other; None: nothing."""
    more = Requires(
        tools=_without(new.tools, than.tools),
        hosts=_without(new.hosts, than.hosts),
        secrets=_without(new.secrets, than.secrets),
        files=new.files if _RANKS[new.files] > _RANKS[than.files] else "none",
    )
    return None if more == Requires() else more


def worded(requires: Requires) -> tuple[str, ...]:
    """One line for each kind; none where it needs nothing."""
    lines: list[tuple[object, Callable[[], str]]] = [
        (requires.tools, lambda: f"its steps use the tools {', '.join(requires.tools)}"),
        (requires.hosts, lambda: f"its scripts may reach {', '.join(requires.hosts)}"),
        (requires.secrets, lambda: f"its scripts may use the secrets {', '.join(requires.secrets)}, towards the hosts that each is for"),
        (requires.files == "read", lambda: "its scripts may read your workspace"),
        (requires.files == "write", lambda: "its scripts may read and change your workspace"),
    ]
    return tuple(line() for is_there, line in lines if is_there)


def _without(new: tuple[str, ...], old: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(each for each in new if each not in old)
