"""Whoever changes how the home is set up while it runs: what stands behind the settings of the page."""

import os
from contextlib import AsyncExitStack
from functools import partial

from daimon.boot.control import Whole
from daimon.gateway.introductions import Introductions
from daimon.gateway.room.settings import Steward
from daimon.mcp.desk import Desk
from daimon.mcp.oauth.asking import Asking
from daimon.mcp.oauth.keeping import Keeping
from daimon.mcp.oauth.login import Login
from daimon.steward.backups import HomeBackups
from daimon.steward.budgets import HomeBudgets
from daimon.steward.channels import HomeChannels, Switchgear
from daimon.steward.estate import Estate
from daimon.steward.models import HomeModels
from daimon.steward.policies import Court, HomePolicies
from daimon.steward.secrets import HomeSecrets
from daimon.steward.servers import HomeServers
from daimon.steward.standing import standing


def make_steward(stack: AsyncExitStack, whole: Whole, introductions: Introductions) -> Steward:
    ground, supervisor, mind = whole.ground, whole.post.supervisor, whole.knowledge.mind
    estate = Estate(ground.home, os.environ, ground.vault, whole.reload)
    backups = HomeBackups(estate, ground.clock, lambda: whole.heart.backups.warnings)
    stack.push_async_callback(backups.close)
    court = Court(whole.gate.laws, whole.gate.registry.manifests, lambda: mind.settings, ground.clock.now)
    login = Login(Asking(whole.workplace.shop.web()), Keeping(ground.home.path, ground.vault), ground.clock)
    return Steward(
        models=HomeModels(estate),
        channels=HomeChannels(estate, Switchgear(whole.lines, supervisor.poke, ground.journal, introductions)),
        secrets=HomeSecrets(estate),
        policies=HomePolicies(estate, court),
        budgets=HomeBudgets(estate, ground.journal, whole.accounts),
        backups=backups,
        servers=HomeServers(estate, Desk(whole.servers, ground.clock), login),
        standing=partial(standing, estate),
    )
