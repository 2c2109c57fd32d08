"""What people decided, and what came of it."""

import asyncio
from pathlib import Path

from rich.text import Text

from daimon import homes
from daimon.abi.codec import encode
from daimon.abi.ids import HOME_SPACE
from daimon.cli import screen
from daimon.cli.reach import source
from daimon.kernel import words
from daimon.kernel.decisions import HumanDecision
from daimon.kernel.decisions import decisions as found_decisions


def decisions(given: Path | None, limit: int, as_json: bool) -> None:
    found = asyncio.run(_decisions(homes.home_at(given), limit))
    if as_json:
        screen.emit(encode(tuple[HumanDecision, ...], found))
        return
    rows = screen.table("asked", "question", "answer", "after", "outcome")
    for made in found:
        answer = f"{f'{made.choice} {made.text}'.strip()}, {made.by}" if made.by else f"{made.choice}, nobody answered in time"
        outcomes = "; ".join(f"{case.tool}: {case.outcome}" for case in made.cases)
        granted = "".join(f"; granted {grant.id}" for grant in made.grants)
        rows.add_row(
            f"{made.asked_at:%m-%d %H:%M:%S}", Text(screen.plain(words.short(made.question.text))), Text(screen.plain(answer)),
            words.duration(made.took_s), Text(screen.plain(outcomes + granted)),
        )  # fmt: skip
    screen.out().print(rows if found else "nobody has decided anything yet")


async def _decisions(home: homes.Home, limit: int) -> tuple[HumanDecision, ...]:
    async with source(home) as journal:
        return await found_decisions(journal, HOME_SPACE, limit)
