"""Who answers what servers ask, put together: signing for all, and the rest where somebody is there to answer."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

from daimon import config, workshop
from daimon.abi.ports import Clock
from daimon.abi.web import Web
from daimon.machine.clock import SystemClock
from daimon.machine.home import Home
from daimon.mcp.hooks import Hooks
from daimon.mcp.oauth.asking import Asking
from daimon.mcp.oauth.keeping import Keeping
from daimon.mcp.oauth.login import Login
from daimon.mcp.oauth.tokens import Tell, Tokens
from daimon.mcp.sampling import Samples
from daimon.mcp.talks import Talks
from daimon.vault.store import Vault

Hooking = Callable[[str, config.Server], Hooks]


async def nobody(words: str) -> None:
    """Whoever runs the command reads the error."""


def signing_only(home: Path, vault: Vault, web: Web, clock: Clock, tell: Tell = nobody) -> Hooking:
    """Servers that ask anything else are told that nobody is there."""
    tokens = Tokens(Keeping(home, vault), Asking(web), clock, tell)

    def hooks(name: str, server: config.Server) -> Hooks:
        if not (server.oauth and server.url):
            return Hooks()
        from daimon.mcp.oauth.signing import Signing

        return Hooks(auth=Signing(tokens, vault, name, server.url), lacks=partial(tokens.lacking, name, server.url))

    return hooks


def answering(signing: Hooking, talks: Talks, clock: Clock) -> Hooking:
    """Where there is an owner to be asked, and a model to think."""
    samples = Samples(talks, clock)

    def hooks(name: str, server: config.Server) -> Hooks:
        return replace(signing(name, server), elicit=talks.elicit(name), sample=samples.sample(name) if server.sampling else None)

    return hooks


def login_of(home: Home, settings: config.Settings, vault: Vault) -> Login:
    """For a person at a terminal."""
    clock = SystemClock()
    web = workshop.Workshop(workshop.sandboxes_of(settings, home), vault, clock).web()
    return Login(Asking(web), Keeping(home.path, vault), clock)
