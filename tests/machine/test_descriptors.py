"""The kernel answers, for a process of its own: a limit that was changed here would stay."""

import subprocess
import sys

import pytest

ASK = """
import resource, sys
from daimon.machine.descriptors import make_room
resource.setrlimit(resource.RLIMIT_NOFILE, (int(sys.argv[1]), int(sys.argv[2])))
make_room()
print(*resource.getrlimit(resource.RLIMIT_NOFILE))
"""


@pytest.mark.parametrize(("soft", "hard", "then"), [(256, 4_096, 4_096), (256, 256, 256)])
def test_there_is_room_for_as_many_open_files_as_the_hard_limit_allows(soft: int, hard: int, then: int) -> None:
    ran = subprocess.run([sys.executable, "-c", ASK, str(soft), str(hard)], capture_output=True, text=True, check=True, timeout=60)
    assert ran.stdout.split() == [str(then), str(hard)]
