"""`daimon model`, as its owner uses it: real processes and files, a provider on loopback, a real terminal."""

import asyncio
import json
import stat
import tomllib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from anyio.from_thread import BlockingPortal, start_blocking_portal
from tests.cli.processes import DEADLINE_S, Daimon, Done
from tests.cli.pseudo import CTRL_C, CTRL_D, Terminal
from tests.models.website import WELCOME, Website, said, website

from daimon import keeper
from daimon.machine.home import Home
from daimon.testing.provider.line import Fault, Line
from daimon.testing.provider.server import KEY, ProviderServer

SECRET = "sk-this-must-not-be-seen"
MODELS = ("llama3.2:latest", "qwen3", "qwen3-coder")
NO_KEY = "none"
"""What the clients show to servers that want none."""
Serve = Callable[..., ProviderServer]


@pytest.fixture
def portal() -> Iterator[BlockingPortal]:
    with start_blocking_portal() as opened:
        yield opened


@pytest.fixture
def serve(portal: BlockingPortal) -> Iterator[Serve]:
    with ExitStack() as stack:

        def start(*script: Line, key: str = KEY, models: tuple[str, ...] = MODELS) -> ProviderServer:
            server: AbstractContextManager[ProviderServer] = portal.wrap_async_context_manager(
                ProviderServer(script, key=key, models=models)
            )
            return stack.enter_context(server)

        yield start


@pytest.fixture
def daimon(tmp_path: Path) -> Iterator[Daimon]:
    """Nothing of this machine is found."""
    (signs := tmp_path / "signs").mkdir()
    made = Daimon(tmp_path / "home", signs)
    for name in [name for name in made.environment if name.endswith(("_API_KEY", "_PROXY", "_proxy"))]:
        del made.environment[name]
    made.environment["OLLAMA_HOST"] = "127.0.0.1:1"
    yield made
    made.close()


def settings(daimon: Daimon) -> dict[str, Any]:
    return tomllib.loads((daimon.home / "daimon.toml").read_text())


def keys(daimon: Daimon) -> dict[str, str]:
    vault = keeper.opened(Home(daimon.home), {})
    return {entry.name: vault.reveal(entry.name, "test", entry.hosts[0]) for entry in vault.entries()}


def add_local(daimon: Daimon, server: ProviderServer, *more: str) -> Done:
    return daimon.run("model", "add", "--vendor", "ollama", "--base-url", f"{server.url}/v1", "--model", "qwen3", *more)


def add_unasked(daimon: Daimon, *words: str, given: bytes = b"") -> Done:
    return daimon.run("model", "add", "--vendor", "anthropic", "--model", "claude-sonnet-5-5", "--no-test", *words, given=given)


# -- adding


@pytest.mark.parametrize(("vendor", "path"), [("anthropic", ""), ("openai", "/v1"), ("google", ""), ("compatible", "/v1")])
def test_a_model_is_set_up_with_one_command_and_its_key_is_seen_nowhere(daimon: Daimon, serve: Serve, vendor: str, path: str) -> None:
    server = serve(Line(text="ok"), key=SECRET)
    url = server.url + path
    done = daimon.run(
        "model", "add", "mine", "--vendor", vendor, "--base-url", url, "--model", "qwen3", "--key-stdin", "--price", "1", "2.50",
        given=f"{SECRET}\n".encode(),
    )  # fmt: skip
    assert done.code == 0, done.err
    assert f"mine answers 'ok' as {vendor}:qwen3" in done.out
    assert "the order is now: reflex, mine" in done.out
    assert "the next start uses it" in done.err
    written = settings(daimon)
    assert written["model"]["use"] == ["reflex", "mine"]
    entry = {"vendor": vendor, "model": "qwen3", "base_url": url, "key": "mine", "price": {"input": 1, "output": 2.5}}
    assert written["models"]["mine"] == entry
    assert keys(daimon) == {"mine": SECRET}
    assert stat.S_IMODE((daimon.home / "vault.sealed").stat().st_mode) == 0o600
    assert SECRET not in done.out + done.err + (daimon.home / "daimon.toml").read_text()
    assert len(server.requests) == 1


