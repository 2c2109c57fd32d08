"""The vault as its users and its owner see it."""

import os
import stat
from pathlib import Path

import pytest
from tests.vault.rig import GITHUB, PHRASE, TOKEN, values, vault_at

from daimon.abi.errors import BadInput, Denied, Misconfigured, NotFound
from daimon.abi.ids import AgentId
from daimon.abi.secret import Secrets
from daimon.vault.passphrase import Passphrase
from daimon.vault.store import Scope, Vault

CODER, OTHER = AgentId("coder"), AgentId("other")


@pytest.fixture
def vault(tmp_path: Path) -> Vault:
    made = vault_at(tmp_path)
    made.add("github", TOKEN, GITHUB)
    return made


def test_a_secret_is_found_again_by_another_process_and_its_files_are_for_the_owner_alone(vault: Vault, tmp_path: Path) -> None:
    seen: Secrets = vault_at(tmp_path)
    assert seen.reveal("github", "model:x", "api.github.com") == TOKEN
    assert {stat.S_IMODE(file.stat().st_mode) for file in tmp_path.iterdir()} == {0o600}


def test_a_value_goes_to_its_hosts_only_and_a_name_that_is_not_there_is_told(vault: Vault) -> None:
    with pytest.raises(Denied, match=r"may not go to evil.example, only to api.github.com") as denied:
        vault.reveal("github", "model:x", "evil.example")
    assert TOKEN not in str(denied.value)
    with pytest.raises(NotFound, match="no secret 'gitlab'"):
        vault.reveal("gitlab", "model:x", "api.github.com")


def test_a_box_gets_a_stand_in_of_the_same_length_that_is_new_each_time(vault: Vault) -> None:
    (one,), (two,) = vault.injections(("github",), CODER), vault.injections(("github",), CODER)
    assert one.value == TOKEN.encode()
    assert one.hosts == ("api.github.com",)
    assert len(one.placeholder) == len(one.value)
    assert one.placeholder.startswith(b"daimon-")
    assert one.placeholder != two.placeholder
    assert TOKEN not in repr(one)


def test_a_short_or_a_long_value_has_a_stand_in_too(vault: Vault) -> None:
    values = {"short": "12345678", "umlaut": "pässwörd", "pem": "-----BEGIN KEY-----\n" + "A" * 3_000 + "\n-----END KEY-----\n"}
    for name, value in values.items():
        vault.add(name, value, GITHUB)
    made = {each.name: each.placeholder for each in vault.injections(tuple(values), CODER)}
    assert {name: len(text) for name, text in made.items()} == {name: len(value.encode()) for name, value in values.items()}
    assert made["short"].isalnum()
    assert vault.reveal("pem", "test", "api.github.com") == values["pem"]


def test_an_agent_outside_the_scope_gets_nothing(vault: Vault) -> None:
    with pytest.raises(Denied, match="not for other, but for coder"):
        vault.injections(("github",), OTHER)
    with pytest.raises(NotFound):
        vault.injections(("github", "gitlab"), CODER)
    vault.add("model-key", "sk-1234567890", Scope(hosts=("api.openai.com",)))
    with pytest.raises(Denied, match="but for nobody"):
        vault.injections(("model-key",), CODER)


def test_a_value_too_short_to_have_a_stand_in_is_refused_where_it_would_need_one(vault: Vault) -> None:
    with pytest.raises(BadInput, match="shorter than 8 bytes"):
        vault.add("pin", "1234567", GITHUB)
    vault.add("pin", "1234567", Scope())
    with pytest.raises(BadInput, match="shorter than 8 bytes"):
        vault.scope("pin", Scope(agents=("coder",)))
    with pytest.raises(BadInput, match="shorter than 8 bytes"):
        vault.rotate("github", "1234567")
    assert vault.reveal("github", "test", "api.github.com") == TOKEN


def test_a_rotated_secret_has_a_new_value_and_its_old_one_is_still_known(vault: Vault, tmp_path: Path) -> None:
    running = vault_at(tmp_path)
    assert values(running) == (TOKEN,)
    assert running.known() is running.known()
    vault.rotate("github", "ghp_another_value")
    assert running.reveal("github", "test", "api.github.com") == "ghp_another_value"
    assert values(running) == ("ghp_another_value", TOKEN)
    assert running.masked("github", f"{TOKEN} or ghp_another_value") == "*** or ***"
    vault.forget("github")
    assert values(running) == ("ghp_another_value",)


