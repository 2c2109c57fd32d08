"""The policies in force: those of the package and the owner's, read at the start and again when the owner says so.

A file that is broken opens nothing. While running, what was in force stays in force. At a start, the copy of the last good reading is
used, and if there is none, the policies of the package alone. Either way the owner is told, until the files are whole.
"""

from dataclasses import dataclass, field
from pathlib import Path

from daimon import config
from daimon import policy as package
from daimon.abi.errors import Misconfigured
from daimon.abi.ids import SELF, AgentId
from daimon.abi.tool import Manifest
from daimon.machine import policies
from daimon.machine.home import Home
from daimon.policy.agents import ASSISTANT, READER, Agents, Terms
from daimon.policy.rules import Rules
from daimon.policy.source import Source

_PACKAGE = Path(package.__file__).parent
SHIPPED = "default.cedar"


@dataclass(slots=True)
class Law:
    home: Home
    rules: Rules = field(init=False)
    warnings: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        try:
            self.rules = self.reread()
        except Misconfigured:
            self.rules, held = self._fallback()
            self.warnings = (f"{self.warnings[0]}\n{held}",)

    def reread(self) -> Rules:
        """The rules as the files say now, checked. Raises Misconfigured, and then the owner is warned until it is mended."""
        try:
            texts = policies.read(self.home)
            found = rules_of(texts)
            if texts:
                found.check()
            policies.keep(self.home, texts)
        except Misconfigured as broken:
            self.warnings = (str(broken),)
            raise
        self.warnings = ()
        return found

    def _fallback(self) -> tuple[Rules, str]:
        texts = policies.kept(self.home)
        try:
            if texts:
                (found := rules_of(texts)).check()
                return found, "the policies as they last were without fault are in force; mend the file and run `daimon reload`"
        except Misconfigured:
            pass
        return rules_of({}), "only the policies that come with Daimon are in force; mend the file and run `daimon reload`"


def schema() -> str:
    return (_PACKAGE / "default.cedarschema").read_text(encoding="utf-8")


def rules_of(texts: policies.Texts) -> Rules:
    """Those of the package, and these."""
    shipped = Source(SHIPPED, (_PACKAGE / SHIPPED).read_text(encoding="utf-8"))
    return Rules(schema(), (shipped, *(Source(name, text) for name, text in texts.items())))


def shipped_tests() -> str:
    return (_PACKAGE / "default_tests.toml").read_text(encoding="utf-8")


def agents_of(settings: config.Settings, manifests: tuple[Manifest, ...]) -> Agents:
    terms = {
        AgentId(name): Terms(entry.role or (ASSISTANT if name == SELF else READER), entry.tools, entry.may_hold_all, entry.description)
        for name, entry in settings.agents.items()
    }
    return Agents(terms, manifests)