def test_json_says_what_was_done(daimon: Daimon, serve: Serve) -> None:
    done = add_local(daimon, serve(Line(text="ok"), key=NO_KEY), "--json")
    told = json.loads(done.out)
    assert (told["name"], told["vendor"], told["use"], told["key"]) == ("qwen3", "ollama", ["reflex", "qwen3"], None)
    assert (told["price"], told["reloaded"]) == ("free", False)
    assert told["tested"]["text"] == "ok"
    assert any("taken as free" in remark for remark in told["remarks"])
    assert done.err == ""


def test_what_stood_in_the_file_stays(daimon: Daimon, serve: Serve) -> None:
    daimon.configure('# my settings\n[owner]\nname = "Ada" # me\n\n[model]\nuse = ["reflex"] # for now\nseed = 7\n')
    assert add_local(daimon, serve(key=NO_KEY)).code == 0
    text = (daimon.home / "daimon.toml").read_text()
    assert text.startswith('# my settings\n[owner]\nname = "Ada" # me\n\n[model]\nuse = ["reflex", "qwen3"] # for now\nseed = 7\n')


@pytest.mark.parametrize(
    ("flag", "order"),
    [
        ((), ["reflex", "new", "old"]),
        (("--first",), ["new", "reflex", "old"]),
        (("--last",), ["reflex", "old", "new"]),
        (("--no-use",), ["reflex", "old"]),
    ],
)
def test_the_place_in_the_order_can_be_said(daimon: Daimon, flag: tuple[str, ...], order: list[str]) -> None:
    daimon.configure('[model]\nuse = ["reflex", "old"]\n[models.old]\nvendor = "ollama"\nmodel = "m"\n')
    done = daimon.run("model", "add", "new", "--vendor", "ollama", "--model", "n", "--no-test", *flag)
    assert done.code == 0, done.err
    assert settings(daimon)["model"]["use"] == order
    assert "new" in settings(daimon)["models"]


def test_a_remote_model_without_a_price_is_unknown_and_a_local_one_free(daimon: Daimon) -> None:
    remote = daimon.run("model", "add", "far", "--base-url", "https://llm.example/v1", "--model", "x", "--no-test")
    local = daimon.run("model", "add", "near", "--base-url", "http://192.168.7.7:8000/v1", "--model", "x", "--no-test")
    assert settings(daimon)["models"]["far"]["price"] == "unknown"
    assert "you are asked before each call" in remote.err
    assert settings(daimon)["models"]["near"]["price"] == "free"
    assert "taken as free" in local.err
    assert "a proxy" not in local.err


def test_a_server_nearby_that_wants_a_key_is_neither_free_nor_local_unless_it_is_said(daimon: Daimon) -> None:
    words = ("--base-url", "http://127.0.0.1:4000/v1", "--model", "x", "--no-test", "--key-stdin")
    done = daimon.run("model", "add", "proxy", *words, given=SECRET.encode())
    assert "may be a proxy" in done.err
    assert settings(daimon)["models"]["proxy"]["price"] == "unknown"
    daimon.run("model", "add", "mine", *words, "--free", given=SECRET.encode())
    assert settings(daimon)["models"]["mine"]["price"] == "free"
    listed = json.loads(daimon.run("model", "list", "--json").out)["models"]
    assert {row["name"]: row["is_local"] for row in listed if row["model"]} == {"proxy": False, "mine": False}


def test_a_model_that_ollama_hands_on_is_not_taken_as_free(daimon: Daimon) -> None:
    daimon.run("model", "add", "far", "--vendor", "ollama", "--model", "glm-5:cloud-1m", "--no-test")
    assert settings(daimon)["models"]["far"]["price"] == "unknown"


def test_a_key_that_would_travel_in_the_open_is_remarked(daimon: Daimon) -> None:
    done = daimon.run("model", "add", "--base-url", "http://llm.example/v1", "--model", "x", "--no-test", "--key", SECRET)
    assert done.code == 0
    assert "unencrypted" in done.err
    assert "history of your shell" in done.err
    assert keys(daimon) == {"x": SECRET}


# -- keys


def test_a_key_may_stay_in_the_environment(daimon: Daimon) -> None:
    daimon.environment["MY_KEY"] = SECRET
    done = add_unasked(daimon, "--key-env", "MY_KEY")
    assert done.code == 0, done.err
    assert settings(daimon)["models"]["claude-sonnet-5-5"]["key"] == "env:MY_KEY"
    assert keys(daimon) == {}
    assert "must see that variable too" in done.err
    assert "MY_KEI is not set" in add_unasked(daimon, "--key-env", "MY_KEI").err


