"""What a source left behind besides words: files that its words had made, and what would still happen by itself because of them.

Words go when their source is forgotten (`Curator.forget_source`). What was made of them stays until it is ended: by label, as everywhere.
"""

from dataclasses import dataclass
from typing import Protocol

from daimon.abi.ids import SpaceId


@dataclass(frozen=True, slots=True, kw_only=True)
class Traces:
    made: tuple[str, ...] = ()
    """Paths in the workspace that calls under its label added, and nobody else touched since."""
    changed: tuple[str, ...] = ()
    """Paths that they changed, or that others changed after them."""
    reminders: tuple[str, ...] = ()
    """Ids of timers that are set."""
    automations: tuple[str, ...] = ()
    hooks: tuple[str, ...] = ()
    grants: tuple[str, ...] = ()
    """Given in a turn that had words from there, or for one of its tools."""


class Traced(Protocol):
    async def traces(self, space: SpaceId, source: str, tools: tuple[str, ...] = ()) -> Traces:
        """`tools`: those that come from there."""
        ...

    async def end_traces(self, space: SpaceId, source: str, tools: tuple[str, ...] = ()) -> Traces:
        """Reminders, automations, hooks and grants end, and no row is left of them. Files are not touched. To be asked before the source
        is forgotten: afterwards nobody knows."""
        ...
