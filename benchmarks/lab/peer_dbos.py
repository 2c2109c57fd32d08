"""Contestant: DBOS on SQLite. A step is an async step of a workflow that returns a kilobyte; starting and ending the workflow is not
counted.

The engine is made as research found it to be fastest with the same promise: WAL, synchronous=FULL. Needs the environment of the peers.
"""

import asyncio
import sys
import time
from pathlib import Path

import sqlalchemy
from dbos import DBOS

from lab import bout


@DBOS.step()
async def step(n: int) -> str:
    return bout.PAYLOAD


@DBOS.workflow()
async def converse(steps: int) -> list[float]:
    begun = time.perf_counter()
    for n in range(steps):
        await step(n)
    return [begun, time.perf_counter()]


async def run(conversations: int, steps: int) -> float:
    handles = [await DBOS.start_workflow_async(converse, steps) for _ in range(conversations)]
    times = [await handle.get_result() for handle in handles]
    return max(ended for _, ended in times) - min(begun for begun, _ in times)


def engine(path: Path) -> sqlalchemy.Engine:
    made = sqlalchemy.create_engine(f"sqlite:///{path}", connect_args={"timeout": 30})

    @sqlalchemy.event.listens_for(made, "connect")
    def tune(connection: object, _: object) -> None:
        cursor = connection.cursor()  # type: ignore[attr-defined]
        cursor.execute("PRAGMA journal_mode=WAL")
        cursor.execute("PRAGMA synchronous=FULL")
        cursor.close()

    return made


async def main(place: Path) -> None:
    path = place / "dbos.db"
    DBOS(
        config={
            "name": "lab",
            "system_database_url": f"sqlite:///{path}",
            "system_database_engine": engine(path),
            "log_level": "ERROR",
            "max_executor_threads": 16,
        }
    )
    DBOS.launch()
    await bout.serve(run)


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))
