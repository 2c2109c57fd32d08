"""One Daimon meets one provider that misbehaves: a home of its own, a gateway in this process, real sockets on both sides.

It is told one thing, until its turn rests. What it then asks is answered as an owner would: to go on, where the trouble is over by then,
to stop otherwise. Each case has a Daimon and a provider of its own, because what one call learns of a provider counts for all.
"""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from daimon import boot
from daimon.machine.home import Home
from daimon.testing.provider.line import Line
from daimon.testing.provider.seen import Seen
from daimon.testing.provider.server import HOST, ProviderServer
from lab import wire
from lab.trouble import ANSWER, Trouble, Way

KEY = "sk-lab-4711-never-show-this"
SAID = "Please keep a note of it."
REST_S = 60.0
POLL_S = 0.03
MODELS = {
    "compatible": "some-model",
    "openai": "gpt-4.1",
    "anthropic": "claude-sonnet-5-5",
    "google": "gemini-3.8-flash",
    "deepseek": "deepseek-chat",
    "openrouter": "openai/gpt-4.1",
    "ollama": "qwen3",
}
SETTINGS = """{more}
owner.timezone = "UTC"
[model]
use = [{use}]
first_token_s = {patience}
next_token_s = {patience}
max_output_tokens = 500
"""
MODEL = """
[models.{name}]
vendor = "{vendor}"
model = "{model}"
base_url = "{url}"
key = "lab"
price = {{ input = 1, output = 2 }}
"""


@dataclass(frozen=True, slots=True)
class Case:
    name: str
    trouble: Trouble
    vendor: str
    way: Way
    settings: str = ""
    """More of them, for a Daimon that is broken on purpose."""
    rest_s: float = REST_S


@dataclass(frozen=True, slots=True, kw_only=True)
class Sight:
    """What was to be seen of it from outside."""

    rested: dict[str, Any]
    """The trace of its turn when it first rested, or ran out of time."""
    ended: dict[str, Any]
    """The trace after the owner's answer; the same if nothing was asked."""
    questions: list[dict[str, Any]]
    """What was asked when it first rested."""
    turns: int
    under_way: int
    """Model calls that nobody settled."""
    requests: int
    """That reached a provider."""


async def meet(case: Case, place: Path) -> Sight:
    """`place` must not be there yet."""
    async with AsyncExitStack() as stack:
        first = Provider(case)
        servers = [await stack.enter_async_context(ProviderServer(first.answer, key=KEY))]
        url = servers[0].url if case.trouble.line else f"http://{HOST}:{stack.enter_context(nobody()).getsockname()[1]}"
        models = MODEL.format(name="first", vendor=case.vendor, model=MODELS[case.vendor], url=address(url, case.vendor))
        use = ["first"]
        if case.way == "stand-in":
            servers.append(await stack.enter_async_context(ProviderServer(lambda _: Line(text=ANSWER), key=KEY)))
            models += MODEL.format(name="second", vendor="compatible", model="another", url=f"{servers[1].url}/v1")
            use.append("second")
        names = ", ".join(f'"{name}"' for name in use)
        write(place, SETTINGS.format(more=case.settings, use=names, patience=case.trouble.patience_s) + models)
        gateway = await stack.enter_async_context(up(place))
        rested, questions = await say(gateway, case.rest_s)
        ended = await answer(gateway, rested, questions, case) if questions else rested
        return Sight(
            rested=rested,
            ended=ended,
            questions=questions,
            turns=len(await gateway.get("/v1/turns")),
            under_way=sum(row["under_way"] for row in (await gateway.get("/v1/costs?by=turn"))["rows"]),
            requests=sum(len(server.requests) for server in servers),
        )


class Provider:
    """Goes wrong, and is well again if the trouble is not for always."""

    def __init__(self, case: Case) -> None:
        self._case = case
        self._calls = 0

    def answer(self, seen: Seen) -> Line:
        self._calls += 1
        goes_wrong = self._calls == 1 or self._case.way != "once"
        return self._case.trouble.line if goes_wrong and self._case.trouble.line else Line(text=ANSWER)


def nobody() -> socket.socket:
    """Holds a port on which nobody listens; closed when it is left."""
    held = socket.socket()
    held.bind((HOST, 0))
    return held


def address(url: str, vendor: str) -> str:
    return url if vendor in ("anthropic", "google") else f"{url}/v1"


def write(place: Path, settings: str) -> None:
    place.mkdir(mode=0o700)
    (place / "daimon.toml").write_text(settings)
    (place / "keys.toml").touch(mode=0o600)
    (place / "keys.toml").write_text(f'[keys]\nlab = "{KEY}"\n')


@dataclass(frozen=True, slots=True)
class Gateway:
    port: int
    token: str

    async def get(self, path: str) -> Any:
        return (await wire.call(self.port, "GET", path, Authorization=f"Bearer {self.token}")).data

    async def event(self, key: str, **data: object) -> Any:
        return (await wire.call(self.port, "POST", "/v1/events", data, Authorization=f"Bearer {self.token}", Idempotency_Key=key)).data


@asynccontextmanager
async def up(place: Path) -> AsyncIterator[Gateway]:
    home = Home(place)
    async with boot.running(home, boot.settings_of(home), port=0) as daimon:
        yield Gateway(int(daimon.url.rpartition(":")[2]), home.token())


async def say(gateway: Gateway, rest_s: float) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The trace when the turn rests, and what is asked then."""
    taken = await gateway.event("k1", type="message", text=SAID, conversation="main")
    trace = await rest(gateway, taken["event"], ("done", "failed", "parked"), rest_s)
    return trace, await gateway.get("/v1/questions")


async def rest(gateway: Gateway, event: str, states: tuple[str, ...], rest_s: float) -> dict[str, Any]:
    """Until its turn is in one of these states; after a while, however it is."""
    deadline = asyncio.get_running_loop().time() + rest_s
    while True:
        turn = (await gateway.get(f"/v1/events/{event}"))["turn"]
        if turn is not None and (turn["state"] in states or asyncio.get_running_loop().time() > deadline):
            return await gateway.get(f"/v1/turns/{turn['id']}")  # type: ignore[no-any-return]
        await asyncio.sleep(POLL_S)


async def answer(gateway: Gateway, trace: dict[str, Any], questions: list[dict[str, Any]], case: Case) -> dict[str, Any]:
    if case.trouble.is_slept_over:
        return await rest(gateway, trace["event"]["id"], ("done", "failed"), case.rest_s)
    to, options = questions[0]["to"], questions[0]["question"]["options"]
    goes_on = case.way == "once" and "continue" in options
    await gateway.event("k2", type="answer", to=f"{to['turn']}:{to['n']}", choice="continue" if goes_on else "stop", conversation="main")
    return await rest(gateway, trace["event"]["id"], ("done", "failed"), case.rest_s)
