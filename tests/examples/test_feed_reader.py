"""The feed reader of examples/, set up as its README says, on feeds that nobody knew before, and killed in the middle."""

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from html import escape
from pathlib import Path

import pytest
from tests.examples.reading import page
from tests.examples.rig import ROOT, Owner, owner, settle_in, until

from daimon.testing.provider.line import Fault as ModelFault
from daimon.testing.provider.line import Line
from daimon.testing.provider.seen import Seen
from daimon.testing.provider.server import ProviderServer
from daimon.testing.telegram.chats import ANNA
from daimon.testing.telegram.faults import Fault
from daimon.testing.telegram.server import TelegramServer
from daimon.testing.upstream import Upstream

README = ROOT / "examples" / "feed_reader" / "README.md"
WORTH = ("compilers", "databases", "gardening")
NOISE = ("celebrities", "lottery", "horoscopes")
HOSTS = ("one.test", "two.test", "three.test")


@dataclass(slots=True)
class Mind:
    """Does what its task says, with what is in its data: it knows neither the feeds nor the interests."""

    faults: list[ModelFault] = field(default_factory=list)

    def __call__(self, seen: Seen) -> Line:
        if self.faults:
            return Line(fault=self.faults.pop(0))
        read = page(seen)
        wanted = read.task.partition("Worth reading for me: ")[2].partition(".")[0].split(", ")
        chosen = [
            item for item in read.data["items"] if any(word in f"{item['title']} {item.get('summary', '')}".lower() for word in wanted)
        ]
        return Line(text="\n".join(f"- {item['title']}: {item['link']}" for item in chosen))


@dataclass(slots=True)
class Feeds:
    """Three of them, one in each format, in which items appear by chance."""

    upstream: Upstream
    chance: random.Random
    items: dict[str, list[tuple[str, str]]] = field(default_factory=lambda: {host: [] for host in HOSTS})

    def appear(self, host: str, topic: str) -> str:
        title = f"{topic.title()} & {self.chance.choice(('why', 'how', 'ten'))} {self.chance.randrange(10**6)}"
        self.items[host].insert(0, (f"http://{host}/{self.chance.randrange(10**9)}", title))
        self.publish()
        return title

    def publish(self) -> None:
        for host, items in self.items.items():
            listed = "".join(f"<item><guid>{link}</guid><title>{escape(title)}</title><link>{link}</link></item>" for link, title in items)
            body = f'<?xml version="1.0"?><rss version="2.0"><channel><title>{host}</title>{listed}</channel></rss>'.encode()
            head = f"HTTP/1.1 200 OK\r\nContent-Type: application/rss+xml\r\nContent-Length: {len(body)}\r\n\r\n".encode()
            self.upstream.answers[f"/{host}.xml"] = head + body


@dataclass(frozen=True, slots=True)
class World:
    owner: Owner
    feeds: Feeds
    telegram: TelegramServer
    provider: ProviderServer
    mind: Mind

    @property
    def briefs(self) -> list[str]:
        """What is on the phone, without the welcome."""
        return [shown.text for shown in self.telegram.chats.seen(ANNA.id)[1:]]

    @property
    def asked(self) -> int:
        return len([seen for seen in self.provider.requests if seen.method == "POST"])

    async def tick(self) -> str:
        return await self.owner.tick("reader")


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    async with _world(tmp_path, random.Random(tmp_path.name)) as made:
        yield made


@asynccontextmanager
async def _world(tmp_path: Path, chance: random.Random) -> AsyncIterator[World]:
    mind = Mind()
    urls = {f"FEED_{n}": f"http://{host}/{host}.xml" for n, host in enumerate(HOSTS, 1)}
    async with Upstream() as upstream, TelegramServer() as telegram, ProviderServer(mind) as provider:
        feeds = Feeds(upstream, chance)
        for topic in (*WORTH, *NOISE):
            feeds.appear(chance.choice(HOSTS), topic)
        async with owner(tmp_path, telegram, {**urls, "CHAT": str(ANNA.id), "WORTH": ", ".join(WORTH)}, {}) as me:
            await me.follow(README, 0)
            local = "".join(f'"{host}" = "127.0.0.1:{upstream.port}"\n' for host in HOSTS)
            await settle_in(me, f"[network.local]\n{local}", provider, telegram)
            await me.up()
            await me.pair(telegram, ANNA)
            await me.follow(README, 1)
            yield World(me, feeds, telegram, provider, mind)


async def test_what_is_worth_reading_comes_once_and_an_unchanged_feed_costs_nothing(world: World) -> None:
    assert [await world.tick() for _ in range(3)] == ["unchanged"] * 3
    assert (world.asked, world.briefs) == (0, [])
    good = [world.feeds.appear(host, topic) for host, topic in zip(HOSTS, WORTH, strict=True)]
    bad = [world.feeds.appear(HOSTS[0], topic) for topic in NOISE]
    assert await world.tick() == "ran"
    await until(lambda: len(world.briefs) == 1)
    (brief,) = world.briefs
    assert all(title in brief for title in good)
    assert not any(title in brief for title in bad)
    asked = world.asked
    assert await world.tick() == "unchanged"
    world.feeds.appear(HOSTS[1], NOISE[0])
    assert await world.tick() == "ran"
    await world.owner.quiet("reader", 2)
    assert (world.asked, len(world.briefs)) == (asked + 1, 1)  # it was read, and was noise: nothing is said


async def test_killed_while_the_model_thinks_the_brief_still_comes_once(world: World) -> None:
    world.mind.faults.append(ModelFault("hang"))
    title = world.feeds.appear(HOSTS[2], WORTH[0])
    before = world.asked
    assert await world.tick() == "ran"
    await until(lambda: world.asked == before + 1)
    await world.owner.pulled_plug()
    await until(lambda: len(world.briefs) == 1)
    assert title in world.briefs[0]
    assert await world.tick() == "unchanged"
    assert len(world.briefs) == 1


@pytest.mark.parametrize(("what", "arrived"), [("silent after", 1), ("silent", 0)])
async def test_killed_while_the_brief_is_sent_it_is_not_doubled_and_called_unknown(world: World, what: str, arrived: int) -> None:
    world.telegram.fail(Fault(what, "sendMessage"))  # type: ignore[arg-type]  # one of its words
    world.feeds.appear(HOSTS[0], WORTH[1])
    sent = sum(name == "sendMessage" for name, _ in world.telegram.calls)
    assert await world.tick() == "ran"
    async with asyncio.timeout(60):
        await world.telegram.called("sendMessage", sent + 1)
    await world.owner.pulled_plug()
    later = world.feeds.appear(HOSTS[1], WORTH[2])
    assert await world.tick() == "ran"
    await until(lambda: len(world.briefs) == arrived + 1)
    assert later in world.briefs[-1]
    states = [message["state"] for message in await world.owner.told("outbox", "--channel", "telegram")]
    assert states.count("unknown") == 1