def test_what_one_process_removes_another_does_not_have_any_more(vault: Vault, tmp_path: Path) -> None:
    running = vault_at(tmp_path)
    assert running.has("github")
    vault.remove("github")
    assert not running.has("github")
    assert values(running) == ()
    with pytest.raises(NotFound):
        vault.remove("github")


def test_a_name_that_is_taken_is_refused_and_its_value_stays(vault: Vault) -> None:
    with pytest.raises(BadInput, match="secrets rotate github"):
        vault.add("github", "something else", GITHUB)
    assert vault.reveal("github", "test", "api.github.com") == TOKEN


@pytest.mark.parametrize("name", ["", "a b", "../x", "-x", "x" * 65, "ä"])
def test_a_name_that_would_not_do_is_refused(vault: Vault, name: str) -> None:
    with pytest.raises(BadInput, match="cannot be a name"):
        vault.add(name, TOKEN, GITHUB)


@pytest.mark.parametrize("value", ["", " \n", "a\0b-hidden-words", "\x1b[31m-hidden-words", "\udc80-hidden-words", "x" * 65_537])
def test_a_value_that_would_not_do_is_refused_and_not_repeated(vault: Vault, value: str) -> None:
    with pytest.raises(BadInput) as refused:
        vault.add("x", value, GITHUB)
    assert "hidden-words" not in str(refused.value)
    assert not vault.has("x")


def test_programs_find_it_under_its_name_in_capitals_unless_it_is_said(vault: Vault) -> None:
    vault.add("9-git.lab", TOKEN, GITHUB)
    assert vault.entry("9-git.lab").variable == "_9_GIT_LAB"
    vault.scope("9-git.lab", Scope(variable="GITLAB_TOKEN"))
    assert vault.entry("9-git.lab").variable == "GITLAB_TOKEN"
    with pytest.raises(BadInput, match="cannot be a variable"):
        vault.scope("9-git.lab", Scope(variable="A=B"))


def test_nothing_that_is_shown_holds_a_value(vault: Vault) -> None:
    vault.rotate("github", "ghp_another_value")
    shown = f"{vault!r} {vault.entries()!r} {vault.injections(('github',), CODER)!r}"
    assert TOKEN not in shown
    assert "ghp_another_value" not in shown


# -- what is wrong with the file


def test_a_changed_vault_is_refused_and_left_alone(vault: Vault, tmp_path: Path) -> None:
    file = tmp_path / "vault.sealed"
    bad = bytearray(file.read_bytes())
    bad[-1] ^= 1
    file.write_bytes(bad)
    for use in (lambda: values(vault), lambda: vault.rotate("github", TOKEN * 2), lambda: vault_at(tmp_path).add("x", TOKEN, GITHUB)):
        with pytest.raises(Misconfigured, match="damaged or was changed"):
            use()
    assert file.read_bytes() == bad


@pytest.mark.parametrize("mode", [0o640, 0o604])
@pytest.mark.parametrize("name", ["vault.key", "vault.sealed"])
def test_a_file_that_others_may_read_is_refused_until_it_is_closed(vault: Vault, tmp_path: Path, name: str, mode: int) -> None:
    (tmp_path / name).chmod(mode)
    with pytest.raises(Misconfigured, match=f"mode {mode:04o}.*chmod 600"):
        values(vault_at(tmp_path))
    (tmp_path / name).chmod(0o600)
    assert values(vault_at(tmp_path)) == (TOKEN,)


def test_a_key_that_is_missing_broken_or_of_another_vault_is_told(vault: Vault, tmp_path: Path) -> None:
    key = tmp_path / "vault.key"
    (other := tmp_path / "other").mkdir()
    vault_at(other).add("github", TOKEN, GITHUB)
    key.write_bytes((other / "vault.key").read_bytes())
    with pytest.raises(Misconfigured, match="the key of another vault"):
        values(vault_at(tmp_path))
    key.write_bytes(b"short\n")
    with pytest.raises(Misconfigured, match="not the key of the vault any more"):
        values(vault_at(tmp_path))
    key.unlink()
    with pytest.raises(Misconfigured, match="is missing"):
        vault_at(tmp_path).add("x", TOKEN, GITHUB)
    assert not key.exists()