@pytest.mark.parametrize("key", ["sk-abc-123", "abcdefghijklmnopqrstu"])
def test_a_key_given_as_the_name_of_its_variable_is_not_repeated(daimon: Daimon, key: str) -> None:
    done = add_unasked(daimon, "--key-env", key)
    assert done.code == 4
    assert key not in done.out + done.err
    assert "the name of a variable, not the key" in done.err


def test_a_variable_of_the_vendor_is_taken_without_being_named(daimon: Daimon) -> None:
    daimon.environment["ANTHROPIC_API_KEY"] = SECRET
    assert add_unasked(daimon).code == 0
    assert settings(daimon)["models"]["claude-sonnet-5-5"]["key"] == "env:ANTHROPIC_API_KEY"


def test_a_vendors_key_is_not_sent_to_another_address_unasked(daimon: Daimon) -> None:
    daimon.environment["ANTHROPIC_API_KEY"] = SECRET
    done = add_unasked(daimon, "--base-url", "https://elsewhere.example")
    assert done.code == 4
    assert "needs a key" in done.err


def test_a_second_model_shares_the_vendors_key_and_another_key_gets_the_models_name(daimon: Daimon) -> None:
    assert add_unasked(daimon, "one", "--key-stdin", given=b"sk-1\n").code == 0
    assert add_unasked(daimon, "two").code == 0
    assert add_unasked(daimon, "three", "--key-stdin", given=b"sk-3\n").code == 0
    assert keys(daimon) == {"anthropic": "sk-1", "three": "sk-3"}
    assert [entry.get("key") for entry in settings(daimon)["models"].values()] == [None, None, "three"]


def test_the_same_model_again_replaces_its_key_and_nothing_else(daimon: Daimon) -> None:
    add_unasked(daimon, "one", "--key-stdin", "--price", "1", "2", given=b"sk-1\n")
    (file := daimon.home / "daimon.toml").write_text(file.read_text() + 'thinking = "low"\n')
    before = settings(daimon)
    assert add_unasked(daimon, "one", "--key-stdin", given=b"sk-2\n").code == 0
    assert keys(daimon) == {"anthropic": "sk-2"}
    assert settings(daimon) == before


# -- what goes wrong: a sentence, an exit code, and nothing written


@contextmanager
def unchanged(daimon: Daimon) -> Iterator[None]:
    daimon.configure(text := "# mine\n[owner]\nname = 'Ada'\n")
    yield
    assert (daimon.home / "daimon.toml").read_text() == text
    assert [file.name for file in daimon.home.iterdir()] == ["daimon.toml"]


def test_a_wrong_key(daimon: Daimon, serve: Serve) -> None:
    server = serve()
    with unchanged(daimon):
        words = ("model", "add", "--vendor", "anthropic", "--base-url", server.url, "--model", "qwen3", "--price", "1", "2", "--key-stdin")
        done = daimon.run(*words, given=SECRET.encode())
    assert (done.code, done.out) == (1, "")
    assert "refused the key" in done.err
    assert "check the key" in done.err
    assert "sets a new one" not in done.err
    assert SECRET not in done.err


def test_a_model_that_does_not_exist_with_those_that_do(daimon: Daimon, serve: Serve) -> None:
    server = serve(key=NO_KEY)
    with unchanged(daimon):
        done = daimon.run("model", "add", "--vendor", "ollama", "--base-url", f"{server.url}/v1", "--model", "quen3")
    assert done.code == 1
    assert "near to it are qwen3, qwen3-coder" in done.err


@pytest.fixture
def page(portal: BlockingPortal) -> Iterator[Website]:
    with portal.wrap_async_context_manager(website({}, WELCOME)) as site:
        yield site


@pytest.fixture
def hidden(portal: BlockingPortal) -> Iterator[Website]:
    """Models at /v1, and nothing elsewhere."""
    with portal.wrap_async_context_manager(website({"/v1/models": said({"object": "list", "data": [{"id": "m"}]})})) as site:
        yield site


def test_an_address_that_is_a_web_page(daimon: Daimon, page: Website) -> None:
    with unchanged(daimon):
        done = daimon.run("model", "add", "--base-url", page.url, "--model", "m")
    assert done.code == 1
    assert "web page" in done.err


