"""Claim: a first "hello" is less than 2,500 tokens, and nine tenths of the input of a long turn were sent before, byte by byte.

The real `./daimon up` talks to a provider on loopback, in two shapes of API; what counts is what arrived there. A hello on a fresh home
shows what Daimon adds to an owner's words: system text and tools. A turn of twenty model calls shows whether the beginning of a request
stays as it was, which is what providers give their discount for; its first request counts as wholly new.

    hello_tokens             of that request; by o200k if its vocabulary is on this machine, else as the provider server counts
    hello_all_tokens         the same where every tool of Daimon's own is there: with a network, and with words that are held
    hello_bytes              of its tools, system text and messages
    turn20_tokens            input of all twenty requests together, as the provider server counts
    cached_percent           of the bytes of the twenty requests: whole tools, system text and messages as they stood in the one before
    reported_cached_percent  of the tokens of the twenty requests: what the provider says it had in its cache, in Daimon's own record

Of two shapes the worse one counts. The provider server counts a token for four bytes; its cache forgets nothing and has no smallest
size, where real ones begin at about 1,024 tokens. `--quick` changes nothing here.
"""

import asyncio
import sys
import tempfile
from pathlib import Path
from typing import Any

from lab import report, tokens
from lab.dialogue import EVERYTHING, STEPS, Spoken, talk

VENDORS = ("openai", "anthropic")
AIM_TOKENS, AIM_PERCENT = 2_500, 90.0
BYTES_PER_TOKEN = 4
PEERS = (
    ("nanobot 0.3.5", "about 8,000"),
    ("Hermes", "14,000 to 25,000"),
    ("OpenClaw", "14,000 to 25,000"),
)
"""Published by them or their users; not measured here."""


def figures(spoken: Spoken) -> dict[str, Any]:
    count, work, hello = tokens.counter(), spoken.work_usages, spoken.hello
    return {
        "hello_tokens": count(hello.text) if count else spoken.usages[0]["input_tokens"],
        "hello_bytes": hello.size,
        "turn20_tokens": sum(usage["input_tokens"] for usage in work),
        "cached_percent": percent(spoken.work),
        "reported_cached_percent": percent(sum(u["cached_tokens"] for u in work) / sum(u["input_tokens"] for u in work)),
    }


def worst(found: list[dict[str, Any]]) -> dict[str, Any]:
    return {name: (min if name.endswith("_percent") else max)(each[name] for each in found) for name in found[0]}


def aims(fields: dict[str, Any]) -> dict[str, bool]:
    return {
        f"a hello of less than {AIM_TOKENS:,} tokens": fields["hello_tokens"] < AIM_TOKENS,
        "the same with every tool of Daimon's own": fields["hello_all_tokens"] < AIM_TOKENS,
        f"{AIM_PERCENT:g} % of a turn of {STEPS} steps was sent before": fields["cached_percent"] >= AIM_PERCENT,
        f"{AIM_PERCENT:g} % of it is in the provider's cache": fields["reported_cached_percent"] >= AIM_PERCENT,
    }


def show(spoken: dict[str, Spoken]) -> None:
    count = tokens.counter()
    rows = [
        (
            vendor, each.hello.tools, each.hello.size, each.usages[0]["input_tokens"], each.hello.size // BYTES_PER_TOKEN,
            count(each.hello.text) if count else "no vocabulary",
        )
        for vendor, each in spoken.items()
    ]  # fmt: skip
    report.table(("hello", "tools", "bytes", "tokens, as the server counts", "bytes / 4", "tokens, o200k"), rows)
    rows = [(vendor, len(each.requests), *(f"{percent(part)} %" for part in (each.work, each.more))) for vendor, each in spoken.items()]
    report.table(("sent before", "requests", f"of {STEPS} steps", "of the next 3 turns"), rows)
    ours = max(figures(each)["hello_tokens"] for each in spoken.values())  # with every tool
    published = [(*peer, "published, not measured here") for peer in PEERS]
    report.table(("first hello", "tokens", ""), [("daimon", f"{ours:,}", "measured"), *published])


def percent(part: float) -> float:
    return round(100 * part, 1)


async def main() -> int:
    asked = report.options(__doc__)
    with tempfile.TemporaryDirectory(prefix="daimon-overhead-") as place:
        spoken = {vendor: await talk(Path(place) / vendor, vendor) for vendor in VENDORS}
        every = {f"{vendor}, every tool": await talk(Path(place) / f"{vendor}-every", vendor, EVERYTHING) for vendor in VENDORS}
    show({**spoken, **every})
    fields = worst([figures(each) for each in spoken.values()])
    fields["hello_all_tokens"] = max(figures(each)["hello_tokens"] for each in every.values())
    met = aims(fields)
    return report.finish(asked, fields, all(met.values()), met)


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
