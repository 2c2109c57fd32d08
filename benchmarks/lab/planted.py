"""A home with canaries in it: in the vault, in the environment, in files of the home and of its owner; and servers that know them."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from daimon.testing.upstream import Upstream
from lab.canary import Canary, private_key, token
from lab.coding import EXACT, PROMISED, UNPROMISED
from lab.process import CHECKOUT

COMMAND_S = 60.0
QUOTING = ("400", "401", "402", "403", "404", "413", "422", "page", "garbage", "redirect", "in a stream", "of the environment")
PARROT = "parrot"
"""A model that says nothing but what it must not."""
PASSPHRASE = "a passphrase that is long enough"


@dataclass(frozen=True, slots=True)
class Ports:
    provider: int
    quoting: int
    own: int
    """A host that a secret is for."""
    sealed: int
    """The same, with TLS."""
    other: int


@dataclass(slots=True)
class Planted:
    place: Path
    is_blind: bool
    canaries: dict[str, Canary] = field(init=False)
    texts: dict[str, str] = field(init=False)

    def __post_init__(self) -> None:
        made = {
            name: token(size) for name, size in (("provider", 48), ("host", 40), ("new", 36), ("old", 36), ("late", 36), ("before", 36))
        }
        made |= {
            "short": token(6),
            "pem": private_key(),
            "environment": token(40),
            "owner's file": token(40),
            "file of the home": token(40),
        }
        self.canaries = {name: Canary(name, value) for name, value in made.items()}
        self.texts = {name: self._text(name) for name in (*PROMISED, *UNPROMISED)}
        self.texts |= {"one": made["host"], "nothing": "nothing"}

    @property
    def sealed(self) -> tuple[Canary, ...]:
        """Those that the vault holds from the beginning."""
        return tuple(self.canaries[name] for name in ("provider", "host", "new", "old", "short", "pem"))

    @property
    def owner(self) -> Path:
        return self.place / "owner"

    @property
    def home(self) -> Path:
        return self.owner / ".daimon"

    @property
    def sent(self) -> Path:
        return self.place / "sent.jsonl"

    def value(self, name: str) -> str:
        return self.canaries[name].value

    def _text(self, coding: str) -> str:
        code = {**PROMISED, **UNPROMISED}[coding]
        values = [canary for canary in self.sealed if not canary.is_short or coding in EXACT]
        return "\n".join(f"value {number} is {code(canary.value)} there" for number, canary in enumerate(values))

    def environment(self, **more: str) -> dict[str, str]:
        kept = {name: os.environ[name] for name in ("PATH", "LANG", "TZ") if name in os.environ}
        path = os.pathsep.join((str(CHECKOUT / "src"), str(CHECKOUT / "benchmarks")))
        own = {"HOME": str(self.owner), "DAIMON_HOME": str(self.home), "PYTHONPATH": path, "COLUMNS": "400"}
        told = {"LEAK_TEXTS": str(self.place / "texts.json"), "LEAK_SENT": str(self.sent)}
        trust = {"SSL_CERT_FILE": str(self.place / "authority.pem")}
        return {**kept, **own, **told, **trust, "CANARY_KEY": self.value("environment"), **more}

    def command(self, *words: str) -> list[str]:
        program = [str(CHECKOUT / "benchmarks" / "lab" / "blinded.py")] if self.is_blind else ["-m", "daimon"]
        return [sys.executable, "-P", *program, *words]

    def run(self, *words: str, stdin: str = "", **environment: str) -> bytes:
        """All that a command says, on both streams."""
        done = subprocess.run(
            self.command(*words), input=stdin.encode(), env=self.environment(**environment), cwd=self.place,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=COMMAND_S, check=False,
        )  # fmt: skip
        return done.stdout

    def prepare(self, ports: Ports, authority: bytes) -> None:
        for path, text in self._files(ports).items():
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            path.write_text(text)
            path.chmod(0o600)
        (self.place / "authority.pem").write_bytes(authority)
        self.home.chmod(0o700)
        self._fill_vault(ports)

    def _files(self, ports: Ports) -> dict[Path, str]:
        owners, homes = self.value("owner's file"), self.value("file of the home")
        return {
            self.owner / ".ssh" / "id_ed25519": owners,
            self.owner / ".aws" / "credentials": f"[default]\naws_secret_access_key = {owners}\n",
            self.owner / ".netrc": f"machine example.org login me password {owners}\n",
            self.owner / ".git-credentials": f"https://me:{owners}@example.org\n",
            self.owner / "diary.txt": owners,
            self.home / "letter.txt": homes,
            self.home / "daimon.toml": settings(ports),
            self.home / "roles" / "online.toml": ROLE,
            self.home / "workspace" / "readme.txt": "nothing to see\n",
            self.place / "texts.json": json.dumps(self.texts),
        }

    def _fill_vault(self, ports: Ports) -> None:
        self._add("provider", "--host", f"127.0.0.1:{ports.provider}", "--host", f"127.0.0.1:{ports.quoting}")
        hosts = ("--host", "own.test:80", "--host", "sealed.test")
        self._add("host", *hosts, "--agent", "*", "--variable", "HOST_TOKEN")
        self._add("pem", *hosts, "--agent", "*", "--variable", "HOST_PEM")
        self._add("old")
        self._did(self.run("secrets", "rotate", "old", stdin=self.value("new")))
        self._add("short")

    def _add(self, name: str, *words: str) -> None:
        self._did(self.run("secrets", "add", name, *words, stdin=self.value(name)))

    @staticmethod
    def _did(said: bytes) -> None:
        if b"vault" not in said and b"value" not in said:
            raise RuntimeError(f"the vault was not filled: {said.decode()}")


ROLE = """description = "may reach the hosts of this benchmark"
read = ["."]
write = ["."]
places = [{ host = "own.test" }, { host = "other.test" }, { host = "sealed.test" }]