def test_an_address_that_lacks_its_end(daimon: Daimon, hidden: Website) -> None:
    with unchanged(daimon):
        done = daimon.run("model", "add", "--base-url", hidden.url, "--model", "m")
    assert done.code == 1
    assert f"use --base-url {hidden.url}/v1" in done.err


def test_nobody_at_the_address(daimon: Daimon) -> None:
    with unchanged(daimon):
        done = daimon.run("model", "add", "--vendor", "llamacpp", "--base-url", "http://127.0.0.1:1/v1", "--model", "m")
    assert done.code == 1
    assert "cannot be reached" in done.err


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--vendor", "antropic"), "did you mean 'anthropic'?"),
        ((), "--vendor is missing"),
        (("--vendor", "compatible"), "--base-url is missing"),
        (("--vendor", "openai", "--model", "m"), "--key-stdin"),
        (("--vendor", "ollama", "--model", "m", "--price", "0", "0"), "--free"),
        (("--vendor", "ollama", "--model", "m", "--price", "1", "2", "--free"), "one way"),
        (("--vendor", "ollama", "--model", "m", "--first", "--last"), "one way"),
        (("--vendor", "openai", "--model", "m", "--key", "k", "--key-env", "K"), "one way"),
        (("--vendor", "ollama", "--model", "m", "--base-url", "host:8000"), "must look like"),
        (("reflex", "--vendor", "ollama", "--model", "m"), "choose another name"),
        (("a b", "--vendor", "ollama", "--model", "m"), "cannot be a name"),
    ],
)
def test_bad_input_is_told_with_the_remedy(daimon: Daimon, words: tuple[str, ...], told: str) -> None:
    with unchanged(daimon):
        done = daimon.run("model", "add", *words)
    assert (done.code, done.out) == (4, "")
    assert told in done.err


def test_a_missing_model_is_told_with_those_that_there_are(daimon: Daimon, serve: Serve) -> None:
    server = serve(key=NO_KEY)
    with unchanged(daimon):
        done = daimon.run("model", "add", "--vendor", "ollama", "--base-url", f"{server.url}/v1")
    assert done.code == 4
    assert "--model is missing; this provider has llama3.2:latest, qwen3, qwen3-coder" in done.err


def test_a_name_that_is_another_model_already(daimon: Daimon) -> None:
    assert daimon.run("model", "add", "mine", "--vendor", "ollama", "--model", "m", "--no-test").code == 0
    done = daimon.run("model", "add", "mine", "--vendor", "ollama", "--model", "n", "--no-test")
    assert done.code == 4
    assert "mine is ollama m already" in done.err


def test_settings_that_are_broken_are_refused_and_no_key_is_left(daimon: Daimon) -> None:
    daimon.configure("[owner\n")
    done = add_unasked(daimon, "--key-stdin", given=SECRET.encode())
    assert done.code == 78
    assert "not valid TOML" in done.err
    assert keys(daimon) == {}


def test_a_key_file_that_others_may_read_is_refused(daimon: Daimon) -> None:
    add_unasked(daimon, "--key-stdin", given=b"sk-1")
    (daimon.home / "vault.key").chmod(0o644)
    done = add_unasked(daimon, "two")
    assert done.code == 78
    assert "chmod 600" in done.err
    assert "two" not in settings(daimon)["models"]


def test_another_models_name_in_the_answer_is_remarked_and_kept(daimon: Daimon, serve: Serve) -> None:
    done = add_local(daimon, serve(Line(text="ok", fault=Fault("other_model")), key=NO_KEY))
    assert done.code == 0
    assert "somebody-else" in done.err
    assert 'model = "qwen3" # answered as somebody-else\n' in (daimon.home / "daimon.toml").read_text()


# -- the other commands

TWO = """\
[model]
use = ["reflex", "one", "two"]
[models.one]
vendor = "anthropic"
model = "claude-sonnet-5-5"
[models.two]
vendor = "anthropic"
model = "claude-sonnet-5-5"
"""


