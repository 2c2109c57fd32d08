"""From what somebody asks for to an automation that can be kept. Pure; refuses with what to do instead."""

import re
from datetime import datetime

from daimon.abi.automation import Automation, Draft
from daimon.abi.errors import BadInput
from daimon.abi.event import INTERNAL
from daimon.abi.watch import WatchFeed, WatchFiles, WatchHook, WatchMailbox, WatchOutput, WatchPage, WatchRefs
from daimon.heartbeat.due import require_valid
from daimon.heartbeat.plain import understood
from daimon.tools.links import host_of

NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,47}")
MOST_TASK = 20_000
MOST_JITTER_S = 24 * 3_600.0


def drafted(draft: Draft, now: datetime, timezone: str) -> Automation:
    """`timezone`: the owner's. Raises BadInput."""
    _require(draft)
    zone = draft.timezone or timezone
    automation = Automation(
        id=draft.id, when=understood(draft.schedule, now, zone), task=draft.task.strip(), timezone=zone, said=draft.schedule.strip(),
        watch=draft.watch, to=draft.to, model=draft.model, cost=draft.cost, tokens=draft.tokens, licence=draft.licence,
        catch_up=draft.catch_up, overlap=draft.overlap, jitter_s=draft.jitter_s, is_paused=draft.is_paused,
    )  # fmt: skip
    require_valid(automation)
    return automation


def _require(draft: Draft) -> None:
    if not NAME.fullmatch(draft.id):
        better = re.sub(r"[^a-z0-9]+", "-", draft.id.lower()).strip("-")[:48] or "morning-brief"
        raise BadInput(f"{draft.id[:60]!r} is no name of an automation: small letters, digits and hyphens, at most 48. Try {better!r}")
    if not draft.task.strip() or len(draft.task) > MOST_TASK:
        raise BadInput(f"the task has {len(draft.task):,} characters; say what is to be done, in 1 to {MOST_TASK:,}")
    if not 0 <= draft.jitter_s <= MOST_JITTER_S:
        raise BadInput(f"a jitter of {draft.jitter_s:g} s is none between 0 and {MOST_JITTER_S:g}")
    if (draft.cost is not None and not 0 < draft.cost < 1_000_000) or (draft.tokens is not None and draft.tokens <= 0):
        raise BadInput(f"a limit must be above zero, not {draft.cost if draft.cost is not None else draft.tokens}; leave it out for none")
    if draft.watch is not None and not all(part.strip() for part in _watched(draft)):
        raise BadInput(f"what is to be watched is missing: a {draft.watch.kind} needs an address, a pattern or a name")
    for url in _addresses(draft):
        if any(each.isspace() for each in url) or not host_of(url).strip(":."):
            raise BadInput(f"{url[:200]!r} is no address of the web; write it in full, such as https://example.org/feed.xml")
    if draft.to is not None and (draft.to.channel == INTERNAL or not draft.to.channel or not draft.to.to):
        raise BadInput(f"results cannot go to {draft.to.channel[:80]}:{draft.to.to[:80]}; name a channel and a place in it")


def _addresses(draft: Draft) -> tuple[str, ...]:
    match draft.watch:
        case WatchFeed(urls=urls):
            return urls
        case WatchPage(url=url):
            return (url,)
        case _:
            return ()


def _watched(draft: Draft) -> tuple[str, ...]:
    match draft.watch:
        case WatchFeed(urls=found) | WatchFiles(globs=found):
            return found or ("",)
        case WatchPage(url=one) | WatchMailbox(folder=one) | WatchRefs(repository=one) | WatchOutput(command=one) | WatchHook(hook=one):
            return (one,)
        case None:
            return ()
