"""`daimon secrets`, as its owner uses it: real processes and files, a provider on loopback, a real terminal."""

import json
import signal

import pytest
from anyio.from_thread import start_blocking_portal
from tests.cli.processes import DEADLINE_S, Daimon, finish
from tests.cli.pseudo import Terminal

from daimon.testing.provider.line import Line
from daimon.testing.provider.server import ProviderServer

TOKEN = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"
OTHER = "ghp_the_one_that_came_after_it"
PHRASE = "correct horse battery"
WORK = """
[model]
use = "work"
[models.work]
vendor = "compatible"
model = "m"
base_url = "{url}/v1"
key = "vault:work"
price = "free"
"""


def add(daimon: Daimon, *words: str, given: bytes = TOKEN.encode()) -> int:
    return daimon.run("secrets", "add", "github", *words, given=given).code


def test_a_secret_is_kept_shown_rotated_and_removed_and_its_value_is_seen_nowhere(daimon: Daimon) -> None:
    daimon.configure('[models.hub]\nvendor = "compatible"\nmodel = "m"\nbase_url = "https://api.github.com"\nkey = "vault:github"\n')
    words = ("--service", "GitHub API", "--host", "api.github.com", "--agent", "coder", "--variable", "GITHUB_TOKEN")
    said = [daimon.run("secrets", "add", "github", *words, given=f"{TOKEN}\n".encode())]
    assert "boxes of coder may use it as GITHUB_TOKEN" in said[0].out, said[0].err
    said.append(daimon.run("secrets", "list", "--json"))
    told = json.loads(said[1].out)
    (row,) = told["secrets"]
    assert (told["source"], row["name"], row["hosts"], row["agents"]) == ("file", "github", ["api.github.com"], ["coder"])
    assert (row["variable"], row["models"], row["rotated_at"]) == ("GITHUB_TOKEN", ["hub"], None)
    said.append(daimon.run("secrets", "rotate", "github", given=OTHER.encode()))
    said.append(daimon.run("secrets", "list"))
    assert "set, old ones known" in said[-1].out
    assert "the key of the vault: file" in said[-1].err
    said.append(daimon.run("secrets", "who", "github"))
    assert "nobody has used it yet" in said[-1].err
    said.append(daimon.run("secrets", "remove", "github"))
    assert "the model hub refers to it" in said[-1].err
    assert "the agent coder could use it" in said[-1].err
    assert [done.code for done in said] == [0] * 6
    assert not [value for value in (TOKEN, OTHER) for done in said if value in done.out + done.err]
    assert daimon.run("secrets", "remove", "github").code == 3


@pytest.mark.parametrize(
    ("words", "given", "code"),
    [
        (("--host", "https://api.github.com"), TOKEN.encode(), 4),
        (("--host", "*"), TOKEN.encode(), 4),
        (("--host", "api.github.com"), b"short", 4),
        ((), b"", 4),
        ((), b"\xff\xfe hidden-words", 4),
        (("--value", TOKEN), b"", 2),
    ],
)
def test_what_cannot_be_kept_is_told_and_nothing_is_written(daimon: Daimon, words: tuple[str, ...], given: bytes, code: int) -> None:
    done = daimon.run("secrets", "add", "github", *words, given=given)
    assert done.code == code
    assert "hidden-words" not in done.err
    assert not (daimon.home / "vault.sealed").exists()


def test_a_name_that_is_taken_and_a_vault_that_was_changed_are_refused(daimon: Daimon) -> None:
    assert add(daimon) == 0
    taken = daimon.run("secrets", "add", "github", given=OTHER.encode())
    assert (taken.code, "secrets rotate github" in taken.err) == (4, True)
    assert daimon.run("secrets", "rotate", "gitlab", given=OTHER.encode()).code == 3
    file = daimon.home / "vault.sealed"
    file.write_bytes(bad := file.read_bytes()[:-1])
    changed = daimon.run("secrets", "list")
    assert (changed.code, "damaged or was changed" in changed.err) == (78, True)
    assert file.read_bytes() == bad
    (daimon.home / "daimon.toml").write_text(WORK.format(url="http://127.0.0.1:1"))
    assert daimon.run("up").code == 78


def test_a_running_gateway_shows_the_new_value_from_the_next_call_on_and_says_who_used_it(daimon: Daimon) -> None:
    with start_blocking_portal() as portal:
        provider = portal.wrap_async_context_manager(ProviderServer([Line(text="first"), Line(text="second")], key=OTHER))
        with provider as server:
            host = server.url.removeprefix("http://")
            daimon.configure(WORK.format(url=server.url))
            assert daimon.run("secrets", "add", "work", "--host", host, given=OTHER.encode()).code == 0
            running = daimon.up()
            assert daimon.run("chat", "hello").out.strip() == "first"
            assert daimon.run("secrets", "rotate", "work", given=TOKEN.encode()).code == 0
            assert "refused the key" in (failed := daimon.run("chat", "hello")).out + failed.err
            assert daimon.run("secrets", "rotate", "work", given=OTHER.encode()).code == 0
            assert daimon.run("chat", "hello").out.strip() == "second"
            assert finish(running, signal.SIGTERM).code == 0
    (use,) = json.loads(daimon.run("secrets", "who", "work", "--json").out)["uses"]
    assert (use["by"], use["host"]) == ("model:work", host)
    assert use["count"] >= 3
    held = b"".join(file.read_bytes() for file in daimon.home.rglob("*") if file.is_file() and not file.is_socket())
    assert TOKEN.encode() not in held
    assert OTHER.encode() not in held


