"""`daimon backup`, `backups`, `restore` and `doctor` as somebody types them."""

import json
import os
import signal
from pathlib import Path

import pytest
from tests.cli.processes import DEADLINE_S, Daimon, finish, wait_until
from tests.cli.pseudo import ENTER, Terminal

from daimon.backup.inventory import SCRATCH


def test_a_running_home_is_backed_up_and_comes_back_elsewhere(daimon: Daimon, tmp_path: Path) -> None:
    running = daimon.up()
    daimon.run("chat", "remember that the key is under the mat")
    done = daimon.run("backup", "--to", str(tmp_path), "--json")
    assert done.code == 0, done.err
    made = json.loads(done.out)
    assert made["journal"]["turns"] == 1
    assert finish(running, signal.SIGTERM).code == 0
    there = str(tmp_path / "there")
    restored = daimon.run("restore", made["path"], "--home", there, "--json")
    assert (restored.code, json.loads(restored.out)["aside"]) == (0, None), restored.err
    assert "under the mat" in daimon.run("chat", "what do you know about the key", "--home", there).out
    checked = daimon.run("backups", "--check", made["path"])
    assert (checked.code, "is good: 1 turns" in checked.out) == (0, True)


def test_a_restore_asks_and_keeps_what_was_there(daimon: Daimon, tmp_path: Path) -> None:
    daimon.configure("[owner]\nname = 'Ada'\n")
    assert daimon.run("inject", given=b'{"type": "message", "text": "hello"}').code == 0
    made = daimon.run("backup")
    assert made.code == 0, made.err
    assert "verified by restoring it" in made.err
    (file,) = (daimon.home / "backups").iterdir()
    listed = daimon.run("backups", "--json")
    assert [row["path"] for row in json.loads(listed.out)["backups"]] == [str(file)]
    refused = daimon.run("restore", str(file))
    assert (refused.code, "holds data already" in refused.err) == (4, True)
    nobody = daimon.run("restore", str(file), "--replace")
    assert (nobody.code, "add --yes" in nobody.err) == (78, True)
    done = daimon.run("restore", str(file), "--replace", "--yes")
    assert (done.code, "what was there before is in" in done.out) == (0, True), done.err
    assert len(list(tmp_path.glob("home.before-restore-*"))) == 1
    assert file.exists()


def test_a_backup_that_is_stopped_leaves_nothing(daimon: Daimon, tmp_path: Path) -> None:
    daimon.configure("")
    assert daimon.run("inject", given=b'{"type": "message", "text": "hello"}').code == 0
    with (daimon.home / "ballast").open("wb") as file:
        for _ in range(60):
            file.write(os.urandom(1 << 20))
    making = daimon.start("backup", "--to", str(tmp_path))
    wait_until(lambda: (daimon.home / SCRATCH).exists())
    assert finish(making, signal.SIGTERM).code == 143
    assert not (daimon.home / SCRATCH).exists()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["home", "signs"]


def test_the_schedule_makes_one_and_then_rests(daimon: Daimon) -> None:
    daimon.configure("[backup]\nkeep_daily = 2\n")
    assert daimon.run("inject", given=b'{"type": "message", "text": "hello"}').code == 0
    first = daimon.run("backup", "--auto", "--json")
    assert "daimon-auto-" in json.loads(first.out)["path"], first.err
    assert json.loads(daimon.run("backup", "--auto", "--json").out)["unchanged"] is True
    assert len(list((daimon.home / "backups").iterdir())) == 1


def test_a_backup_can_be_made_of_a_home_whose_settings_are_broken(daimon: Daimon) -> None:
    daimon.configure("[nonsense]\n")
    (daimon.home / "notes").write_text("mine")
    done = daimon.run("backup")
    assert done.code == 0, done.err
    assert "the settings cannot be read" in done.err


def test_the_doctor_ends_with_one_where_something_is_wrong(daimon: Daimon) -> None:
    daimon.configure("")
    assert daimon.run("inject", given=b'{"type": "message", "text": "hello"}').code == 0
    daimon.home.chmod(0o755)
    done = daimon.run("doctor", "--json")
    told = json.loads(done.out)
    assert (done.code, told["ok"]) == (1, False)
    assert next(each["todo"] for each in told["findings"] if "others can look" in each["what"]).startswith("chmod 700")
    shown = daimon.run("doctor")
    assert (shown.code, "→ chmod 700" in shown.out) == (1, True)


@pytest.mark.parametrize("answer", ["y", "n"])
def test_on_a_terminal_the_owner_is_asked(daimon: Daimon, tmp_path: Path, answer: str) -> None:
    daimon.configure("[owner]\nname = 'Ada'\n")
    assert daimon.run("inject", given=b'{"type": "message", "text": "hello"}').code == 0
    file = json.loads(daimon.run("backup", "--to", str(tmp_path), "--json").out)["path"]
    terminal = Terminal(daimon, "restore", file, "--replace")
    try:
        terminal.wait_for("go on? [y/N]")
        terminal.type(answer.encode() + ENTER)
        code = terminal.process.wait(DEADLINE_S)
    finally:
        terminal.close()
    assert (code, len(list(tmp_path.glob("home.before-restore-*")))) == ((0, 1) if answer == "y" else (4, 0))