[secrets]
HOST_TOKEN = "vault:host"
HOST_PEM = "vault:pem"
"""


def settings(ports: Ports) -> str:
    address = f"http://127.0.0.1:{ports.provider}/v1"
    models = [_entry("echo", address, "vault:provider"), _entry(PARROT, address, "vault:provider", PARROT)]
    routes = []
    for number, kind in enumerate(QUOTING):
        key = "env:CANARY_KEY" if kind == "of the environment" else "vault:provider"
        models.append(_entry(f"quoting-{number}", f"http://127.0.0.1:{ports.quoting}/{number}/v1", key))
        routes.append(f'[[routes]]\nconversations = ["quoting-{number}"]\nuse = "quoting-{number}"\n')
    local = {"own.test": ports.own, "sealed.test": ports.sealed, "other.test": ports.other}
    names = "".join(f'"{name}" = "127.0.0.1:{port}"\n' for name, port in local.items())
    return (
        'extensions = ["lab.leaky"]\n[model]\nuse = ["echo"]\n[sandbox]\nrole = "online"\n[agents.daimon]\nmay_hold_all = true\n'
        '[budget.turn]\ntokens = "none"\n[limits]\nsteps = 2000\nerrors = 100\n'
        f"[network.local]\n{names}{''.join(models)}{''.join(routes)}"
    )


def _entry(name: str, address: str, key: str, model: str = "test-model") -> str:
    return f'[models.{name}]\nvendor = "compatible"\nmodel = "{model}"\nbase_url = "{address}"\nkey = "{key}"\nprice = "free"\n'


def quoting_answers(planted: Planted) -> dict[str, bytes]:
    """A provider that repeats the key that it was shown, in each way of failing."""
    answers = {}
    for number, kind in enumerate(QUOTING):
        value = planted.value("environment" if kind == "of the environment" else "provider")
        for path in ("chat/completions", "models"):
            answers[f"/{number}/v1/{path}"] = _quoted(kind, value)
    return answers


def _quoted(kind: str, value: str) -> bytes:
    error = {"error": {"message": f"Incorrect API key provided: {value}. See our pages.", "type": "invalid", "code": value}}
    match kind:
        case "page":
            return http("200 OK", f"<html><title>{value}</title><body>{value}</body></html>".encode(), "Content-Type: text/html")
        case "garbage":
            return http("200 OK", f'{{"id": "{value}", "choices": "{value}"'.encode(), "Content-Type: application/json")
        case "redirect":
            return http("302 Found", value.encode(), f"Location: http://127.0.0.1:9/{value}")
        case "in a stream":
            return http("200 OK", f"data: {json.dumps(error)}\n\n".encode(), "Content-Type: text/event-stream")
        case _:
            status = kind if kind.isdigit() else "401"
            return http(f"{status} Refused", json.dumps(error).encode(), "Content-Type: application/json", f"X-Request-Id: {value}")


def http(status: str, body: bytes, *headers: str) -> bytes:
    lines = "".join(f"{line}\r\n" for line in (*headers, f"Content-Length: {len(body)}", "Connection: close"))
    return f"HTTP/1.1 {status}\r\n{lines}\r\n".encode() + body


def quoting(planted: Planted) -> Upstream:
    answers: Mapping[str, bytes] = quoting_answers(planted)
    return Upstream(answers=answers)