def test_the_list_shows_order_price_and_whether_a_key_is_there(daimon: Daimon) -> None:
    daimon.configure(TWO.replace('model = "claude-sonnet-5-5"\n', 'model = "claude-sonnet-5-5"\nprice = "unknown"\nkey = "env:K"\n', 1))
    rows = {row["name"]: row for row in json.loads(daimon.run("model", "list", "--json").out)["models"]}
    assert [(row["order"], row["lacks_key"]) for row in rows.values()] == [(1, False), (2, True), (3, True)]
    assert rows["one"]["price"] is None
    assert rows["two"]["price"]["source"].startswith("genai-prices")
    assert rows["two"]["context_tokens"] > 0
    daimon.environment["K"] = "k"
    table = daimon.run("model", "list").out
    assert "env:K" in table
    assert "missing" in table


def test_the_live_list_of_a_provider_is_shown(daimon: Daimon, serve: Serve) -> None:
    server = serve(key=NO_KEY)
    add_local(daimon, server, "--no-test")
    told = json.loads(daimon.run("model", "list", "--at", "qwen3", "--json").out)
    assert [row["model"] for row in told["models"]] == list(MODELS)
    assert "llama3.2:latest" in daimon.run("model", "list", "--at", "qwen3").out
    assert daimon.run("model", "list", "--at", "quen").code == 4
    assert "qwen3-coder" in daimon.run("model", "list", "--at", "vllm", "--base-url", f"{server.url}/v1").out
    assert "qwen3-coder" in daimon.run("model", "list", "--base-url", f"{server.url}/v1").out
    assert daimon.run("model", "list", "--at", "qwen3", "--base-url", f"{server.url}/v1").code == 4


def test_the_list_cuts_no_word_on_a_narrow_terminal(daimon: Daimon) -> None:
    daimon.configure(f'{TWO}[models.home]\nvendor = "ollama"\nmodel = "llama3.2"\nprice = "free"\n')
    terminal = Terminal(daimon, "model", "list", columns=80)
    try:
        lines = terminal.shown_until("no key")
    finally:
        terminal.close()
    shown = "\n".join(lines)
    assert "1. reflex  built in" in lines
    assert "2. one  anthropic:claude-sonnet-5-5" in lines
    assert "https://api.anthropic.com" in shown
    assert "-  home  ollama:llama3.2  (not in use)" in lines
    assert "free · http://127.0.0.1:11434/v1, at home" in shown
    assert max(map(len, lines)) <= 80


def test_a_model_that_is_set_up_is_tested(daimon: Daimon, serve: Serve) -> None:
    server = serve(Line(text="ok"), Line(text="ok"), Line(fault=Fault("503")), key=NO_KEY)
    add_local(daimon, server, "--no-test")
    assert "qwen3 answers 'ok'" in daimon.run("model", "test", "qwen3").out
    assert json.loads(daimon.run("model", "test", "qwen3", "--json").out)["text"] == "ok"
    broken = daimon.run("model", "test", "qwen3")
    assert (broken.code, broken.out) == (1, "")
    assert "overloaded" in broken.err
    assert broken.err.rstrip().endswith(": try again later")
    assert f"asking qwen3 at {server.url}/v1 … (Ctrl-C stops)" in broken.err
    assert daimon.run("model", "test", "nobody").code == 3


def test_the_order_is_set(daimon: Daimon) -> None:
    daimon.configure(TWO)
    assert "the order is now: two, reflex" in daimon.run("model", "use", "two", "reflex").out
    assert settings(daimon)["model"]["use"] == ["two", "reflex"]
    unknown = daimon.run("model", "use", "reflex", "onne")
    assert unknown.code == 3
    assert "did you mean 'one'?" in unknown.err
    assert daimon.run("model", "use", "one", "one").code == 4


def test_a_variable_that_overrules_the_order_is_named(daimon: Daimon) -> None:
    daimon.configure(TWO)
    daimon.environment["DAIMON_MODEL__USE"] = "two"
    done = daimon.run("model", "use", "one")
    assert "DAIMON_MODEL__USE" in done.err
    assert settings(daimon)["model"]["use"] == ["one"]


def test_the_price_is_set(daimon: Daimon) -> None:
    daimon.configure(TWO)
    assert "$3.00 in, $15.00 out" in daimon.run("model", "price", "one", "3", "15", "--cache-read", "0.30").out
    assert settings(daimon)["models"]["one"]["price"] == {"input": 3, "output": 15, "cache_read": 0.3}
    for flag, word in (("--free", "free"), ("--unknown", "unknown"), ("--library", "library")):
        assert daimon.run("model", "price", "one", flag).code == 0
        assert settings(daimon)["models"]["one"]["price"] == word
    for bad in (("0", "0"), ("3",), (), ("3", "15", "--free"), ("a", "b")):
        assert daimon.run("model", "price", "one", *bad).code == 4


