"""A dovecot of one's own: in a directory that goes away, on free ports of loopback, with a configuration that takes nothing from the
machine's. Started by root it runs as `nobody`, since dovecot gives nobody root's mail; by anybody else, as whoever that is.

Mail comes in by IMAP APPEND through Python's own client, so what a test delivers was taken by the server itself.
"""

import grp
import imaplib
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

from daimon.testing.ports import free_port

PASSWORD = "the-password-of-a-test"
PROGRAM = "/usr/sbin/dovecot"
START_S = 60.0
_CONFIG = """
base_dir = {home}/run
state_dir = {home}/state
log_path = {home}/log
protocols = imap
listen = 127.0.0.1
default_internal_user = {user}
default_internal_group = {group}
default_login_user = {user}
first_valid_uid = 1
first_valid_gid = 1
disable_plaintext_auth = no
auth_mechanisms = plain login
auth_failure_delay = 0
mail_location = maildir:~/Maildir
mail_max_userip_connections = 100
{tls}
{capability}
passdb {{
  driver = static
  args = password={password}
}}
userdb {{
  driver = static
  args = uid={uid} gid={gid} home={home}/mail/%u
}}
namespace inbox {{
  inbox = yes
  mailbox Sent {{
    auto = create
    special_use = \\Sent
  }}
}}
service anvil {{
  chroot =
  unix_listener anvil-auth-penalty {{
    mode = 0
  }}
}}
service imap-login {{
  chroot =
  inet_listener imap {{
    port = {port}
  }}
  inet_listener imaps {{
    port = {tls_port}
  }}
}}
service stats {{
  chroot =
}}
"""


def obstacle() -> str:
    """Why it cannot run here; empty: it can."""
    program = shutil.which("dovecot") or PROGRAM
    if not os.access(program, os.X_OK) or not Path("/usr/lib/dovecot/imap").exists():
        return "there is no dovecot here (Debian package dovecot-imapd)"
    if os.geteuid() not in {user.pw_uid for user in pwd.getpwall()}:
        return f"user {os.geteuid()} has no name, which dovecot needs"
    version = subprocess.run([program, "--version"], capture_output=True, text=True, check=False).stdout  # noqa: S603
    return (
        ""
        if version.startswith("2.3.")
        else f"this dovecot is {version.split()[0] if version else 'broken'}; its settings are known for 2.3 only"
    )


@dataclass
class Dovecot:
    """`with Dovecot() as server`: mailboxes for any name, all with PASSWORD."""

    certificate: bytes = b""
    """PEM of key and certificate: it then speaks TLS as well."""
    has_idle: bool = True
    port: int = 0
    tls_port: int = 0
    home: Path = field(default_factory=Path)
    _process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> "Dovecot":
        self.home = Path(tempfile.mkdtemp(prefix="daimon-mail-"))
        self.port, self.tls_port = free_port(), free_port()
        try:
            self.start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
        shutil.rmtree(self.home, ignore_errors=True)

    def start(self) -> None:
        user = pwd.getpwnam("nobody") if os.geteuid() == 0 else pwd.getpwuid(os.geteuid())
        config = self._write(user)
        argv = [shutil.which("dovecot") or PROGRAM, "-F", "-c", str(config)]
        is_root, null = os.geteuid() == 0, subprocess.DEVNULL
        self._process = subprocess.Popen(  # noqa: S603
            argv, stdin=null, stdout=null, stderr=null, start_new_session=True,
            user=user.pw_uid if is_root else None, group=user.pw_gid if is_root else None, extra_groups=[] if is_root else None,
        )  # fmt: skip
        self._wait()

    def stop(self) -> None:
        """It hangs up on everybody."""
        if self._process is not None:
            os.killpg(self._process.pid, signal.SIGKILL)  # asked politely, it takes a second; what it has taken is on disk
            self._process.wait(10)
            self._process = None

    def client(self, user: str) -> imaplib.IMAP4:
        client = imaplib.IMAP4("127.0.0.1", self.port, timeout=START_S)
        client.login(user, PASSWORD)
        return client

    def deliver(self, user: str, mail: bytes, folder: str = "INBOX") -> None:
        client = self.client(user)
        try:
            answer, said = client.append(folder, "", "", mail)
            assert answer == "OK", said
        finally:
            client.logout()

    def mails(self, user: str, folder: str = "INBOX") -> list[tuple[str, bytes]]:
        """The flags of each, and its bytes."""
        client = self.client(user)
        try:
            client.select(folder, readonly=True)
            _, found = client.uid("SEARCH", "ALL")
            return [_fetched(client, uid.decode()) for uid in found[0].split()]
        finally:
            client.logout()

    def _write(self, user: pwd.struct_passwd) -> Path:
        tls = "ssl = no"
        if self.certificate:
            (file := self.home / "pem").write_bytes(self.certificate)
            os.chown(file, user.pw_uid, user.pw_gid)
            tls = f"ssl = yes\nssl_cert = <{file}\nssl_key = <{file}"
        capability = "" if self.has_idle else "imap_capability = IMAP4rev1 LITERAL+ UIDPLUS SPECIAL-USE LIST-EXTENDED"
        group = grp.getgrgid(user.pw_gid).gr_name
        (config := self.home / "dovecot.conf").write_text(
            _CONFIG.format(home=self.home, user=user.pw_name, group=group, uid=user.pw_uid, gid=user.pw_gid, tls=tls,
                           capability=capability, password=PASSWORD, port=self.port, tls_port=self.tls_port)
        )  # fmt: skip
        for path in (self.home, config):
            os.chown(path, user.pw_uid, user.pw_gid)
        return config

    def _wait(self) -> None:
        deadline = time.monotonic() + START_S
        while True:
            try:
                self.client("waiting").logout()
                return
            except (OSError, imaplib.IMAP4.error):
                ended = self._process is None or self._process.poll() is not None
                if ended or time.monotonic() > deadline:
                    log = self.home / "log"
                    raise RuntimeError(f"dovecot did not start: {log.read_text() if log.exists() else 'no log'}") from None
                time.sleep(0.05)


def _fetched(client: imaplib.IMAP4, uid: str) -> tuple[str, bytes]:
    _, parts = client.uid("FETCH", uid, "(FLAGS BODY.PEEK[])")
    head, mail = next(part for part in parts if isinstance(part, tuple))
    return head.decode(), mail
