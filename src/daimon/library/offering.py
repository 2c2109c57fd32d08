"""The tools of the skills in the table of tools: those that read skills, as long as there are any, and one for each skill with scripts.

Whenever something about a skill changes, its group is put anew: installed, approved, vouched for, updated, switched off, meddled with or
removed. A tool whose name is taken is left out, and that is said; the skill can be read all the same.
"""

import logging
from collections.abc import Callable
from dataclasses import dataclass

from daimon.abi.errors import Misconfigured
from daimon.abi.skill import origin_of
from daimon.abi.tool import Tool
from daimon.library.library import Library
from daimon.library.scripts import script_tools
from daimon.tools.skills import skill_tools
from daimon.workshop import Workshop

READING = "skills"
"""The group of the tools that read."""
_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Offering:
    library: Library
    shop: Workshop
    put: Callable[[str, tuple[Tool, ...]], None]
    """These are the tools of a group from now on. Raises Misconfigured."""

    def begin(self) -> None:
        """All that is there; from now on what changes."""
        self.library.changed = self.offer
        self._offer_reading()
        for each in self.library.ready():
            if each.skill.scripts:
                self._offer_scripts(each.name)

    def offer(self, name: str) -> None:
        self._offer_reading()
        self._offer_scripts(name)

    def _offer_reading(self) -> None:
        self._put(READING, skill_tools(self.library) if self.library.ready() else ())

    def _offer_scripts(self, name: str) -> None:
        found = next((each for each in self.library.ready() if each.name == name), None)
        self._put(origin_of(name), () if found is None else script_tools(found, self.shop, self.library.files))

    def _put(self, group: str, tools: tuple[Tool, ...]) -> None:
        try:
            self.put(group, tools)
        except Misconfigured as taken:
            _LOG.warning("the tools of %s are not offered: %s", group, taken)
            self.put(group, ())  # nor are those of another version