def test_a_removed_model_takes_its_key_along_if_nobody_else_uses_it(daimon: Daimon) -> None:
    daimon.configure(TWO)
    assert add_unasked(daimon, "three", "--key-stdin", given=b"sk-1\n").code == 0
    assert daimon.run("model", "remove", "three").code == 0
    removed = daimon.run("model", "remove", "one")
    assert removed.code == 0
    assert "the next start does without it" in removed.err
    assert keys(daimon) == {"anthropic": "sk-1"}
    last = daimon.run("model", "remove", "two")
    assert "its key 'anthropic' is out of the vault too" in last.out
    assert keys(daimon) == {}
    assert settings(daimon) == {"model": {"use": ["reflex"]}}
    assert daimon.run("model", "remove", "two").code == 3


def test_a_model_that_a_route_needs_is_not_removed(daimon: Daimon) -> None:
    daimon.configure(f'{TWO}[[routes]]\nagents = ["a"]\nuse = ["one"]\n')
    done = daimon.run("model", "remove", "one")
    assert done.code == 4
    assert "route 1" in done.err
    assert "one" in settings(daimon)["models"]


# -- a gateway that runs


@contextmanager
def gateway(portal: BlockingPortal, socket: Path, answer: bytes) -> Iterator[None]:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with anyio.fail_after(DEADLINE_S):
            await reader.readline()
        writer.write(answer)
        writer.close()

    async def start() -> asyncio.Server:
        return await asyncio.start_unix_server(serve, socket)

    server = portal.call(start)
    try:
        yield
    finally:
        portal.call(server.close)


def test_a_running_gateway_uses_it_at_once(daimon: Daimon, serve: Serve) -> None:
    daimon.configure("")
    daimon.up()
    done = add_local(daimon, serve(Line(text="ok"), Line(text="Paris."), key=NO_KEY))
    assert "the running gateway uses it now" in done.err
    assert daimon.run("chat", "What is the capital of France, and why?").out == "Paris.\n"
    assert "the running gateway asks it no more" in daimon.run("model", "remove", "qwen3").err
    assert json.loads(daimon.run("model", "use", "reflex", "--json").out)["reloaded"] is True


