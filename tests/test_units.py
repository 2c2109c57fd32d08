"""The systemd units: systemd understands them, they take what can be taken, and nothing that boxes need."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
OWNERS, MACHINES = "daimon.service", "daimon-system.service"
PLACES = {OWNERS: "%h/daimon/daimon", MACHINES: "/opt/daimon/daimon"}
# From systemd.unit(5), systemd.service(5), systemd.exec(5), systemd.resource-control(5) of systemd 252, as far as they are used here.
KNOWN = {
    "Unit": {"Description", "StartLimitIntervalSec", "Wants", "After"},
    "Service": {
        "AmbientCapabilities", "CapabilityBoundingSet", "Delegate", "ExecStart", "KeyringMode", "LimitCORE", "LoadCredentialEncrypted",
        "LockPersonality", "NoNewPrivileges", "OOMPolicy", "PrivateDevices", "PrivateTmp", "ProtectClock", "ProtectHome",
        "ProtectKernelModules", "ProtectSystem", "RemoveIPC", "Restart", "RestartPreventExitStatus", "RestartSec",
        "RestrictAddressFamilies", "RestrictRealtime", "RestrictSUIDSGID", "StateDirectory", "StateDirectoryMode",
        "SystemCallArchitectures", "TimeoutStopSec", "Type", "UMask", "User", "WorkingDirectory",
    },
    "Install": {"WantedBy"},
}  # fmt: skip
BREAKS_BOXES = {
    "MemoryDenyWriteExecute", "PrivateUsers", "ProcSubset", "ProtectControlGroups", "ProtectHostname", "ProtectKernelLogs",
    "ProtectKernelTunables", "ProtectProc", "RestrictNamespaces", "SystemCallFilter",
}  # fmt: skip


def settings(name: str) -> Iterator[tuple[str, str, str]]:
    section = ""
    for line in (ROOT / "packaging" / name).read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            section = line.strip("[]")
        elif line and not line.startswith("#"):
            key, is_setting, value = line.partition("=")
            assert is_setting, line
            yield section, key, value


def service(name: str) -> dict[str, str]:
    return {key: value for section, key, value in settings(name) if section == "Service"}


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd-analyze is not installed")
@pytest.mark.parametrize(("name", "scope"), [(OWNERS, "--user"), (MACHINES, "--system")])
@pytest.mark.parametrize("is_vault_on", [False, True])
def test_systemd_understands_the_unit(tmp_path: Path, name: str, scope: str, is_vault_on: bool) -> None:
    unit = (ROOT / "packaging" / name).read_text(encoding="utf-8").replace(PLACES[name], str(ROOT / "daimon"))
    if is_vault_on:
        unit = unit.replace("#LoadCredentialEncrypted=", "LoadCredentialEncrypted=")
    (file := tmp_path / "daimon.service").write_text(unit, encoding="utf-8")
    done = subprocess.run(
        ["systemd-analyze", scope, "verify", "--man=no", str(file)],
        env={**os.environ, "XDG_RUNTIME_DIR": str(tmp_path)}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("name", PLACES)
def test_every_setting_is_one_that_systemd_documents_in_that_section(name: str) -> None:
    assert [(section, key) for section, key, _ in settings(name) if key not in KNOWN.get(section, ())] == []
    assert [section for section, _, _ in settings(name)] == sorted((section for section, _, _ in settings(name)), key=list(KNOWN).index)


@pytest.mark.parametrize("name", PLACES)
def test_a_unit_starts_the_gateway_and_lets_it_rest_before_it_is_killed(name: str) -> None:
    found = service(name)
    assert found["ExecStart"] == f"{PLACES[name]} up"
    assert int(found["TimeoutStopSec"]) > 12
    assert found["RestartPreventExitStatus"].split() == ["2", "65", "78"]


@pytest.mark.parametrize("name", PLACES)
def test_a_unit_takes_what_a_gateway_does_not_need(name: str) -> None:
    found = service(name)
    assert (found["LimitCORE"], found["UMask"], found["NoNewPrivileges"]) == ("0", "0077", "yes")
    assert {found[key] for key in ("LockPersonality", "RestrictRealtime", "RestrictSUIDSGID")} == {"yes"}


@pytest.mark.parametrize("name", PLACES)
def test_a_unit_leaves_what_boxes_need(name: str) -> None:
    found = service(name)
    assert BREAKS_BOXES.isdisjoint(found)
    assert set(found["Delegate"].split()) == {"cpu", "memory", "pids"}
    assert found["OOMPolicy"] == "continue"
    assert "AF_NETLINK" in found["RestrictAddressFamilies"].split()


def test_the_machine_s_service_is_run_by_the_user_that_daimon_makes_where_that_user_lives() -> None:
    from daimon.machine import user

    found = service(MACHINES)
    home = user.creation(found["User"])[4]
    assert (found["User"], f"/var/lib/{found['StateDirectory']}", found["WorkingDirectory"]) == (user.USUAL, home, home)
    assert (found["CapabilityBoundingSet"], found["AmbientCapabilities"]) == ("", "")


def test_boxes_can_be_made_under_what_the_units_take() -> None:
    """bubblewrap under what the kernel enforces of the units: no new privileges, no capabilities, no cores, and a fresh /proc."""
    from tests.machine.ordinary import UID

    if os.geteuid() != 0 or not shutil.which("bwrap") or not shutil.which("setpriv"):
        pytest.skip("needs root, bubblewrap and setpriv")
    drop = ["setpriv", f"--reuid={UID}", f"--regid={UID}", "--clear-groups", "--no-new-privs", "--bounding-set=-all", "--inh-caps=-all"]
    box = ["bwrap", "--unshare-all", "--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev", "--hostname", "box"]
    plain = subprocess.run(
        ["setpriv", f"--reuid={UID}", f"--regid={UID}", "--clear-groups", *box, "true"], capture_output=True, check=False
    )
    if plain.returncode:
        pytest.skip(f"ordinary users cannot make a box on this machine: {plain.stderr.decode().strip()}")
    done = subprocess.run(["prlimit", "--core=0:0", *drop, *box, "cat", "/proc/self/status"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "NoNewPrivs:\t1" in done.stdout
