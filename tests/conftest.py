import compileall
import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

SRC = Path(__file__).parents[1] / "src"
WORKERS_MORE_THAN_CORES = 1
"""Many tests wait for programs that they started."""

# How long an example takes, or the making of one, says something about the machine, not about the code.
settings.register_profile("daimon", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("daimon")


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def pytest_configure(config: pytest.Config) -> None:
    """Tests start hundreds of processes. Where Python may not write bytecode by itself, each would compile all that it imports anew."""
    if not hasattr(config, "workerinput"):
        compileall.compile_dir(str(SRC), quiet=2)


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """All tests run beside each other. Whoever names some wants the answer at once: a worker takes longer to start than most tests."""
    chosen = any(config.getoption(name, default="") for name in ("keyword", "markexpr", "lf"))
    if chosen or config.args_source is pytest.Config.ArgsSource.ARGS:
        return 0
    return len(os.sched_getaffinity(0)) + WORKERS_MORE_THAN_CORES
