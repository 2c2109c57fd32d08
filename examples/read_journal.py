"""Read the journal of a home: what came in, what was done, what was said.

    python examples/read_journal.py ~/.daimon

It changes nothing, and works while a gateway runs and while none does.
"""

import asyncio
import sys
from pathlib import Path

from daimon.abi.ids import HOME_SPACE
from daimon.abi.step import Happened, Intended, Replied
from daimon.config import home_at
from daimon.kernel import words
from daimon.offline.reading import reading


async def main(home: Path | None) -> None:
    async with reading(home_at(home)) as journal:
        for turn in reversed(await journal.turns(HOME_SPACE, limit=100)):
            event = await journal.event(turn.event)
            sys.stdout.write(f"{turn.id} {turn.state} {event.source}: {words.said(event.body)}\n")
            for step in await journal.steps(turn.id):
                match step.body:
                    case Intended(tool=tool, arguments=arguments, effect=effect):
                        sys.stdout.write(f"  {step.n:>3} {effect} call {words.call(tool, arguments)}\n")
                    case Happened(intent=intent, how=how, code=code):
                        sys.stdout.write(f"  {step.n:>3} outcome of {intent}: {how} {code}\n")
                    case Replied(model=model, parts=parts):
                        sys.stdout.write(f"  {step.n:>3} {model}: {words.reply(parts)}\n")


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]) if len(sys.argv) > 1 else None))
