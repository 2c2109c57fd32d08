"""Contestant: LangGraph's AsyncSqliteSaver, called as its loop calls it for one step: the writes of the task, then the checkpoint.

The graph engine itself is left out, and the state does not grow, which is the best case for it. WAL, synchronous=FULL. Needs the
environment of the peers.
"""

import asyncio
import sys
import time
from pathlib import Path

import aiosqlite
from langgraph.checkpoint.base import empty_checkpoint
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from lab import bout


async def main(place: Path) -> None:
    async with aiosqlite.connect(place / "langgraph.db") as connection:
        saver = AsyncSqliteSaver(connection)
        await saver.setup()
        await connection.execute("PRAGMA synchronous=FULL")
        names = (f"conversation-{n}" for n in range(10**9))

        async def converse(name: str, steps: int) -> None:
            config = {"configurable": {"thread_id": name, "checkpoint_ns": ""}}
            for n in range(steps):
                checkpoint = empty_checkpoint()
                checkpoint["channel_values"] = {"result": bout.PAYLOAD}
                checkpoint["channel_versions"] = {"result": str(n)}
                config = await saver.aput(config, checkpoint, {"source": "loop", "step": n, "parents": {}}, {"result": str(n)})
                await saver.aput_writes(config, [("result", bout.PAYLOAD)], f"task-{n}")

        async def run(conversations: int, steps: int) -> float:
            begun = time.perf_counter()
            await asyncio.gather(*(converse(next(names), steps) for _ in range(conversations)))
            return time.perf_counter() - begun

        await bout.serve(run)


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))