def test_a_pipe_or_a_directory_in_its_place_is_told_at_once(tmp_path: Path) -> None:
    (tmp_path / "vault.sealed").mkdir()
    with pytest.raises(Misconfigured):
        values(vault_at(tmp_path))


# -- sealing it otherwise


def test_sealed_with_a_passphrase_it_opens_with_that_one_only(vault: Vault, tmp_path: Path) -> None:
    old_key = (tmp_path / "vault.key").read_bytes()
    vault.seal(Passphrase(lambda: PHRASE))
    assert vault.source == "passphrase"
    assert values(vault) == (TOKEN,)
    assert not (tmp_path / "vault.key").exists()
    before = (tmp_path / "vault.sealed").read_bytes()
    with pytest.raises(Misconfigured, match="set DAIMON_VAULT_PASSPHRASE"):
        values(vault_at(tmp_path))
    wrong = vault_at(tmp_path, {"DAIMON_VAULT_PASSPHRASE": "wrong"})
    with pytest.raises(Misconfigured, match="the passphrase does not open"):
        wrong.add("x", TOKEN, GITHUB)
    assert (tmp_path / "vault.sealed").read_bytes() == before
    said = iter(["wrong", PHRASE])
    asked = vault_at(tmp_path, ask=lambda: next(said))
    with pytest.raises(Misconfigured):
        asked.known()
    assert values(asked) == (TOKEN,)
    (tmp_path / "vault.key").write_bytes(old_key)
    with pytest.raises(Misconfigured):
        values(vault_at(tmp_path))


def test_a_passphrase_can_be_changed_and_a_short_one_changes_nothing(tmp_path: Path) -> None:
    vault = vault_at(tmp_path, {"DAIMON_VAULT_PASSPHRASE": PHRASE})
    vault.add("github", TOKEN, GITHUB)
    assert vault.source == "passphrase"
    with pytest.raises(BadInput, match="12 to"):
        vault.seal(Passphrase(lambda: "short"))
    assert values(vault_at(tmp_path, {"DAIMON_VAULT_PASSPHRASE": PHRASE})) == (TOKEN,)
    vault.seal(Passphrase(lambda: PHRASE[::-1]))
    vault.rotate("github", "ghp_another_value")
    assert vault_at(tmp_path, {"DAIMON_VAULT_PASSPHRASE": PHRASE[::-1]}).has("github")


def test_a_credential_of_systemd_is_taken_without_being_asked_for(tmp_path: Path) -> None:
    (given := tmp_path / "credentials").mkdir()
    (given / "daimon-vault").write_text("0123456789abcdef0123456789abcdef\n")
    (home := tmp_path / "home").mkdir()
    environment = {"CREDENTIALS_DIRECTORY": str(given)}
    vault_at(home, environment).add("github", TOKEN, GITHUB)
    assert not (home / "vault.key").exists()
    assert vault_at(home, environment).source == "systemd"
    assert values(vault_at(home, environment)) == (TOKEN,)
    with pytest.raises(Misconfigured, match="CREDENTIALS_DIRECTORY is not set"):
        values(vault_at(home))
    (given / "daimon-vault").write_text("short")
    with pytest.raises(Misconfigured, match="16 to"):
        values(vault_at(home, environment))


def test_a_running_process_goes_on_when_the_vault_is_sealed_otherwise_with_a_key_that_it_has(vault: Vault, tmp_path: Path) -> None:
    running = vault_at(tmp_path, {"DAIMON_VAULT_PASSPHRASE": PHRASE})
    assert running.source == "file"
    vault.seal(Passphrase(lambda: PHRASE))
    assert values(running) == (TOKEN,)
    assert running.source == "passphrase"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make a file of another user")
@pytest.mark.parametrize("name", ["vault.key", "vault.sealed"])
def test_a_file_of_another_user_is_refused(vault: Vault, tmp_path: Path, name: str) -> None:
    os.chown(tmp_path / name, 12345, -1)
    with pytest.raises(Misconfigured, match="belongs to another user"):
        values(vault_at(tmp_path))
