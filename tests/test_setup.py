from pathlib import Path

import anyio
import pytest
from tests.models.website import HOST

from daimon import config, keeper, setup
from daimon.abi.errors import BadInput, ProviderFailed
from daimon.machine.home import Home
from daimon.models.credential import Given
from daimon.setup import Place, Setup, Wanted, placed
from daimon.testing.provider.line import Fault, Line
from daimon.testing.provider.server import KEY, ProviderServer

NOBODY = f"{HOST}:1"


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "my home")


@pytest.mark.parametrize(
    ("fault", "told"),
    [
        ("429", ": try again later"),
        ("500", ": try again later"),
        ("529", ": try again later"),
        ("408", ": try again later"),
        ("cut", ": try again"),
        ("empty", ": try again"),
        ("401", ": check the key"),
        ("402", ": the account there needs money or a higher limit"),
    ],
)
async def test_a_failed_test_promises_nothing_that_nobody_does(home: Home, fault: str, told: str) -> None:
    async with ProviderServer([Line(fault=Fault(fault))], models=("m",)) as server:
        entry = config.ModelEntry(vendor="openai", model="m", base_url=f"{server.url}/v1")
        with anyio.fail_after(60), pytest.raises(ProviderFailed) as failed:
            await Setup(home, {}).test(Wanted("mine", entry, Given(KEY)))
    assert str(failed.value).endswith(told)
    assert "tried again" not in str(failed.value)


async def test_a_key_whose_variable_is_not_set_here_is_told_by_its_name(home: Home) -> None:
    entry = config.ModelEntry(vendor="anthropic", model="m", key="env:MY_KEY")
    with pytest.raises(ProviderFailed, match=r"the variable MY_KEY is not set in this environment$"):
        await Setup(home, {}).test(Wanted("mine", entry))


async def test_a_model_that_does_not_exist_comes_with_a_command_that_lists_those_that_do(home: Home) -> None:
    async with ProviderServer(key="none", models=tuple(f"model-{n}" for n in range(9))) as server:
        url = f"{server.url}/v1"
        entry = config.ModelEntry(vendor="vllm", model="modal", base_url=url)
        opened = Setup(home, {})
        command = f"daimon model list --home '{home.path}' --at"
        with pytest.raises(ProviderFailed) as failed:
            await opened.test(Wanted("mine", entry))
        assert f"; `{command} vllm --base-url {url}` shows all" in str(failed.value)
        assert len(await opened.offers(opened.at("vllm", url))) == 9
        opened.add(Wanted("mine", entry), "usual")
        with pytest.raises(ProviderFailed) as failed:
            await opened.test(opened.wanted("mine"))
        assert f"; `{command} mine` shows all" in str(failed.value)
        assert len(await opened.offers(opened.at("mine"))) == 9


def test_a_vendors_key_is_not_shown_to_another_address(home: Home) -> None:
    opened = Setup(home, {"OPENAI_API_KEY": "sk-secret"})
    assert opened.at("openai").key == Given("sk-secret")
    assert opened.at("openai", "https://elsewhere.example/v1").key is None
    with pytest.raises(BadInput, match="--base-url is missing"):
        opened.at("compatible")


def test_a_new_key_never_replaces_a_secret_that_happens_to_have_the_models_name(home: Home) -> None:
    home.ensure()
    vault = keeper.opened(home, {})
    vault.add("mine", "ghp_something_else", keeper.Scope(hosts=("api.github.com",), agents=("*",)))
    opened = Setup(home, {})
    entry = config.ModelEntry(vendor="compatible", model="m", base_url="https://llm.example/v1")
    kept_as = opened.key_name(entry, "mine", "sk-new")
    opened.add(Wanted("mine", entry.model_copy(update={"key": kept_as}), Given("sk-new"), is_new_key=True), "usual")
    assert kept_as == "mine-2"
    assert vault.reveal("mine", "test", "api.github.com") == "ghp_something_else"
    assert vault.reveal("mine-2", "test", "llm.example") == "sk-new"
    assert opened.remove("mine") == "mine-2"


def test_a_secret_that_an_entry_names_as_such_stays_when_the_model_goes(home: Home) -> None:
    home.ensure()
    vault = keeper.opened(home, {})
    vault.add("shared", "sk-shared-key", keeper.Scope(hosts=("llm.example",)))
    opened = Setup(home, {})
    opened.add(
        Wanted("mine", config.ModelEntry(vendor="compatible", model="m", base_url="https://llm.example/v1", key="vault:shared")), "usual"
    )
    assert opened.rows()[-1].key == "vault:shared"
    assert opened.remove("mine") == ""
    assert vault.has("shared")


async def offers(home: Home, settings: config.Settings, environment: dict[str, str]) -> list[str]:
    with anyio.fail_after(60):
        return [line for line in await setup.offers(home, settings, environment) if "API_KEY" in line or "Ollama" in line]


async def test_an_owner_without_a_model_is_told_what_is_here_and_how_to_take_it(home: Home) -> None:
    async with ProviderServer(models=("bad; name", "llama3.2:latest")) as server:
        environment = {"ANTHROPIC_API_KEY": "sk-secret", "OLLAMA_HOST": server.url}
        lines = await offers(home, config.Settings(), environment)
    command, url = f"daimon model add --home '{home.path}'", f"{server.url}/v1"
    assert lines == [
        f"found  ANTHROPIC_API_KEY in the environment: {command} --vendor anthropic --key-env ANTHROPIC_API_KEY",
        f"found  Ollama at {url}: {command} --vendor ollama --base-url {url} --model llama3.2:latest",
    ]


async def test_an_owner_with_a_model_is_left_alone(home: Home) -> None:
    environment = {"ANTHROPIC_API_KEY": "sk-secret", "OLLAMA_HOST": NOBODY}
    used = config.Settings(model=config.Model(use=("reflex", "mine")))
    entry = config.ModelEntry(vendor="ollama", model="m")
    assert await offers(home, used, environment) == []
    assert await offers(home, config.Settings(models={"mine": entry}), environment) == []
    assert len(await offers(home, config.Settings(), environment)) == 1


@pytest.mark.parametrize(
    ("use", "place", "order"),
    [
        (("reflex",), "usual", ("reflex", "new")),
        (("reflex", "a"), "usual", ("reflex", "new", "a")),
        (("a", "b"), "usual", ("new", "a", "b")),
        (("a", "reflex"), "usual", ("a", "reflex", "new")),
        (("reflex", "a", "new"), "usual", ("reflex", "a", "new")),
        (("reflex", "a"), "first", ("new", "reflex", "a")),
        (("reflex", "new", "a"), "last", ("reflex", "a", "new")),
        (("reflex", "a"), "none", ("reflex", "a")),
    ],
)
def test_a_new_model_takes_its_place(use: tuple[str, ...], place: Place, order: tuple[str, ...]) -> None:
    assert placed(use, "new", place) == order


def test_a_name_is_made_from_the_model_and_is_free(home: Home) -> None:
    opened = Setup(home, {})
    assert opened.free_name("anthropic/claude-sonnet-5.5") == "claude-sonnet-5.5"
    assert opened.free_name("Llama3.2:latest") == "llama3.2"
    assert opened.free_name("reflex") == "reflex-2"
    assert opened.free_name("漢字") == "model"


@pytest.mark.parametrize("name", ["reflex", "", "a b", "a,b", "../x", "-x", "x" * 65])
def test_a_name_that_would_not_do_is_refused(home: Home, name: str) -> None:
    with pytest.raises(BadInput):
        Setup(home, {}).check_name(name, "ollama", "m")
