"""Items of feeds that were not there before.

Kept of each feed: etag and date of the last answer, and the ids of the items that were seen, those of now first. An item that vanishes
and comes back is therefore not new, as long as so many ids reach. What is more than `most` is not yet seen: it comes with the next look,
and until then the feed is not asked with its etag, which would hide it.

One feed that cannot be read does not stop the others; the note says which. Only when none can be read the look has failed.
"""

import asyncio
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from pydantic import JsonValue

from daimon.abi.errors import WatchFailed
from daimon.abi.watch import Look, Watch, WatchFeed
from daimon.abi.web import Web
from daimon.heartbeat.watchers.entries import Entry, entries
from daimon.heartbeat.watchers.fetching import Stamp, fetched, site_label, stamp_of

MOST_KEPT = 20_000


@dataclass(slots=True)
class _Round:
    most: int
    items: list[JsonValue] = field(default_factory=list)
    urls: list[str] = field(default_factory=list)
    """Of the feeds that have something new."""
    faults: list[str] = field(default_factory=list)
    stock: int = 0
    waiting: int = 0


class FeedWatcher:
    def __init__(self, web: Web) -> None:
        self._web = web
        self._threads = ThreadPoolExecutor(1, "daimon-feed")

    async def look(self, watch: Watch, state: JsonValue) -> Look:
        assert isinstance(watch, WatchFeed)
        before, round_ = state if isinstance(state, dict) else {}, _Round(watch.most)
        after: dict[str, JsonValue] = {}
        for url in watch.urls:
            known = before.get(url)
            try:
                after[url] = await self._one(url, known if isinstance(known, dict) else None, round_)
            except WatchFailed as failed:
                round_.faults.append(str(failed))
                if known is not None:
                    after[url] = known
        if round_.faults and len(round_.faults) == len(watch.urls):
            raise WatchFailed("; ".join(round_.faults))
        label = site_label(*round_.urls) if round_.items else None
        return Look(after, {"items": round_.items} if round_.items else None, label, _note(round_))

    async def _one(self, url: str, known: Mapping[str, JsonValue] | None, round_: _Round) -> JsonValue:
        response, stamp = await fetched(self._web, url, stamp_of(known or {}))
        if response is None:
            return dict(known or {})
        kind = response.headers.get("content-type", "").lower()
        found = await asyncio.get_running_loop().run_in_executor(self._threads, entries, response.body, kind, response.url)
        if response.is_cut:
            round_.faults.append(f"{url} is longer than is read; its last items are missing")
        if known is None:
            round_.stock += len(found)
            return _kept([each.id for each in found], stamp)
        listed = known.get("seen")
        seen = [str(each) for each in listed] if isinstance(listed, list) else []
        return _kept(self._sorted(url, found, seen, round_), stamp if not round_.waiting else Stamp())

    def _sorted(self, url: str, found: list[Entry], seen: list[str], round_: _Round) -> list[str]:
        """The new ones into the round, oldest first, as feeds have them last. Which ids are seen now."""
        old = set(seen)
        new = [each for each in reversed(found) if each.id not in old]
        taken = new[: max(0, round_.most - len(round_.items))]
        round_.waiting += len(new) - len(taken)
        round_.items += [{"feed": url, **each.told} for each in taken]
        if taken:
            round_.urls.append(url)
        late = {each.id for each in new[len(taken) :]}
        return list(dict.fromkeys([*(each.id for each in found if each.id not in late), *seen]))


def _kept(seen: list[str], stamp: Stamp) -> JsonValue:
    return {**stamp.kept, "seen": [*seen[:MOST_KEPT]]}


def _note(round_: _Round) -> str:
    told = [f"{len(round_.items)} new {_items(len(round_.items))}"] if round_.items else []
    if round_.waiting:
        told.append(f"{round_.waiting} more wait for the next look")
    if round_.stock:
        told.append(f"first look: {round_.stock} {_items(round_.stock)}")
    return "; ".join((*(told or ["unchanged"]), *round_.faults))


def _items(n: int) -> str:
    return "item" if n == 1 else "items"
