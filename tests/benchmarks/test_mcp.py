"""The benchmark of servers can say no, and its many tools are tools."""

import mcp_
import pytest

from daimon import config
from daimon.mcp.manifests import known_of

FIELDS = {"ratio_sdk": 1.9, "hello_tokens_300": 2_000}


def test_figures_that_are_good_enough_meet_the_aims() -> None:
    assert all(mcp_.aims(FIELDS).values())


@pytest.mark.parametrize("worse", [{"ratio_sdk": 2.0}, {"hello_tokens_300": 2_500}])
def test_a_figure_that_is_not_misses_its_aim(worse: dict[str, float]) -> None:
    assert list(mcp_.aims({**FIELDS, **worse}).values()).count(False) == 1


def test_the_ratio_is_taken_within_each_round() -> None:
    assert mcp_.ratio([(1.0, 2.0), (10.0, 20.0), (1.0, 100.0)]) == 2.0


def test_each_of_the_three_hundred_can_be_offered() -> None:
    tools = mcp_.many()
    assert len(tools) == mcp_.MANY
    for name, listed in tools.items():
        known_of("many", f"many_{name}", config.Server(command=("x",)), listed)


def test_the_sdk_is_not_hidden_by_its_benchmark() -> None:
    import mcp

    assert hasattr(mcp, "ClientSession")
