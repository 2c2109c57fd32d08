"""Synapse, the reference homeserver, as a child on a loopback port.

    python = install(checkout)                    # once a machine; a second or two when the packages are in uv's cache
    with homeserver(python, directory) as server:
        alice = await Person.new(server, "alice")

It lives in an environment of its own, `.tools/synapse` of the checkout, since its pins are not those of Daimon. The environment is
whole while `.tools/synapse/stamp` holds the digest of the lock file and of the interpreter; it is made anew otherwise, under a lock.

One server serves all who name the same directory, in however many processes: each holds a shared lock on the file `users` there, and a
keeper process that wants that lock for itself ends the server when it gets it. While there is a keeper it holds the file `kept`: that, and
not how fast the server answers, says that there is one. It lets go of both when the server is dead, of `kept` first, so whoever has got
`users` finds a server that stays, or none. The kernel drops a lock when its holder dies, so that no crash leaves a server behind.

It knows nothing of federation: the server speaks to nobody but its clients.
"""

import base64
import fcntl
import hashlib
import json
import os
import secrets
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from types import ModuleType
from typing import IO
from urllib.error import URLError
from urllib.request import urlopen

LOCK = "requirements-synapse.lock"
INSTALL_S = 240
START_S = 120


class NoHomeserver(Exception):
    """It cannot be installed or does not start here; says why."""


@dataclass(frozen=True, slots=True)
class Homeserver:
    url: str
    secret: str
    """Makes users: the shared secret of registration."""
    domain: str = "localhost"


def install(checkout: Path) -> Path:
    """The interpreter that has synapse. Raises NoHomeserver."""
    tools, lock = checkout / ".tools", checkout / LOCK
    if not lock.is_file():
        raise NoHomeserver(f"{LOCK} is missing: this is no checkout of Daimon")
    home = tools / "synapse"
    python, stamp = home / "bin" / "python", home / "stamp"
    wanted = hashlib.sha256(lock.read_bytes() + os.path.realpath(sys.executable).encode()).hexdigest()
    try:
        tools.mkdir(exist_ok=True)
        with (tools / "synapse.lock").open("a") as held:
            fcntl.flock(held, fcntl.LOCK_EX)
            if not stamp.is_file() or stamp.read_text() != wanted:
                _make(checkout, home, lock)
                stamp.write_text(wanted)
    except OSError as error:
        raise NoHomeserver(f"cannot write to {tools}: {error}") from error
    return python


def _make(checkout: Path, home: Path, lock: Path) -> None:
    bootstrap = _bootstrap(checkout)
    uv = os.environ.get("DAIMON_UV") or bootstrap.find_uv()
    if not uv:
        raise NoHomeserver("there is no uv: run ./daimon once, which fetches it, or put it on PATH")
    environment = bootstrap.uv_environment(bootstrap.pip_settings())
    sync = [uv, "pip", "sync", "--python", str(home / "bin" / "python"), "--require-hashes", "--no-build", str(lock)]
    for command in ([uv, "venv", "--no-project", "--clear", "--python", sys.executable, str(home)], sync):
        try:
            done = subprocess.run(command, env=environment, capture_output=True, timeout=INSTALL_S, check=False)  # noqa: S603
        except subprocess.TimeoutExpired as error:
            raise NoHomeserver(f"`{' '.join(command)}` took longer than {INSTALL_S} s") from error
        if done.returncode:
            raise NoHomeserver(f"`{' '.join(command)}` failed: {done.stderr.decode(errors='replace')[-500:]}")


def _bootstrap(checkout: Path) -> ModuleType:
    """The one that made `.venv`: it knows which uv to take and what pip was told."""
    spec = spec_from_loader("daimon_bootstrap", SourceFileLoader("daimon_bootstrap", str(checkout / "daimon")))
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    kept, sys.dont_write_bytecode = sys.dont_write_bytecode, True  # it has no suffix: its bytecode would lie beside it
    try:
        spec.loader.exec_module(module)
    finally:
        sys.dont_write_bytecode = kept
    return module


