"""The tools that a start with these settings has, and whoever serves their calls.

A tool of Daimon's own is a factory in `tools/` and its name in `registry_of`. Tools of extensions come after, and are known as not our own.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from daimon import config, daybook, extension, workshop
from daimon.abi.calendar import Calendars
from daimon.abi.files import FilesOf
from daimon.abi.ids import AgentId, PrincipalId
from daimon.abi.memory import Memory, Texts
from daimon.abi.ports import Store, Timers
from daimon.abi.progress import Progress
from daimon.abi.resources import Resources
from daimon.abi.terminal import Bench, Outputs, Services
from daimon.abi.tool import Manifest, Tool
from daimon.abi.web import Web
from daimon.heartbeat.drafting import drafted
from daimon.machine.home import Home
from daimon.memory.graph import limits
from daimon.tools.automations import Listing, automation_tools
from daimon.tools.calendar import calendar_tools
from daimon.tools.clock import clock_tools
from daimon.tools.facts import fact_tools
from daimon.tools.files import file_tools
from daimon.tools.finding import finding_tools
from daimon.tools.focus import focus_tools
from daimon.tools.graph import graph_tools
from daimon.tools.hooks import hook_tools
from daimon.tools.mail import mail_tools
from daimon.tools.notes import notes_tools
from daimon.tools.people import people_tools
from daimon.tools.planning import planning_tools
from daimon.tools.quarantine import quarantine_tools
from daimon.tools.registry import Registry
from daimon.tools.reminders import reminder_tools
from daimon.tools.services import service_tools
from daimon.tools.shell import shell_tools
from daimon.tools.status import Counter, status_tools
from daimon.tools.terminal import Served as Terminal
from daimon.tools.terminal import terminal_tools
from daimon.tools.web import web_tools


class Stored(Timers, Counter, Listing, Protocol):
    """The journal, as tools see it."""


CALENDARS = "calendars"
"""The group of their tools."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """Whoever serves the calls of Daimon's own tools."""

    memory: Memory
    texts: Texts
    stored: Stored
    boxes: Resources[Bench]
    can_read: Callable[[], bool]
    outputs: Outputs
    services: Services
    progress: Progress
    files: FilesOf
    blobs: Store
    offered: Callable[[AgentId, PrincipalId], tuple[Manifest, ...]]
    web: Web
    calendars: Calendars | None = None


def registry_of(settings: config.Settings, kit: extension.Kit, sandboxes: workshop.Sandboxes, served: Served) -> Registry:
    known_of = (*fact_tools(), *graph_tools(served.memory, limits.check))
    kept = (*notes_tools(served.memory, served.texts), *known_of, *reminder_tools(served.stored), *status_tools(served.stored))
    zone = str(config.zone(settings))
    by_itself = automation_tools(served.stored, lambda draft, now: drafted(draft, now, zone))
    looking = tuple(each for each in web_tools(served.web, served.blobs) if settings.network.requests or not each.manifest.is_consequential)
    own = (*clock_tools(zone), *people_tools(), *focus_tools(served.memory), *hook_tools(), *looking, *kept, *by_itself)
    planned = planned_of(settings, served.calendars)
    writing = mail_tools() if settings.channels.mail is not None else ()
    examining = () if settings.context.hold == "never" else quarantine_tools(served.can_read)
    running = _running(sandboxes, served) if sandboxes.can_be_made else ()
    # Without anything consequential there is nothing to plan, and no word of it in prompts.
    acting = any(tool.manifest.is_consequential for tool in (*looking, *planned, *writing, *running, *kit.tools))
    planning = planning_tools(lambda: registry.names()) if acting else ()
    finding = finding_tools(served.offered, lambda name: registry.is_told_by_us(name))
    registry = Registry((*own, *writing, *examining, *finding, *planning, *running), kit.tools)
    registry.put(CALENDARS, planned)
    return registry


def planned_of(settings: config.Settings, calendars: Calendars | None) -> tuple[Tool, ...]:
    """The tools for calendars, a group that comes and goes with the settings. None of them: none of these."""
    return () if calendars is None else calendar_tools(calendars, str(config.zone(settings)), daybook.is_shared(settings))


def _running(sandboxes: workshop.Sandboxes, served: Served) -> tuple[Tool, ...]:
    terminals = terminal_tools(Terminal(served.boxes, served.outputs, served.progress))
    running = (*terminals, *service_tools(served.services), *shell_tools(served.boxes, sandboxes.places()))
    return (*file_tools(served.files, served.blobs), *running)


def manifests(settings: config.Settings, home: Home) -> tuple[Manifest, ...]:
    """Of all tools that a start with these settings would have, to look at."""
    nobody: Any = None  # a manifest is made without whoever serves its calls
    served = Served(
        memory=nobody, texts=nobody, stored=nobody, boxes=nobody, can_read=bool, outputs=nobody, services=nobody, progress=nobody,
        files=nobody, blobs=nobody, offered=nobody, web=nobody, calendars=daybook.calendars_of(settings, nobody),
    )  # fmt: skip
    return registry_of(settings, extension.load(settings.extensions), workshop.sandboxes_of(settings, home), served).manifests()
