from typing import TYPE_CHECKING

from daimon.abi.tool import Call, Result

if TYPE_CHECKING:
    from daimon.tools.registry import Registry


async def test_status_tells_numbers(registry: "Registry", call: Call) -> None:
    assert await registry.get("status").run({}, call) == Result(
        {
            "turns": {"done": 5, "running": 1},
            "events": 7,
            "steps": 40,
            "timers": 2,
            "outgoing": 1,
            "dead_letters": 0,
            "bytes": 4096,
        }
    )