@contextmanager
def homeserver(python: Path, directory: Path) -> Iterator[Homeserver]:
    """Joins the server that runs in the directory, else starts it there."""
    directory.mkdir(parents=True, exist_ok=True)
    address = directory / "address.json"
    with (directory / "users").open("a") as users, (directory / "starting").open("a") as starting:
        fcntl.flock(starting, fcntl.LOCK_EX)
        fcntl.flock(users, fcntl.LOCK_SH)
        if not _is_kept(directory):
            address.unlink(missing_ok=True)
            started = _start(python, directory)
            address.write_text(json.dumps({"url": started.url, "secret": started.secret}))
        if not address.is_file():
            raise NoHomeserver("synapse did not start in time for who came first")
        fcntl.flock(starting, fcntl.LOCK_UN)
        yield Homeserver(**json.loads(address.read_text()))


def _is_kept(directory: Path) -> bool:
    with (directory / "kept").open("a") as kept:
        return not _taken(kept)


def _taken(file: IO[str]) -> bool:
    """Is it ours alone from now on?"""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _start(python: Path, directory: Path) -> Homeserver:
    from daimon.testing.ports import free_port  # here, since the keeper runs this file alone, without the package

    secret, port = secrets.token_hex(16), free_port()
    (directory / "signing.key").write_text(f"ed25519 a_test {base64.b64encode(secrets.token_bytes(32)).decode().rstrip('=')}\n")
    (directory / "log.json").write_text(json.dumps({"version": 1, "root": {"level": "CRITICAL"}}))
    (directory / "homeserver.json").write_text(json.dumps(_settings(directory, secret, port)))
    environment = {name: value for name, value in os.environ.items() if name not in {"PYTHONPATH", "PYTHONDONTWRITEBYTECODE"}}
    with (directory / "output").open("wb") as output:
        keeper = subprocess.Popen(  # noqa: S603
            [sys.executable, __file__, str(python), str(directory)],
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
    server = Homeserver(f"http://127.0.0.1:{port}", secret)
    deadline = time.monotonic() + START_S
    try:
        while not _answers(server.url):
            if keeper.poll() is not None or time.monotonic() > deadline:
                raise NoHomeserver(f"synapse did not start: {(directory / 'output').read_text(errors='replace')[-800:]}")
            time.sleep(0.1)
    finally:
        keeper.returncode = 0  # it outlives whoever started it, on purpose, and ends by itself
    return server


def _settings(directory: Path, secret: str, port: int) -> dict[str, object]:
    fast = {"per_second": 100_000, "burst_count": 100_000}
    names = ("address", "account", "failed_attempts")
    joins = {"local": fast, "remote": fast}
    return {
        "server_name": "localhost",
        "listeners": [{"port": port, "type": "http", "bind_addresses": ["127.0.0.1"], "resources": [{"names": ["client"]}]}],
        "database": {"name": "sqlite3", "args": {"database": str(directory / "homeserver.db")}},
        "media_store_path": str(directory / "media"),
        "signing_key_path": str(directory / "signing.key"),
        "log_config": str(directory / "log.json"),
        "registration_shared_secret": secret,
        "macaroon_secret_key": secret,
        "form_secret": secret,
        "report_stats": False,
        "trusted_key_servers": [],
        "presence": {"enabled": False},
        "bcrypt_rounds": 4,
        "rc_message": fast,
        "rc_login": dict.fromkeys(names, fast),
        "rc_joins": joins,
        "rc_invites": {"per_room": fast, "per_user": fast, "per_issuer": fast},
        "rc_room_creation": fast,
    }


def _answers(url: str) -> bool:
    try:
        with urlopen(f"{url}/_matrix/client/versions", timeout=5) as answer:  # noqa: S310
            return bool(answer.status == 200)
    except (URLError, OSError):
        return False


def _keep(python: str, directory: Path) -> None:
    """What the keeper does: the server runs until nobody holds the lock."""
    command = [python, "-m", "synapse.app.homeserver", "--config-path", str(directory / "homeserver.json")]
    with (directory / "users").open("a") as users, (directory / "kept").open("a") as kept:
        fcntl.flock(kept, fcntl.LOCK_EX)
        server = subprocess.Popen(command, cwd=directory, stdin=subprocess.DEVNULL)  # noqa: S603
        try:
            while server.poll() is None and not _taken(users):
                time.sleep(0.25)
        finally:
            server.kill()
            server.wait()


if __name__ == "__main__":
    _keep(sys.argv[1], Path(sys.argv[2]))