def test_a_gateway_that_does_not_take_it_is_a_remark_since_the_change_is_made(daimon: Daimon, portal: BlockingPortal) -> None:
    daimon.configure(TWO)
    body = b'{"error": {"code": "misconfigured", "message": "no such model"}}'
    with gateway(portal, daimon.home / "daimon.sock", b"HTTP/1.1 500 No\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body)):
        done = daimon.run("model", "use", "one")
    assert done.code == 0
    assert "did not take it: no such model; restart it" in done.err


# -- at a terminal


@contextmanager
def sitting_at(daimon: Daimon, *words: str) -> Iterator[Terminal]:
    terminal = Terminal(daimon, "model", "add", *words)
    try:
        yield terminal
    finally:
        terminal.close()


def test_what_is_found_comes_first_and_enter_is_enough(daimon: Daimon, serve: Serve) -> None:
    server = serve(Line(text="ok"), key=NO_KEY)
    daimon.environment["OLLAMA_HOST"] = server.url
    with sitting_at(daimon) as terminal:
        terminal.wait_for(f"1  Ollama at {server.url}/v1 (llama3.2:latest, qwen3, qwen3-coder)")
        terminal.wait_for("Number or name [1]: ")
        terminal.type(b"\r")
        terminal.wait_for("price unknown")
        terminal.wait_for("[llama3.2:latest]: ")
        terminal.type(b"nothing\r")
        terminal.wait_for("no model has 'nothing' in its name")
        terminal.wait_for("]: ")
        terminal.type(b"wen\r")
        assert "llama" not in terminal.wait_for("2  qwen3-coder").partition("wen")[2]
        terminal.wait_for("]: ")
        terminal.type(b"2\r")
        terminal.wait_for("Price [free]: ")
        terminal.type(b"0 0\r")
        terminal.wait_for("--free")
        terminal.wait_for("Price [free]: ")
        terminal.type(b"\r")
        terminal.wait_for("call it [qwen3-coder]: ")
        terminal.type(b"my coder\r")
        terminal.wait_for("cannot be a name")
        terminal.wait_for("call it [qwen3-coder]: ")
        terminal.type(b"coder\r")
        terminal.wait_for("coder answers 'ok'")
        terminal.wait_for("the order is now: reflex, coder")
        assert terminal.process.wait(DEADLINE_S) == 0
    entry = {"vendor": "ollama", "model": "qwen3-coder", "base_url": f"{server.url}/v1", "price": "free"}
    assert settings(daimon)["models"] == {"coder": entry}


def test_a_key_is_typed_unseen_and_a_wrong_one_asked_again(daimon: Daimon, serve: Serve) -> None:
    server = serve(Line(text="ok"), key=SECRET)
    with sitting_at(daimon, "--vendor", "openai", "--base-url", f"{server.url}/v1") as terminal:
        terminal.wait_for("Key for OpenAI (it is not shown): ")
        terminal.type(b"sk-wrong-one\r")
        seen = terminal.wait_for("does not accept the key")
        terminal.wait_for("(it is not shown): ")
        terminal.type(f"{SECRET}\r".encode())
        seen += terminal.wait_for("[llama3.2:latest]: ")
        terminal.type(b"qwen3\r")
        terminal.wait_for("Price [unknown]: ")
        terminal.type(b"0.25 1.5\r")
        terminal.wait_for("call it [qwen3]: ")
        terminal.type(b"\r")
        seen += terminal.wait_for("the order is now: reflex, qwen3")
        assert terminal.process.wait(DEADLINE_S) == 0
    assert "sk-" not in seen
    assert keys(daimon) == {"qwen3": SECRET}
    assert settings(daimon)["models"]["qwen3"]["price"] == {"input": 0.25, "output": 1.5}


def test_an_address_that_is_wrong_is_asked_again(daimon: Daimon, serve: Serve, page: Website) -> None:
    server = serve(key=NO_KEY)
    with sitting_at(daimon, "--vendor", "compatible") as terminal:
        terminal.wait_for("8000/v1: ")
        terminal.type(f"{page.url}\r".encode())
        terminal.wait_for("(Enter: none; it is not shown): ")
        terminal.type(b"\r")
        terminal.wait_for("is the address right?")
        terminal.wait_for(f"Its address [{page.url}]: ")
        terminal.type(f"{server.url}/v1\r".encode())
        terminal.wait_for("(Enter: none; it is not shown): ")
        terminal.type(b"\r")
        terminal.wait_for("[llama3.2:latest]: ")
        terminal.press(CTRL_C, "nothing was written")
        assert terminal.process.wait(DEADLINE_S) == 130
    assert not daimon.home.exists()


@pytest.mark.parametrize(("answer", "key", "kept"), [(b"\r", "env:ANTHROPIC_API_KEY", {}), (b"2\r", None, {"anthropic": SECRET})])
def test_a_key_of_the_environment_is_used_or_copied(daimon: Daimon, answer: bytes, key: str | None, kept: dict[str, str]) -> None:
    daimon.environment["ANTHROPIC_API_KEY"] = SECRET
    with sitting_at(daimon, "--model", "claude-sonnet-5-5", "--no-test") as terminal:
        terminal.wait_for("1  Anthropic, with ANTHROPIC_API_KEY of the environment")
        terminal.wait_for("Number or name [1]: ")
        terminal.type(b"\r")
        terminal.wait_for("2  copy the key into the vault")
        terminal.wait_for("Number [1]: ")
        terminal.type(answer)
        terminal.wait_for("call it [claude-sonnet-5-5]: ")
        terminal.type(b"\r")
        terminal.wait_for("is set up in")
        assert terminal.process.wait(DEADLINE_S) == 0
    assert settings(daimon)["models"]["claude-sonnet-5-5"].get("key") == key
    assert keys(daimon) == kept


def test_ctrl_d_leaves_and_nothing_is_written(daimon: Daimon) -> None:
    with sitting_at(daimon) as terminal:
        terminal.wait_for("Number or name [1]: ")
        terminal.type(b"antropic\r")
        terminal.wait_for("did you mean 'anthropic'?")
        terminal.wait_for("Number or name [1]: ")
        terminal.type(CTRL_D)
        terminal.wait_for("nothing was written")
        assert terminal.process.wait(DEADLINE_S) == 130
    assert not daimon.home.exists()
