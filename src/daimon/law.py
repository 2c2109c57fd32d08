"""The policies in force: those of the package and the owner's, read at the start and again when the owner says so.

A file that is broken opens nothing. While running, what was in force stays in force. At a start, the copy of the last good reading is
used, and if there is none, the policies of the package alone. Either way the owner is told, until the files are whole.
"""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from daimon import config
from daimon import policy as package
from daimon.abi.errors import Misconfigured
from daimon.abi.ids import SELF, AgentId
from daimon.abi.tool import Manifest
from daimon.machine import policies
from daimon.machine.home import Home
from daimon.machine.policies import Texts as Texts
from daimon.machine.policies import remove as remove
from daimon.machine.policies import tests_in as tests_in
from daimon.machine.policies import texts_in as texts_in
from daimon.machine.policies import texts_of as texts_of
from daimon.machine.policies import write as write
from daimon.machine.reader import ChildReader
from daimon.policy.agents import ASSISTANT, READER, Agents, Terms
from daimon.policy.floor import StandingFloor
from daimon.policy.rules import Rules
from daimon.policy.source import Source

_PACKAGE = Path(package.__file__).parent
SHIPPED, SHIPPED_TESTS = "default.cedar", "default_tests.toml"
READS_SHELL = "from daimon.machine.child import serve\nfrom daimon.policy.shell.read import read\nserve(read)"
"""The program of the process that reads commands."""
MEND = "mend the file and run `daimon reload`"


class Law:
    """What is in force while a gateway runs."""

    def __init__(self, home: Home) -> None:
        self._home = home
        self.warnings: tuple[str, ...] = ()
        try:
            self.rules = self.reread()
        except Misconfigured as broken:
            self.rules, told = in_force(home)
            self.warnings = told or (str(broken),)

    def reread(self) -> Rules:
        """The rules as the files say now, checked. Raises Misconfigured, and then the owner is warned until it is mended."""
        try:
            texts = texts_in(self._home)
            found = _checked(texts)
            policies.keep(self._home, texts)
        except Misconfigured as broken:
            self.warnings = (f"{broken}\nthe policies of before stay in force; {MEND}",)
            raise
        self.rules, self.warnings = found, ()
        return found


def in_force(home: Home) -> tuple[Rules, tuple[str, ...]]:
    """What counts at a start, and what the owner is to be told of it. Writes nothing."""
    try:
        return _checked(texts_in(home)), ()
    except Misconfigured as broken:
        told = str(broken)
    with suppress(Misconfigured):
        if texts := policies.kept(home):
            return _checked(texts), (f"{told}\nthe policies as they last were without fault are in force; {MEND}",)
    return rules_of({}), (f"{told}\nonly the policies that come with Daimon are in force; {MEND}",)


def _checked(texts: Texts) -> Rules:
    """Those of the package are checked before they are shipped: without files of the owner the engine is not even loaded."""
    found = rules_of(texts)
    if texts:
        found.check()
    return found


def rules_of(texts: Texts) -> Rules:
    """Those of the package, and these."""
    shipped = Source(SHIPPED, (_PACKAGE / SHIPPED).read_text(encoding="utf-8"))
    schema = (_PACKAGE / "default.cedarschema").read_text(encoding="utf-8")
    return Rules(schema, (shipped, *(Source(name, text) for name, text in texts.items())))


def shipped_tests() -> str:
    return (_PACKAGE / SHIPPED_TESTS).read_text(encoding="utf-8")


def agents_of(settings: config.Settings, manifests: tuple[Manifest, ...]) -> Agents:
    terms = {
        AgentId(name): Terms(entry.role or (ASSISTANT if name == SELF else READER), entry.tools, entry.may_hold_all, entry.description)
        for name, entry in settings.agents.items()
    }
    return Agents(terms, manifests)


@contextmanager
def floor_of(settings: config.Settings) -> Iterator[StandingFloor]:
    """What never runs, whatever the policies say. Whoever reads commands for it is started with the first, and ends here."""
    reader = ChildReader(READS_SHELL)
    try:
        yield StandingFloor(reader, settings.floor.never)
    finally:
        reader.close()
