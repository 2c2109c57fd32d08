"""The one settings tree: defaults, then daimon.toml, then DAIMON_SECTION__KEY variables.

Unknown keys are errors, and an error says which key, in which file, what was found and what was expected. Each file holds the sections of
one subject, `tree.py` puts them together, `reading.py` fills them. Whoever puts parts together reads this; each part gets its own branch.
"""

from daimon.config.agents import Agent
from daimon.config.backup import OFF, Backup
from daimon.config.budget import NONE, Budget, Purse
from daimon.config.calendars import Calendar
from daimon.config.channels import Channels, Mail, Matrix, Slack, Telegram
from daimon.config.context import Context, Memory
from daimon.config.environment import PREFIX
from daimon.config.gateway import Gateway
from daimon.config.kernel import Kernel, Limits
from daimon.config.models import Model, ModelEntry, Price, Route
from daimon.config.owner import Owner, system_zone
from daimon.config.people import Asking, People
from daimon.config.reading import load, settings_of
from daimon.config.sandbox import Floor, Network, Sandbox
from daimon.config.servers import SaysOfTool, Server
from daimon.config.skills import Skills
from daimon.config.tree import Settings, local_hosts, zone
from daimon.config.wrong import without_shapes
from daimon.homes import Home, home_at

__all__ = [
    "NONE",
    "OFF",
    "PREFIX",
    "Agent",
    "Asking",
    "Backup",
    "Budget",
    "Calendar",
    "Channels",
    "Context",
    "Floor",
    "Gateway",
    "Home",
    "Kernel",
    "Limits",
    "Mail",
    "Matrix",
    "Memory",
    "Model",
    "ModelEntry",
    "Network",
    "Owner",
    "People",
    "Price",
    "Purse",
    "Route",
    "Sandbox",
    "SaysOfTool",
    "Server",
    "Settings",
    "Skills",
    "Slack",
    "Telegram",
    "home_at",
    "load",
    "local_hosts",
    "settings_of",
    "system_zone",
    "without_shapes",
    "zone",
]
