"""The whole tree: every section, with its name in the file."""

from typing import Annotated
from zoneinfo import ZoneInfo

from pydantic import Field

from daimon.config.agents import Agent
from daimon.config.backup import Backup
from daimon.config.branch import Branch
from daimon.config.budget import Budget
from daimon.config.calendars import Calendar
from daimon.config.channels import Channels
from daimon.config.context import Context, Memory
from daimon.config.gateway import Gateway
from daimon.config.kernel import Kernel, Limits
from daimon.config.models import Model, ModelEntry, Route
from daimon.config.owner import Owner, system_zone
from daimon.config.people import Asking, People
from daimon.config.sandbox import Floor, Network, Sandbox
from daimon.config.servers import Server
from daimon.config.skills import Skills


class Settings(Branch):
    owner: Owner = Owner()
    gateway: Gateway = Gateway()
    model: Model = Model()
    models: dict[str, ModelEntry] = {}
    """By the names that you give them."""
    routes: tuple[Route, ...] = ()
    budget: Budget = Budget()
    agents: dict[str, Agent] = {}
    """By name."""
    kernel: Kernel = Kernel()
    limits: Limits = Limits()
    asking: Asking = Asking()
    people: People = People()
    floor: Floor = Floor()
    context: Context = Context()
    memory: Memory = Memory()
    sandbox: Sandbox = Sandbox()
    network: Network = Network()
    channels: Channels = Channels()
    backup: Backup = Backup()
    skills: Skills = Skills()
    mcp: dict[Annotated[str, Field(pattern=r"^[a-z][a-z0-9]{0,31}$")], Server] = {}
    """Servers of the Model Context Protocol, by the names that you give them."""
    calendars: dict[Annotated[str, Field(pattern=r"^[a-z][a-z0-9]{0,31}$")], Calendar] = {}
    """By the names that you give them."""
    extensions: tuple[str, ...] = ()
    """Python modules with a function `extend(kit)`, which may add tools, models and channels."""


def zone(settings: Settings) -> ZoneInfo:
    return ZoneInfo(settings.owner.timezone or system_zone())


def local_hosts(settings: Settings) -> dict[str, tuple[str, int]]:
    pairs = {name.lower(): address.rpartition(":") for name, address in settings.network.local.items()}
    return {name: (host.strip("[]"), int(port)) for name, (host, _, port) in pairs.items()}