def test_sealed_with_a_passphrase_it_is_asked_for_and_a_wrong_one_changes_nothing(daimon: Daimon) -> None:
    assert add(daimon) == 0
    assert daimon.run("secrets", "seal", "--with", "passphrase", given=b"short\n").code == 4
    assert daimon.run("secrets", "seal", "--with", "keyring").code == 78
    assert daimon.run("secrets", "seal", "--with", "passphrase", given=f"{PHRASE}\n".encode()).code == 0
    assert "set DAIMON_VAULT_PASSPHRASE" in daimon.run("up").err
    daimon.environment["DAIMON_VAULT_PASSPHRASE"] = "not the right words"
    assert "the passphrase does not open" in daimon.run("secrets", "list").err
    daimon.environment["DAIMON_VAULT_PASSPHRASE"] = PHRASE
    assert json.loads(daimon.run("secrets", "seal", "--with", "file", "--json").out) == {"source": "file"}
    assert daimon.run("secrets", "seal", "--with", "passphrase").code == 0
    assert json.loads(daimon.run("secrets", "list", "--json").out)["source"] == "passphrase"


def test_at_a_terminal_values_and_passphrases_are_typed_unseen(daimon: Daimon) -> None:
    seen = ""
    terminal = Terminal(daimon, "secrets", "add", "github", "--host", "api.github.com")
    seen += terminal.wait_for("Value of github (it is not shown): ")
    terminal.type(f"{TOKEN}\r".encode())
    seen += terminal.wait_for("is in the vault")
    assert terminal.process.wait(DEADLINE_S) == 0
    terminal.close()
    terminal = Terminal(daimon, "secrets", "seal", "--with", "passphrase")
    terminal.wait_for("New passphrase of the vault (it is not shown): ")
    terminal.type(f"{PHRASE}\r".encode())
    terminal.wait_for("Once more: ")
    terminal.type(f"{PHRASE}\r".encode())
    seen += terminal.wait_for("sealed anew")
    assert terminal.process.wait(DEADLINE_S) == 0
    terminal.close()
    terminal = Terminal(daimon, "up", "--port", "0")
    terminal.wait_for("Passphrase of the vault (it is not shown): ")
    terminal.type(f"{PHRASE}\r".encode())
    seen += terminal.wait_for("ready http://")
    terminal.process.send_signal(signal.SIGTERM)
    assert terminal.process.wait(DEADLINE_S) == 0
    terminal.close()
    assert TOKEN not in seen
    assert PHRASE not in seen


def test_what_a_command_or_a_gateway_fails_with_names_no_secret(daimon: Daimon) -> None:
    daimon.configure('extensions = ["loose"]\n')
    daimon.environment["LOOSE"] = OTHER
    add(daimon, given=OTHER.encode())
    up = daimon.up()
    up.send_signal(signal.SIGTERM)
    _, said = up.communicate(timeout=DEADLINE_S)
    assert OTHER not in said.decode()
    assert said.decode().count("[secret github]") == 3
    daimon.environment["LOOSE_AT_ONCE"] = "1"
    failed = [daimon.run("up", "--port", "0"), daimon.run("--debug", "up", "--port", "0"), daimon.run("trace", OTHER)]
    assert all(done.code and OTHER not in done.err and "[secret github]" in done.err for done in failed)


def test_a_model_that_repeats_its_key_is_shown_without_it(daimon: Daimon) -> None:
    repeats = ProviderServer([Line(text=f"It is {OTHER}.")] * 4, key=OTHER)
    with start_blocking_portal() as portal, portal.wrap_async_context_manager(repeats) as server:
        daimon.configure(WORK.format(url=server.url))
        words = ("--base-url", f"{server.url}/v1", "--model", "m", "--free", "--key-stdin")
        said = daimon.run("model", "add", "fresh", *words, given=OTHER.encode())
        assert "It is [secret key]." in said.out, said.err
        daimon.run("secrets", "add", "work", "--host", server.url.removeprefix("http://"), given=OTHER.encode())
        said = daimon.run("model", "test", "work", "--json")
        assert OTHER not in said.out + said.err
        assert "It is [secret" in said.out


def test_without_its_passphrase_nothing_is_shown_that_may_hold_what_became_known_later(daimon: Daimon) -> None:
    daimon.run("inject", given=json.dumps({"type": "message", "text": OTHER}).encode())
    daimon.run("chat", "hello")
    add(daimon, given=OTHER.encode())
    assert "[secret github]" in daimon.run("turns").out
    daimon.run("secrets", "seal", "--with", "passphrase", given=f"{PHRASE}\n".encode())
    blind = daimon.run("turns")
    assert (blind.code, OTHER in blind.out + blind.err) == (78, False)
    assert daimon.run("status").code == 0
    daimon.environment["DAIMON_VAULT_PASSPHRASE"] = PHRASE
    assert "[secret github]" in daimon.run("turns").out
