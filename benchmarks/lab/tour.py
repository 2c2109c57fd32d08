"""One whole round through a gateway with canaries in it: everything is tried, and everything that came out is looked at."""

import asyncio
import json
import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from daimon.testing.certificates import Certificates
from daimon.testing.provider.line import Call, Line
from daimon.testing.provider.server import ProviderServer
from daimon.testing.upstream import Upstream
from lab import jailbreak, neighbour, remains
from lab.canary import found
from lab.coding import UNPROMISED
from lab.errand import OVER, Errand, answered, errands
from lab.gate import Gate
from lab.outlet import Tally
from lab.planted import PARROT, PASSPHRASE, QUOTING, Planted, Ports, quoting

AT_ONCE = 3
FILE = {"kind": "file", "blob": "0" * 64, "media_type": "text/plain", "size": 1}
A_SCRIPT = 24
"""Commands of the network that run one after the other."""
LOOKS = ("trace", "turns", "letters", "decisions", "questions")
OPENS = {"DAIMON_VAULT_PASSPHRASE": PASSPHRASE}
HOSTS = ["own.test", "other.test", "sealed.test"]


@dataclass(slots=True)
class Tour:
    planted: Planted
    provider: ProviderServer
    own: Upstream
    sealed: Upstream
    other: Upstream
    errands: dict[str, Errand]
    is_whole: bool
    """With commands, starts that fail, and boxes that look round."""
    tally: Tally = field(default_factory=Tally)
    passed: list[str] = field(default_factory=list)
    """Forms that nobody promises to see, and that went through."""
    marks: dict[str, float] = field(default_factory=dict)
    began: float = field(default_factory=time.monotonic)

    def look(self, group: str, name: str, data: bytes, *more: str) -> None:
        self.tally.look(group, name, data, (*self.planted.sealed, *(self.planted.canaries[each] for each in more)))

    # -- while it runs ---------------------------------------------------------------------------------------------

    async def through(self) -> None:
        async with Gate(self.planted) as gate:
            await self._errands(gate)
            await self._unpromised(gate)
            await self._quoting(gate)
            self._mark("errands")
            if self.is_whole:
                await self._box(gate)
            await self._network(gate)
            self._mark("boxes")
            await self._letters(gate)
            turn = await self._late(gate)
            await self._routes(gate)
            commands = await self._commands(gate, turn)
            if self.is_whole:
                await asyncio.to_thread(self._run, "command", commands, "late")
                await asyncio.to_thread(self._run, "command of a running gateway", await self._live_commands(gate), "late")
            self._mark("commands")
        self.look("log", "stdout of the gateway", gate.stdout)
        for number, record in enumerate(gate.errors.read_bytes().split(b"\ndaimon: ")):
            self.look("log", f"stderr of the gateway, record {number}", record, "environment", "late")
        self._remains()
        if self.is_whole:
            await asyncio.to_thread(self._afterwards, commands)
        self._neighbour()
        self._mark("afterwards")

    def _afterwards(self, commands: list[tuple[str, ...]]) -> None:
        self._run("command, nobody running", [words for words in commands if words[0] in LOOKS], "late")
        self._sealed_with_a_passphrase(commands)
        self._broken_starts()
        self._broken_commands()
        self._keys_of_before()

    def _mark(self, name: str) -> None:
        self.marks[name] = round(time.monotonic() - self.began, 1)

    async def _errands(self, gate: Gate) -> None:
        for errand in self.errands.values():
            if errand.group != "later":
                await gate.post(errand.posted())
        tried = [errand for errand in self.errands.values() if errand.group != "later"]
        await gate.rest(*(errand.id for errand in tried))
        for errand in tried:
            for sink, data in (await self._sinks(gate, errand.id)).items():
                self.look(errand.group, f"{errand.name}, seen in the {sink}", data)

    async def _unpromised(self, gate: Gate) -> None:
        """Said, not counted: what passes in forms that nobody promises to see."""
        for number, coding in enumerate(UNPROMISED):
            call = Call("leak", {"how": "result", "text": coding})
            self.errands[f"u{number}"] = errand = Errand(f"u{number}", "later", coding, (Line(calls=(call,)), OVER))
            await gate.ask(errand.posted())
            prompt = (await self._sinks(gate, errand.id))["prompt"].decode()
            if UNPROMISED[coding](self.planted.texts["one"]) in prompt:
                self.passed.append(coding)

    async def _sinks(self, gate: Gate, id_: str) -> dict[str, bytes]:
        tag = f"errand {id_};".encode()
        turns = await gate.data(f"/v1/turns?conversation={id_}")
        sent = self.planted.sent.read_bytes().splitlines() if self.planted.sent.exists() else []
        return {
            "prompt": b"\n".join(_received(seen) for seen in self.provider.requests if tag in seen.body),
            "record": b"\n".join([await gate.get(f"/v1/turns/{turn['id']}") for turn in turns]),
            "live stream": b"\n".join(gate.streamed[id_]) + "\n".join(v for k, v in gate.pieces.items() if k[0] == id_).encode(),
            "channel": b"\n".join(line for line in sent if json.loads(line)["to"] == id_),
        }

    async def _quoting(self, gate: Gate) -> None:
        names = [f"quoting-{number}" for number in range(len(QUOTING))]
        for name in names:
            event = {"type": "message", "text": "hello", "conversation": name, "reply_to": {"channel": "recorder", "to": name}}
            await gate.post(event)
        await gate.rest(*names)
        for name, kind in zip(names, QUOTING, strict=True):
            for sink, data in (await self._sinks(gate, name)).items():
                if sink != "prompt":
                    self.look("provider quotes its key", f"{kind}, seen in the {sink}", data, "environment")

    async def _box(self, gate: Gate) -> None:
        known = {"owner": self.planted.owner, "home": self.planted.home, "place": self.planted.place, "pid": gate.pid, "port": gate.port}
        commands = {name: command.format(**known) for name, command in jailbreak.LOOKING.items()}
        lines = tuple(
            Line(calls=(Call("run", {"command": f"(\n{command}\n) 2>&1 | head -c 20000", "timeout_s": 20.0}),))
            for command in commands.values()
        )
        self.errands["box"] = errand = Errand("box", "later", "box", (*lines, OVER))
        await gate.ask(errand.posted())
        results = await self._results(gate, "box")
        for name, data in zip(commands, results, strict=True):
            self.look("box", name, data, "environment", "owner's file", "file of the home")
        for sink, data in (await self._sinks(gate, "box")).items():
            self.look("box", f"all of it, seen in the {sink}", data, "environment", "owner's file", "file of the home")

    async def _network(self, gate: Gate) -> None:
        answers = jailbreak.answers(self.planted.value("host"), self.planted.value("pem"))
        self.own.answers.update(answers)
        self.sealed.answers.update(answers)
        commands = {**jailbreak.SENDING, **jailbreak.fetching(answers)}
        names = list(commands)
        for first in range(0, len(names), A_SCRIPT):
            part = {name: commands[name] for name in names[first : first + A_SCRIPT]}
            id_ = f"net{first:03}"
            call = Call("run_online", {"command": jailbreak.script(part, first), "hosts": HOSTS, "timeout_s": 100.0})
            self.errands[id_] = errand = Errand(id_, "later", "network", (Line(calls=(call,)), OVER))
            await gate.ask(errand.posted())
            for sink, data in (await self._sinks(gate, id_)).items():
                self.look("way out", f"{first} and following, seen in the {sink}", data)
        for number, name in enumerate(names):
            got = self.planted.home / "workspace" / f"got-{number}"
            self.look("way out", f"{name}, in the box", got.read_bytes() if got.exists() else b"")
            got.unlink(missing_ok=True)
        for number, seen in enumerate(self.other.got):
            self.look("way out", f"request {number} to another host", seen.raw)
        self.look("way out", "all that another host got", bytes(self.other.bytes) or b"nothing")

    @property
    def reached(self) -> bool:
        """The secrets that are for a host did get there: otherwise nothing is proved."""
        host = (self.planted.canaries["host"],)
        return bool(found(bytes(self.own.bytes), host) and found(bytes(self.sealed.bytes), host))

    async def _results(self, gate: Gate, conversation: str) -> list[bytes]:
        """Of the calls of its last turn, in order."""
        turn = (await gate.data(f"/v1/turns?conversation={conversation}"))[0]["id"]
        steps = (await gate.data(f"/v1/turns/{turn}"))["steps"]
        return [json.dumps(step["body"]).encode() for step in steps if step["body"]["kind"] == "outcome"]

    async def _letters(self, gate: Gate) -> None:
        one, plain = self.planted.texts["one"], self.planted.texts["plain"]
        bad: dict[str, Any] = {
            "no kind": {"text": plain}, "unknown kind": {"type": one}, "unknown field": {"type": "message", "text": "x", one: plain},
            "wrong type": {"type": "message", "text": [plain]}, "reserved source": {"type": "message", "text": plain, "source": "timer"},
            "a step that is none": {"type": "answer", "to": one, "choice": plain}, "a list": [plain],
            "a file that is not there": {"type": "message", "parts": [{**FILE, "name": one}]},
        }  # fmt: skip
        for name, event in bad.items():
            self.look("dead letter", f"{name}, the answer", (await gate.call("POST", "/v1/events", event)).body)
        for row in await gate.data("/v1/letters?limit=100"):
            self.look("dead letter", f"kept: {row['reason'][:40]}", json.dumps(row).encode())

    async def _late(self, gate: Gate) -> str:
        """A value that was written down before it became known. Returns the turn."""
        value = self.planted.value("late")
        note = Line(text=f"I keep {value}.", calls=(Call("remember", {"text": value}), Call("leak", {"how": "result", "text": "nothing"})))
        self.errands["late1"] = Errand("late1", "later", "late", (note, Line(text=f"Kept {value}.")))
        self.errands["late2"] = Errand("late2", "later", "late", (Line(calls=(Call("recall", {"query": ""}),)), OVER))
        said = {"type": "message", "conversation": "late", "reply_to": {"channel": "recorder", "to": "late"}}
        await gate.ask({**said, "text": f"errand late1; my password is {value}"})
        turn: str = (await gate.data("/v1/turns?conversation=late"))[0]["id"]
        if value.encode() not in await gate.get(f"/v1/turns/{turn}"):
            raise RuntimeError("what is not known yet should stand in the record")
        await asyncio.to_thread(self.planted.run, "secrets", "add", "late", stdin=value)
        sent, streamed = self.planted.sent.stat().st_size, len(gate.streamed["late"])
        asked = len(self.provider.requests)
        await gate.ask({**said, "text": "errand late2; what do you know?"})
        self.look("known later", "next prompts", b"\n".join(map(_received, self.provider.requests[asked:])), "late")
        self.look("known later", "live stream", b"\n".join(gate.streamed["late"][streamed:]), "late")
        self.look("known later", "channel", self.planted.sent.read_bytes()[sent:], "late")
        for each in await gate.data("/v1/turns?conversation=late"):
            self.look("known later", "record", await gate.get(f"/v1/turns/{each['id']}"), "late")
            self.look("known later", "event", await gate.get(f"/v1/events/{each['event']}"), "late")
            for blob in await self._requests(gate, each["id"]):
                self.look("known later", "request of a model call", await gate.get(f"/v1/blobs/{blob}"), "late")
        return turn

    async def _requests(self, gate: Gate, turn: str) -> list[str]:
        steps = (await gate.data(f"/v1/turns/{turn}"))["steps"]
        return [step["body"]["request"] for step in steps if step["body"].get("request")]

    async def _routes(self, gate: Gate) -> None:
        one = self.planted.texts["one"]
        paths = [
            "/v1/status", "/v1/turns?limit=1000", "/v1/questions", "/v1/letters?limit=1000", "/v1/costs", "/v1/grants?all=true", "/healthz",
            f"/v1/turns?state={one}", f"/v1/turns?limit={one}", f"/v1/turns/{one}", f"/v1/events/{one}", f"/v1/blobs/{one}",
            f"/v1/costs?by={one}", f"/v1/costs?since={one}", f"/{one}", f"/v1/{one}?{one}={one}",
            *(f"/v1/costs?by={by}" for by in ("month", "job", "agent", "model", "conversation", "turn")),
        ]  # fmt: skip
        for path in paths:
            self.look("answer of the API", path.replace(one, "VALUE"), await gate.get(path), "late")
        for method, path in (
            ("DELETE", f"/v1/grants/{one}"),
            ("POST", f"/v1/turns/{one}/stop"),
            ("PUT", f"/v1/{one}"),
            ("POST", "/v1/reload"),
        ):
            self.look("answer of the API", f"{method} {path}".replace(one, "VALUE"), (await gate.call(method, path)).body or b"-", "late")

    # -- commands ----------------------------------------------------------------------------------------------------

    async def _commands(self, gate: Gate, late: str) -> list[tuple[str, ...]]:
        """Those that look, and work whether or not somebody runs."""
        wanted = {"late": late}
        for name in ("crash", "a question to the owner", "in its own name", "of 3"):
            id_ = next(errand.id for errand in self.errands.values() if errand.name == name)
            wanted[name] = (await gate.data(f"/v1/turns?conversation={id_}"))[0]["id"]
        wanted["quoted"] = (await gate.data("/v1/turns?conversation=quoting-1"))[0]["id"]
        traces = [("trace", turn) for turn in wanted.values()]
        steps = (await gate.data(f"/v1/turns/{late}"))["steps"]
        prompts = [("trace", late, "--prompt", str(step["n"])) for step in steps if step["body"].get("request")]
        lists: list[tuple[str, ...]] = [
            ("status",), ("turns", "--limit", "1000"), ("questions",), ("decisions",), ("letters", "--limit", "1000"), ("costs",),
            ("secrets", "list"), ("secrets", "who", "host"), ("model", "list"), ("config",),
        ]  # fmt: skip
        as_json = [(*words, "--json") for words in (*traces[:3], *lists[1:5], lists[6])]
        return [*traces, *lists, *as_json, *prompts]

    async def _live_commands(self, gate: Gate) -> list[tuple[str, ...]]:
        question = (await gate.data("/v1/questions"))[0]["to"]
        step = question if isinstance(question, str) else f"{question['turn']}:{question['n']}"
        chat = next(errand.id for errand in self.errands.values() if errand.name == "plain" and errand.group == "words of a model")
        names = [f"quoting-{QUOTING.index(kind)}" for kind in ("401", "page", "redirect", "of the environment")]
        tests = [("model", "test", name) for name in names]
        asked = [("model", "list", "--at", name) for name in names]
        return [
            ("model", "test", PARROT), ("model", "test", PARROT, "--json"), *tests, *asked, ("answer", step, "no"), ("reload",),
            ("chat", f"errand {chat};", "--conversation", "aloud"), ("chat", f"errand {chat};", "--json", "--conversation", "counted"),
        ]  # fmt: skip

    def _run(self, group: str, commands: Iterable[tuple[str, ...]], *more: str) -> None:
        commands = list(commands)
        with ThreadPoolExecutor(AT_ONCE) as threads:
            for words, said in zip(commands, threads.map(lambda words: self.planted.run(*words), commands), strict=True):
                self.look(group, self._shown(words), said, *more, "environment")

    def _shown(self, words: tuple[str, ...]) -> str:
        text = " ".join(words)
        for canary in self.planted.canaries.values():
            text = text.replace(canary.value, "VALUE")
        return text

    # -- afterwards --------------------------------------------------------------------------------------------------

    def _remains(self) -> None:
        for name, data in remains.files(self.planted.home):
            more = () if name == "letter.txt" else ("file of the home",)
            self.look("file of the home", name, data, *more, "environment", "owner's file")
        for database in ("journal.db", "memory.db"):
            for name, data in remains.tables(self.planted.home / database):
                self.look(f"table of {database}", name, data, "environment", "owner's file", "file of the home")

    def _sealed_with_a_passphrase(self, commands: list[tuple[str, ...]]) -> None:
        said = self.planted.run("secrets", "seal", "--with", "passphrase", stdin=PASSPHRASE + "\n")
        self.look("vault with a passphrase", "seal", said)
        looking = [words for words in commands if words[0] in LOOKS and words[1:2] != ("--json",)]
        self._run("vault with a passphrase, not given", looking[::2], "late")

    def _broken_starts(self) -> None:
        home, one = self.planted.home, self.planted.texts["one"]
        for words in (("up", "--port", "0"), ("--debug", "up", "--port", "0"), ("up", "--port", "0", "--json"), ("chat", "hello")):
            said = self.planted.run(*words, LEAK_CRASH="plain", **OPENS)
            self.look("broken start", f"an extension fails: {' '.join(words)}", said)
        good = (home / "daimon.toml").read_text()
        faults = {
            "a value where a number belongs": f'{good}\n[kernel]\nslots = "{one}"\n',
            "a value as a name": f'{good}\n[kernel]\n"{one}" = 1\n',
            "no TOML": f"{good}\n[kernel\n{one} = {one}\n",
            "a value as an address": good.replace("[network.local]", f'[network.local]\nx = "{one}"'),
            "a value as a model": good.replace('use = ["echo"]', f'use = ["{one}"]'),
            "a value as a vendor": f'{good}\n[models.bad]\nvendor = "{one}"\nmodel = "x"\n',
            "a value as an extension": good.replace('"lab.leaky"', f'"{one}"'),
            "a value as a role": good.replace('role = "online"', f'role = "{one}"'),
        }
        for name, text in faults.items():
            (home / "daimon.toml").write_text(text)
            self.look("broken start", name, self.planted.run("--debug", "up", "--port", "0", **OPENS))
        (home / "daimon.toml").write_text(good)

    def _broken_commands(self) -> None:
        one = self.planted.texts["one"]
        wrong = [("trace", one), ("secrets", "remove", one), ("model", "test", one), ("answer", one, one), ("secrets", "add", f"a/{one}")]
        for words in (*wrong, *(("--debug", *each) for each in wrong[:3])):
            self.look("broken command", self._shown(words), self.planted.run(*words, **OPENS))

    def _keys_of_before(self) -> None:
        keys, value = self.planted.home / "keys.toml", self.planted.value("late")
        texts = {"no TOML": f'x = "{value}', "a list": f'x = ["{value}"]', "twice": f'"a b" = "{value}"\n"a-b" = "{value}"\n'}
        for name, text in texts.items():
            keys.write_text(text)
            keys.chmod(0o600)
            self.look("keys of before", name, self.planted.run("secrets", "list", **OPENS), "late")
        keys.write_text(f'before = "{value}"\n')
        self.look("keys of before", "moved", self.planted.run("secrets", "list", **OPENS), "late")
        self.look("keys of before", "the vault", (self.planted.home / "vault.sealed").read_bytes(), "late")
        self.look("keys of before", "what is left of the file", keys.read_bytes() if keys.exists() else b"nothing", "late")

    def _neighbour(self) -> None:
        value = self.planted.value("provider")
        for name, data in (neighbour.looks(value, is_closed=not self.planted.is_blind) or {}).items():
            self.look("neighbour of the same user", name, data)


def _received(seen: Any) -> bytes:
    """As it came, but for the header of the key, which is masked."""
    head = "".join(f"{name}: {value}\n" for name, value in seen.headers.items())
    return f"{seen.method} {seen.path}\n{head}\n".encode() + bytes(seen.body)


async def tour(place: Path, is_blind: bool, is_whole: bool) -> Tour:
    planted, authority = Planted(place, is_blind), Certificates()
    table: dict[str, Errand] = {each.id: each for each in errands(planted.texts)}
    async with (
        ProviderServer(lambda seen: answered(table, planted.texts["plain"], seen), key=planted.value("provider")) as provider,
        quoting(planted) as quotes,
        Upstream() as own,
        Upstream(authority.serving("sealed.test")) as sealed,
        Upstream() as other,
    ):
        ports = Ports(int(provider.url.rsplit(":", 1)[1]), quotes.port, own.port, sealed.port, other.port)
        await asyncio.to_thread(planted.prepare, ports, authority.pem)
        made = Tour(planted, provider, own, sealed, other, table, is_whole)
        await made.through()
        return made
