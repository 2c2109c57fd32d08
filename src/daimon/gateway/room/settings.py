"""All routes of the settings and of the first run, on one set of ports that boot fills."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from daimon.abi.automation import Clerk
from daimon.abi.ports import Overview
from daimon.gateway.entry import Entry
from daimon.gateway.room.settings_backup import BackupRoutes, Backups
from daimon.gateway.room.settings_budget import BudgetRoutes, Budgets
from daimon.gateway.room.settings_channels import ChannelRoutes, Channels
from daimon.gateway.room.settings_models import ModelRoutes, Models
from daimon.gateway.room.settings_policies import Policies, PolicyRoutes
from daimon.gateway.room.settings_secrets import SecretRoutes, Secrets
from daimon.gateway.room.setup import SetupRoutes, Standing
from daimon.gateway.servers import Household


@dataclass(frozen=True, slots=True)
class Steward:
    """Whoever changes how this home is set up."""

    models: Models
    channels: Channels
    secrets: Secrets
    policies: Policies
    budgets: Budgets
    backups: Backups
    servers: Household
    standing: Callable[[], Awaitable[Standing]]


@dataclass(frozen=True, slots=True)
class SettingsRoutes:
    steward: Steward
    overview: Overview
    clerk: Clerk

    def all(self) -> tuple[Entry, ...]:
        behind = self.steward
        return (
            *ModelRoutes(behind.models).all(),
            *ChannelRoutes(behind.channels).all(),
            *SecretRoutes(behind.secrets).all(),
            *PolicyRoutes(behind.policies).all(),
            *BudgetRoutes(behind.budgets).all(),
            *BackupRoutes(behind.backups).all(),
            *SetupRoutes(behind.standing, self.overview, self.clerk).all(),
        )
