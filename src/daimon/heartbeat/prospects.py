"""Will it come to anything? What an automation needs may be set up later, so nothing is refused here; but its owner hears what is missing
now, and not after weeks of silence. What can never work is refused before (`drafting.py`).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from daimon.abi.automation import Automation
from daimon.abi.hook import Hooks
from daimon.abi.ids import HOME_SPACE
from daimon.abi.watch import WatchHook, WatchMailbox

MAIL = "mail"
BUILT_IN = "reflex"
ONLY_BUILT_IN = "only the small built-in model is set up; it stays silent here: `daimon model add` connects one"


@dataclass(frozen=True, slots=True)
class Setup:
    """What is there now."""

    channels: frozenset[str]
    models: frozenset[str]
    hooks: Mapping[str, str] = field(default_factory=dict)
    """Their modes, by name."""
    has_only_built_in: bool = False


async def setup_of(hooks: Hooks, channels: frozenset[str], models: frozenset[str], *, has_only_built_in: bool) -> Setup:
    """The same whether somebody runs this home or not."""
    modes = {each.hook.name: each.hook.mode for each in await hooks.hooks(HOME_SPACE)}
    return Setup(channels, models, modes, has_only_built_in)


def doubts(automation: Automation, setup: Setup) -> tuple[str, ...]:
    """Each says what is missing and what to do."""
    found = (_of_place(automation, setup), _of_watch(automation, setup), _of_model(automation, setup))
    return tuple(each for each in found if each)


def _of_place(automation: Automation, setup: Setup) -> str:
    if automation.to is None or automation.to.channel in setup.channels:
        return ""
    name, known = automation.to.channel[:60], ", ".join(sorted(setup.channels))
    return f"no channel {name!r} is set up yet (there are: {known}); results cannot go there until it is: `daimon channel add`"


def _of_watch(automation: Automation, setup: Setup) -> str:
    match automation.watch:
        case WatchMailbox() if MAIL not in setup.channels:
            return "no mail channel is set up yet, so each look fails: `daimon channel add mail`"
        case WatchHook(hook=name) if name not in setup.hooks:
            return f"there is no webhook {name[:60]!r} yet, so each look fails: `daimon hooks add {name[:60]} --collect` makes it"
        case WatchHook(hook=name) if setup.hooks[name] != "collect":
            return f"the webhook {name} begins a turn with each delivery and keeps none for this; make it with --collect"
        case _:
            return ""


def _of_model(automation: Automation, setup: Setup) -> str:
    if automation.model and automation.model not in setup.models:
        known = ", ".join(sorted(setup.models))
        return f"no model {automation.model[:60]!r} is set up yet (there are: {known}); others answer until it is: `daimon model add`"
    return ONLY_BUILT_IN if setup.has_only_built_in and automation.model in ("", BUILT_IN) else ""
