"""What a box does not let through. Each wall has a case beside it that shows what still works."""

import json
import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.sandbox.boxes import WORKER, needs_bwrap, opened, said, sh

from daimon.abi.box import Place, Role
from daimon.sandbox.box import RunningBox

pytestmark = needs_bwrap
CANARY = "DAIMON_TEST_CANARY"


@pytest.fixture(scope="module")
async def box(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[RunningBox]:
    os.environ[CANARY] = "sings"
    try:
        async with opened(WORKER, tmp_path_factory.mktemp("walls"), GIVEN="given") as box:
            yield box
    finally:
        del os.environ[CANARY]


async def test_no_process_of_the_host_is_seen(box: RunningBox) -> None:
    seen = set((await said(box, "cat /proc/[0-9]*/comm | sort -u")).split())
    assert {name for name in seen if not name.startswith("python")} <= {"sh", "cat", "sort"}
    assert int(await said(box, "ls /proc | grep -c '^[0-9]'")) < 6


async def test_there_is_no_capability_and_none_to_be_had(box: RunningBox) -> None:
    status = dict(line.split(":\t", 1) for line in (await said(box, "cat /proc/self/status")).splitlines() if ":\t" in line)
    assert {int(status[name], 16) for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")} == {0}
    assert (status["NoNewPrivs"], status["Seccomp"]) == ("1", "2")


async def test_there_is_no_network_but_its_own_loopback(box: RunningBox) -> None:
    assert await said(box, "tail -n +3 /proc/net/dev | cut -d: -f1 | tr -d ' '") == "lo"
    assert (await sh(box, "python3 -c 'import socket; socket.create_connection((\"127.0.0.1\", 3128), 5)'")).code == 1


async def test_programs_in_it_can_talk_to_each_other_over_loopback(box: RunningBox) -> None:
    program = """
import socket, threading
server = socket.create_server(('127.0.0.1', 0))
threading.Thread(target=lambda: server.accept()[0].sendall(b'heard')).start()
print(socket.create_connection(server.getsockname(), 10).recv(10).decode())
"""
    assert await said(box, "exec python3 -", stdin=program.encode()) == "heard"


async def test_the_way_out_is_a_socket_that_the_gateway_holds(tmp_path: Path) -> None:
    role = Role(name="online", places=(Place("example.org"),))
    async with opened(role, tmp_path) as box:
        assert box.listener is not None
        assert box.listener.getsockname() == ("127.0.0.1", 3128)
        assert await said(box, "echo $HTTPS_PROXY") == "http://127.0.0.1:3128"
        assert await said(box, "tail -n +3 /proc/net/dev | cut -d: -f1 | tr -d ' '") == "lo"


async def test_a_command_has_three_descriptors(box: RunningBox) -> None:
    assert (await said(box, "exec ls /proc/self/fd")).split() == ["0", "1", "2", "3"]  # the last is the look itself


@pytest.mark.parametrize("line", ["kill -KILL 1", "kill -TERM 1", "kill -STOP 1", "kill -SEGV 1"])
async def test_process_one_cannot_be_signalled_away(box: RunningBox, line: str) -> None:
    await sh(box, line)
    assert await said(box, "echo on") == "on"


@pytest.mark.parametrize("name", ["environ", "mem", "maps", "fd", "root", "cwd", "exe", "auxv", "stack", "syscall"])
async def test_process_one_cannot_be_looked_into(box: RunningBox, name: str) -> None:
    assert (await sh(box, f"ls /proc/1/{name}/ > /dev/null || cat /proc/1/{name} > /dev/null")).code != 0
    assert (await sh(box, f"cat /proc/$$/{name} /proc/$$/{name}/. > /dev/null; ls -d /proc/$$/{name}")).code == 0


@pytest.mark.parametrize("path", ["kernel/core_pattern", "vm/drop_caches", "kernel/hostname", "user/max_user_namespaces"])
async def test_settings_of_the_kernel_cannot_be_written(box: RunningBox, path: str) -> None:
    before = setting(path)
    assert (await sh(box, f"echo 1 > /proc/sys/{path}")).code != 0
    assert setting(path) == before


def setting(path: str) -> str:
    place = Path("/proc/sys", path)
    return place.read_text() if os.access(place, os.R_OK) else ""


async def test_bits_that_give_another_user_are_refused(box: RunningBox) -> None:
    await sh(box, "cp /usr/bin/id own; chmod 6755 own")
    assert int(await said(box, "stat -c %a own"), 8) & 0o6000 == 0
    assert await said(box, "./own -u") == "1000"


@pytest.mark.parametrize("line", ["unshare -U true", "unshare -m true", "mount -t tmpfs x /tmp", "mknod null c 1 3", "chroot / true"])
async def test_no_other_world_can_be_made(box: RunningBox, line: str) -> None:
    assert (await sh(box, line)).code != 0


async def test_the_environment_is_built_from_nothing(box: RunningBox) -> None:
    found = await said(box, "env")
    assert "GIVEN=given" in found.splitlines()
    assert not {name for name in os.environ if name.startswith(("PYTEST", "DAIMON_"))} & {line.split("=")[0] for line in found.splitlines()}
    everywhere = "cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' '\\n'"
    assert not [line for line in (await sh(box, everywhere)).out.head.decode().splitlines() if line.startswith(CANARY)]


async def test_files_of_the_owner_are_not_there(box: RunningBox) -> None:
    places = ["/etc/shadow", "/etc/hostname", "/var", "/sys", "/boot", "/opt", "/srv", "/run/user", "/proc/sysrq-trigger/x"]
    places += [str(Path.home() / name) for name in (".ssh", ".bashrc", ".config", ".cache")]
    assert (await sh(box, f"ls -d {' '.join(places)} 2>/dev/null")).out.head == b""
    assert "agent" in await said(box, "cat /etc/passwd")


async def test_only_what_is_its_own_can_be_written(box: RunningBox) -> None:
    places = ["/", "/usr", "/usr/bin", "/etc", "/run/daimon", "/run/daimon/daimon/sandbox", "/workspace", "/dev", "/proc", "/home"]
    for place in places:
        assert (await sh(box, f"touch {place}/x")).code != 0, place
    assert await said(box, "touch /tmp/x /dev/shm/x ~/x x && rm /tmp/x /dev/shm/x ~/x x && echo done") == "done"


async def test_devices_are_few(box: RunningBox) -> None:
    found = set((await said(box, "find /dev -type b -o -type c")).split())
    assert found <= {f"/dev/{name}" for name in ("null", "zero", "full", "random", "urandom", "tty", "console", "pts/ptmx")}
    assert await said(box, "head -c 8 /dev/urandom | wc -c") == "8"


async def test_the_hosts_name_is_not_told(box: RunningBox) -> None:
    assert await said(box, "uname -n") == "box"


async def test_a_box_says_what_holds_it(box: RunningBox) -> None:
    assert box.force.started_by_root == (os.getuid() == 0)
    assert box.force.filter_instructions > 100
    assert bool(box.force.limits) != bool(box.force.why_no_groups)
    assert json.dumps(dict(box.force.limits))
