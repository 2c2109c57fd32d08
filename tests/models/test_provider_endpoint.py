"""What follows from how a model was set up."""

import pytest

from daimon.abi.errors import Misconfigured, ProviderFailed
from daimon.models.credential import Given
from daimon.models.endpoint import Endpoint
from daimon.models.vendors import VENDORS


def made(vendor="compatible", base_url="http://127.0.0.1:8000/v1", model="m", **changes):
    return Endpoint(name="mine", vendor=vendor, model=model, base_url=base_url, **changes)


def test_the_key_is_not_shown():
    assert "sesame" not in repr(made(key=Given("sesame")))


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "localhost", "10.1.2.3", "192.168.0.9", "172.20.0.1", "[::1]", "[fd00::1]", "nas.local", "box.home.arpa"]
)
def test_words_to_a_server_in_the_house_stay_there(host):
    assert made(base_url=f"http://{host}:8000/v1").stays_home


@pytest.mark.parametrize("host", ["api.example.org", "8.8.8.8", "172.32.0.1", "nas", "local", "localhost.example.org", "169.254.169.254"])
def test_words_to_anybody_else_do_not(host):
    assert not made(base_url=f"http://{host}/v1").stays_home


def test_a_name_nearby_does_not_hide_who_really_answers():
    assert not made("openai").stays_home
    assert made("ollama", model="qwen3").stays_home
    assert made("openai", is_local=True).stays_home
    assert not made(is_local=False).stays_home


@pytest.mark.parametrize("model", ["gpt-oss:120b-cloud", "glm-5:cloud", "glm-5:cloud-1m", "glm-5:Cloud", "somebody/glm-5:1t-cloud-1m"])
def test_a_model_that_ollama_hands_on_to_its_servers_is_not_at_home(model):
    assert not made("ollama", model=model).stays_home


@pytest.mark.parametrize("model", ["cloudy:8b", "qwen3:8b", "cloud-llama:8b", "hf.co/some-cloud/qwen3:8b"])
def test_a_model_that_ollama_runs_is_at_home(model):
    assert made("ollama", model=model).stays_home


def test_a_server_that_wants_a_key_may_be_a_proxy_unless_the_owner_says_otherwise():
    for vendor in ("compatible", "ollama", "lmstudio", "llamacpp", "vllm"):
        assert not made(vendor, key=Given("sesame")).stays_home
        assert made(vendor).stays_home
        assert made(vendor, key=Given("sesame"), is_local=True).stays_home


def test_servers_that_anybody_runs_fail_one_by_one_and_vendors_as_a_whole():
    assert made("anthropic", "http://127.0.0.1:1").provider == "anthropic"
    assert made("ollama", None).provider == "ollama"
    assert made("ollama", "http://u:p@nas.local:11434/v1").provider == "ollama@nas.local:11434"


def test_an_address_is_shown_without_its_password():
    assert made(base_url="http://u:p@nas.local:1/v1/").host == "http://nas.local:1"
    assert made(base_url="http://u:p@nas.local:1/v1/").place == "http://nas.local:1/v1"
    assert made(base_url="http://nas.local/v1/").address == "http://nas.local/v1"


def test_images_and_calls_in_texts_are_expected_where_they_are_usual():
    assert [name for name in VENDORS if made(name).takes_images] == ["anthropic", "openai", "google"]
    assert made("openrouter", model="google/gemini-3.8-flash").takes_images
    assert [name for name in VENDORS if made(name).finds_text_calls] == ["ollama", "lmstudio", "llamacpp", "vllm", "compatible"]
    assert made("ollama", has_images=True).takes_images
    assert made("openai", reads_text_calls=True).finds_text_calls


def test_a_key_with_a_line_break_is_refused_without_being_shown():
    with pytest.raises(ProviderFailed, match="no key has") as refused:
        made(key=Given("sesame\n")).credentials()
    assert "sesame" not in str(refused.value)


@pytest.mark.parametrize(
    ("vendor", "base_url", "says"),
    [("nobody", None, "no vendor 'nobody'"), ("compatible", None, "needs a base_url"), ("ollama", "127.0.0.1:1", "no address")],
)
def test_what_cannot_be_reached_is_said_at_once(vendor, base_url, says):
    with pytest.raises(Misconfigured, match=says):
        made(vendor, base_url)
