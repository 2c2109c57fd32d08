"""The home directory: all state of one Daimon, for one process at a time.

It is made with mode 0700, and one that others can read is closed to them, because it holds the owner's words and tokens. The
lock is a file lock that the system drops when the process dies, however it dies, so there is nothing to clean up after a
kill.

    daimon.toml   settings        journal.db   the truth            memory.db   rebuilt from it
    token         for TCP calls   daimon.sock  for the owner        vault.sealed   secrets
    vault.key     opens the vault, unless a passphrase, a keyring or systemd does
    vault.uses    who used which secret        vault.lock   held while the vault changes
    policy/       the owner's      policy.good.json   as they last read without fault
    outputs/      what commands printed        services.json   services that agents keep running
    skills/       installed skills, and index.json
    mcp/          what was agreed to of each MCP server, and its sign-in
    lessons/      what was learned and waits for the owner, and how skills have served
    backups/      unless the settings name another place   backup.part/   while one is made
    lock          held while running
"""

import fcntl
import os
import secrets
import stat
import time
from pathlib import Path

from daimon.abi.errors import HomeBusy, Misconfigured

LOOKED_AT_S = 2.0
"""So long somebody may look whether the home is held (`holder`), which takes a moment unless the machine is very busy."""
POLL_S = 0.005


class Home:
    def __init__(self, path: Path) -> None:
        self.path = path
        self.config = path / "daimon.toml"
        self.keys = path / "keys.toml"
        """Keys of before there was a vault: they move in."""
        self.vault = path / "vault.sealed"
        self.vault_key = path / "vault.key"
        self.vault_uses = path / "vault.uses"
        self.journal = path / "journal.db"
        self.policies = path / "policy"
        self.good_policies = path / "policy.good.json"
        self.memory = path / "memory.db"
        self.skills = path / "skills"
        self.lessons = path / "lessons"
        self.socket = path / "daimon.sock"
        self._lock = path / "lock"
        self._token = path / "token"

    def ensure(self) -> None:
        try:
            self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
        except (FileExistsError, NotADirectoryError):
            raise Misconfigured(f"the home {self.path} is not a directory; choose another with --home") from None
        except OSError as error:
            raise Misconfigured(f"the home {self.path} cannot be made: {error.strerror}; choose another with --home") from None
        found = self.path.stat()
        if found.st_uid == os.geteuid() and stat.S_IMODE(found.st_mode) & 0o077:
            self.path.chmod(0o700)
        elif found.st_uid != os.geteuid():
            raise Misconfigured(f"the home {self.path} belongs to another user; choose another with --home, or run as its owner")

    def lock(self, patience_s: float = 0.0) -> int:
        """Takes the home for this process; returns the descriptor that holds it. Waits so long for who holds it now. Raises HomeBusy."""
        try:
            descriptor = os.open(self._lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise Misconfigured(f"{self._lock} cannot be opened: {error.strerror}") from None
        if not _taken(descriptor, patience_s):
            holder = os.pread(descriptor, 32, 0).decode(errors="replace").strip() or "unknown"
            os.close(descriptor)
            raise HomeBusy(f"another Daimon (process {holder}) runs on {self.path}; stop it, or choose another --home")
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
        return descriptor

    def holder(self) -> int | None:
        """The process that runs on this home; None if none does."""
        try:
            descriptor = os.open(self._lock, os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            return None
        try:
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except OSError:
            found = os.pread(descriptor, 32, 0).decode(errors="replace").strip()
            return int(found) if found.isdecimal() else 0
        else:
            return None
        finally:
            os.close(descriptor)

    def token(self) -> str:
        """The secret for calls over TCP, made at the first start."""
        try:
            found = self._token.read_text(encoding="ascii").strip()
        except (FileNotFoundError, UnicodeDecodeError):
            found = ""
        if len(found) >= 32:
            return found
        made = secrets.token_urlsafe(32)
        draft = self._token.with_suffix(".new")
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w", encoding="ascii") as file:
            file.write(made + "\n")
        draft.replace(self._token)
        return made


def _taken(descriptor: int, patience_s: float) -> bool:
    """Whoever only looks shares the lock for a moment, and is waited for; False: somebody holds it."""
    began_s = time.monotonic()
    while not _locks(descriptor, fcntl.LOCK_EX):
        is_only_looked_at = _locks(descriptor, fcntl.LOCK_SH)
        fcntl.flock(descriptor, fcntl.LOCK_UN)
        if time.monotonic() - began_s > (max(patience_s, LOOKED_AT_S) if is_only_looked_at else patience_s):
            return False
        time.sleep(POLL_S)
    return True


def _locks(descriptor: int, how: int) -> bool:
    try:
        fcntl.flock(descriptor, how | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
