"""A whole Daimon with two models of a real server on loopback: one talks, the other sums up."""

import asyncio
from pathlib import Path

import pytest
from tests.gateway.live import DEADLINE_S, Live

from daimon import boot, config
from daimon.abi.errors import Misconfigured
from daimon.machine.home import Home
from daimon.testing.provider.line import Line
from daimon.testing.provider.server import KEY, ProviderServer

LONG = "and so on " * 400


def settings(url: str, summarizer: str = "cheap") -> config.Settings:
    def entry(model: str) -> config.ModelEntry:
        return config.ModelEntry(vendor="openai", model=model, base_url=f"{url}/v1", key="env:MY_KEY")

    return config.Settings(
        models={"main": entry("big"), "cheap": entry("small")}, model=config.Model(use="main"), kernel=config.Kernel(drain_s=0),
        memory=config.Memory(embeddings="off"), budget=config.Budget(unknown_price="allow"),
        context=config.Context(budget_tokens=6_000, recall_tokens=0, summarizer=summarizer),
    )  # fmt: skip


async def test_the_model_that_is_named_is_asked_about_what_left_the_window(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", KEY)
    async with (
        asyncio.timeout(4 * DEADLINE_S),
        ProviderServer([Line("noted")] * 60) as server,
        boot.running(home := Home(tmp_path), settings(server.url), port=0) as daimon,
    ):
        live = Live(home, daimon.url, home.token())
        while not (summed := [seen for seen in server.requests if "[turns]" in str(seen.body)]):
            await asyncio.to_thread(live.ask, f"{len(server.requests)}: {LONG}", "main")
    assert b'"small"' in summed[0].body
    assert b'"tools"' not in summed[0].body


async def test_a_summarizer_that_is_no_model_is_said(tmp_path: Path) -> None:
    with pytest.raises(Misconfigured, match=r"context\.summarizer names 'nobody'"):
        async with boot.running(Home(tmp_path), settings("http://127.0.0.1:1", "nobody"), port=0):
            pass
