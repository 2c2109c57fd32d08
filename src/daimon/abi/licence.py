"""A licence as its owner writes it: one call a line, as an agent states it in a plan, and `reads` for what its text may draw on.

    # mail Bob, in its own words, about what it found
    send_mail(to='bob@x.org', text=own())
    20 times label(issue=found('/items/*/id'))
    reads notes()

`20 times` before a line is that line twenty times. `read` and `written` are each other's opposite, but for comments.
"""

import re
from collections.abc import Mapping
from itertools import groupby

from daimon.abi.errors import BadInput
from daimon.abi.plan import Draw, Plan, Planned
from daimon.abi.source import parse_call

READS = "reads "
MOST_TIMES = 100
_TIMES = re.compile(r"(\d{1,6}) times ")


def read(text: str) -> Plan:
    """Raises BadInput."""
    lines = [line.strip() for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    steps = tuple(step for line in lines if not line.startswith(READS) for step in _steps(line))
    return Plan(steps, tuple(Draw(*parse_call(line.removeprefix(READS))) for line in lines if line.startswith(READS)))


def written(plan: Plan) -> str:
    counted = [(_call(step.tool, step.sources), len(list(same))) for step, same in groupby(plan.steps)]
    lines = [line if times == 1 else f"{times} times {line}" for line, times in counted]
    return "\n".join([*lines, *(READS + _call(draw.tool, draw.arguments) for draw in plan.draws)])


def _call(tool: str, sources: Mapping[str, str]) -> str:
    return f"{tool}({', '.join(f'{name}={source}' for name, source in sources.items())})"


def _steps(line: str) -> tuple[Planned, ...]:
    counted = _TIMES.match(line)
    times = int(counted[1]) if counted else 1
    if not 1 <= times <= MOST_TIMES:
        raise BadInput(f"the licence says {counted[0] if counted else ''!r}; a line counts 1 to {MOST_TIMES} times in each turn")
    return (Planned(*parse_call(line[counted.end() :] if counted else line)),) * times
