"""Updates and removes a skill in a process of its own, which ends at the N-th change of the disk, as by a power cut; for all N.

`python killed.py PLACE`: PLACE/N is the library of the N-th; prints how many there were when one came to its end.
"""

import asyncio
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.skills.written import bundle, skill_md

from daimon.library.library import Brought, open_library
from daimon.machine.clock import SystemClock
from daimon.skills import format as form

NAME = "read-feeds"
MOST = 300


def brought(body: str) -> Brought:
    files = bundle(skill_md(body=body), references__a=body, scripts__b=body)
    return Brought(skill=form.read(NAME, files), bundle=files, source="here")


def count_down(left: int) -> None:
    """The calls that make something durable or visible are counted; the last does not happen."""
    state = [left]

    def counted(call: Callable[..., Any]) -> Callable[..., Any]:
        def instead(*given: Any, **more: Any) -> Any:
            state[0] -= 1
            if state[0] <= 0:
                os._exit(9)
            return call(*given, **more)

        return instead

    for name in ("fsync", "rename", "replace", "mkdir", "unlink", "rmdir", "open"):
        setattr(os, name, counted(getattr(os, name)))


async def main(home: Path, left: int) -> None:
    library = await open_library(home, SystemClock())
    await library.put(brought("first"), is_approved=True)
    count_down(left)
    await library.put(brought("second"), is_approved=True)
    await library.drop(NAME)


def run(place: Path) -> int:
    for n in range(1, MOST):
        if (child := os.fork()) == 0:
            asyncio.run(main(place / str(n), n))
            os._exit(0)
        if os.waitpid(child, 0)[1] == 0:
            return n
    raise SystemExit("it never came to its end")


if __name__ == "__main__":
    sys.stdout.write(str(run(Path(sys.argv[1]))))
