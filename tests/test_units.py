"""The systemd units that are made: systemd understands them, they take what can be taken, and nothing that boxes need."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from daimon.abi.errors import BadInput
from daimon.machine import unit, user

ROOT = Path(__file__).parents[1]
OWNERS = unit.Place(("/opt/daimon/daimon",), Path("/home/owner/.daimon"))
MACHINES = unit.Place(("/opt/daimon/daimon",), Path("/var/lib/daimon/.daimon"), unit.Account("daimon", Path("/var/lib/daimon")))
BOTH = [pytest.param(OWNERS, id="owners"), pytest.param(MACHINES, id="machines")]
# From systemd.unit(5), systemd.service(5), systemd.exec(5), systemd.resource-control(5) of systemd 252, as far as they are used here.
KNOWN = {
    "Unit": {"Description", "StartLimitIntervalSec", "Wants", "After"},
    "Service": {
        "AmbientCapabilities", "CapabilityBoundingSet", "Delegate", "ExecStart", "KeyringMode", "LimitCORE", "LoadCredentialEncrypted",
        "LockPersonality", "NoNewPrivileges", "NotifyAccess", "ReadWritePaths", "TimeoutStartSec",
        "WatchdogSec", "OOMPolicy", "PrivateDevices", "PrivateTmp", "ProtectClock", "ProtectHome",
        "ProtectKernelModules", "ProtectSystem", "RemoveIPC", "Restart", "RestartPreventExitStatus", "RestartSec",
        "RestrictAddressFamilies", "RestrictRealtime", "RestrictSUIDSGID", "StateDirectory", "StateDirectoryMode",
        "SystemCallArchitectures", "TimeoutStopSec", "Type", "UMask", "User", "WorkingDirectory",
    },
    "Install": {"WantedBy"},
    "X-Daimon": {"Home"},
}  # fmt: skip
BREAKS_BOXES = {
    "MemoryDenyWriteExecute", "PrivateUsers", "ProcSubset", "ProtectControlGroups", "ProtectHostname", "ProtectKernelLogs",
    "ProtectKernelTunables", "ProtectProc", "RestrictNamespaces", "SystemCallFilter",
}  # fmt: skip


def settings(place: unit.Place) -> Iterator[tuple[str, str, str]]:
    for name, value in unit.settings(unit.text(place)).items():
        section, _, key = name.partition(".")
        yield section, key, value


def service(place: unit.Place) -> dict[str, str]:
    return {key: value for section, key, value in settings(place) if section == "Service"}


def verified(tmp_path: Path, place: unit.Place, text: str) -> tuple[int, str]:
    """What systemd itself says to the text."""
    if shutil.which("systemd-analyze") is None:
        pytest.skip("systemd-analyze is not installed")
    (file := tmp_path / "daimon.service").write_text(text, encoding="utf-8")
    done = subprocess.run(
        ["systemd-analyze", "--user" if place.account is None else "--system", "verify", "--man=no", str(file)],
        env={**os.environ, "XDG_RUNTIME_DIR": str(tmp_path)}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    return done.returncode, done.stderr


@pytest.mark.parametrize("place", BOTH)
@pytest.mark.parametrize("is_vault_on", [False, True])
def test_systemd_understands_the_unit(tmp_path: Path, place: unit.Place, is_vault_on: bool) -> None:
    text = unit.text(replace(place, command=(str(ROOT / "daimon"),)))
    if is_vault_on:
        text = text.replace("#LoadCredentialEncrypted=", "LoadCredentialEncrypted=")
    assert verified(tmp_path, place, text) == (0, "")


@pytest.mark.parametrize("place", BOTH)
@pytest.mark.parametrize("name", ["with space", "100%h", "$HOME", "$$", "ünï", "semi;colon", "-dash"])
def test_systemd_reads_odd_paths_as_they_are(tmp_path: Path, place: unit.Place, name: str) -> None:
    (program := tmp_path / name / "daimon").parent.mkdir()
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    odd = replace(place, command=(str(program),), home=tmp_path / name, is_usual_home=False)
    assert verified(tmp_path, place, unit.text(odd)) == (0, "")  # it complains about programs that are not there
    assert unit.home_in(unit.text(odd)) == tmp_path / name
    program.unlink()
    assert verified(tmp_path, place, unit.text(odd))[0] != 0


@pytest.mark.parametrize("place", BOTH)
@pytest.mark.parametrize("name", ["with space", "100%h", "$HOME", 'quo"te', "back\\slash", "it's"])
def test_an_odd_home_is_found_again(tmp_path: Path, place: unit.Place, name: str) -> None:
    odd = replace(place, command=(str(ROOT / "daimon"),), home=tmp_path / name, is_usual_home=False)
    assert verified(tmp_path, place, unit.text(odd)) == (0, "")
    assert unit.home_in(unit.text(odd)) == tmp_path / name


@pytest.mark.parametrize("name", ["it's", 'quo"te', "back\\slash"])
def test_a_program_that_systemd_does_not_start_is_refused(name: str) -> None:
    with pytest.raises(BadInput, match="move the checkout"):
        unit.text(replace(OWNERS, command=(f"/srv/{name}/daimon",)))


@pytest.mark.parametrize("name", ["line\nend", "carriage\rreturn", "nul\0", "space at the end "])
def test_a_path_that_no_unit_can_hold_is_refused(name: str) -> None:
    with pytest.raises(BadInput, match="cannot be written into a systemd unit"):
        unit.text(replace(MACHINES, home=Path("/srv") / name, is_usual_home=False))


@pytest.mark.parametrize("place", BOTH)
def test_every_setting_is_one_that_systemd_documents_in_that_section(place: unit.Place) -> None:
    assert [(section, key) for section, key, _ in settings(place) if key not in KNOWN.get(section, ())] == []
    assert [section for section, _, _ in settings(place)] == sorted((section for section, _, _ in settings(place)), key=list(KNOWN).index)


@pytest.mark.parametrize("place", BOTH)
def test_a_unit_starts_the_gateway_and_lets_it_rest_before_it_is_killed(place: unit.Place) -> None:
    found = service(place)
    assert found["ExecStart"] == "/opt/daimon/daimon up"
    assert int(found["TimeoutStopSec"]) > 12
    assert found["RestartPreventExitStatus"].split() == ["2", "65", "78"]
    assert (found["Type"], found["NotifyAccess"]) == ("notify", "main")


def test_a_home_that_is_not_the_usual_one_is_named_and_may_be_written() -> None:
    found = service(replace(MACHINES, home=Path("/srv/my daimon"), is_usual_home=False))
    assert found["ExecStart"] == '/opt/daimon/daimon --home "/srv/my daimon" up'
    assert (found["ReadWritePaths"], found["ProtectHome"]) == ('"/srv/my daimon"', "yes")


def test_what_lies_among_the_homes_of_people_can_be_seen() -> None:
    found = service(replace(MACHINES, command=("/home/owner/daimon/daimon",)))
    assert found["ProtectHome"] == "read-only"
    assert "ReadWritePaths" not in found


def test_another_text_is_told_by_what_it_changes() -> None:
    old, new = unit.text(OWNERS), unit.text(replace(OWNERS, command=("/srv/daimon/daimon",)))
    assert unit.changes(old, old) == ()
    assert unit.changes(old, new) == ("Service.ExecStart: /opt/daimon/daimon up -> /srv/daimon/daimon up",)
    assert "Service.User: (unset) -> daimon" in unit.changes(old, unit.text(MACHINES))


@pytest.mark.parametrize("place", BOTH)
def test_a_unit_takes_what_a_gateway_does_not_need(place: unit.Place) -> None:
    found = service(place)
    assert (found["LimitCORE"], found["UMask"], found["NoNewPrivileges"]) == ("0", "0077", "yes")
    assert {found[key] for key in ("LockPersonality", "RestrictRealtime", "RestrictSUIDSGID")} == {"yes"}


@pytest.mark.parametrize("place", BOTH)
def test_a_unit_leaves_what_boxes_need(place: unit.Place) -> None:
    found = service(place)
    assert BREAKS_BOXES.isdisjoint(found)
    assert set(found["Delegate"].split()) == {"cpu", "memory", "pids"}
    assert found["OOMPolicy"] == "continue"
    assert "AF_NETLINK" in found["RestrictAddressFamilies"].split()


def test_the_machine_s_service_is_run_by_the_user_that_daimon_makes_where_that_user_lives() -> None:
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
