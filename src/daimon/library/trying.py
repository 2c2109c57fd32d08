"""Whether a skill is well: its files, and its own tests, where it brings some.

A script whose name begins with `test`, in `scripts/`, is a test: it is run as the model would run it, in its box with its grant, and it is
well if it ends with 0. Scripts without a test are named, and not run: what they would do is theirs to know.
"""

import json
from dataclasses import dataclass

from pydantic import JsonValue

from daimon.abi.errors import ToolFailed
from daimon.abi.ids import HOME_SPACE, OWNER, SELF, Conversation, Key
from daimon.abi.label import owned
from daimon.abi.ports import Clock
from daimon.abi.skill import Installed, Tested, Trial
from daimon.abi.tool import Call
from daimon.library.library import Library
from daimon.library.scripts import script_tools
from daimon.skills.remarks import remarks_on
from daimon.workshop import Workshop

TESTS = "scripts/test"
MOST_SAID = 2_000


@dataclass(frozen=True, slots=True)
class Trying:
    library: Library
    shop: Workshop
    clock: Clock

    async def test(self, name: str) -> Tested:
        held = self.library.get(name)
        try:
            held, bundle = await self.library.files(name)
        except ToolFailed as refused:
            return Tested(name, held.version, (Trial("may be used", False, str(refused)),))
        trials = [Trial("may be used", True, "its files are those that were installed")]
        trials += [Trial("remark", True, each) for each in remarks_on(held.skill, bundle)]
        tests = [path for path in held.skill.scripts if path.startswith(TESTS)]
        trials += [await self._run(held, path) for path in tests]
        others = ", ".join(path for path in held.skill.scripts if path not in tests)
        return Tested(name, held.version, (*trials, *((Trial("not run", True, f"no tests of their own: {others}"),) if others else ())))

    async def _run(self, held: Installed, path: str) -> Trial:
        tools = script_tools(held, self.shop, self.library.files)
        if not tools:
            return Trial(path, False, "no box can be made here; `daimon doctor` says why")
        hosts: list[JsonValue] = list(held.skill.requires.hosts)
        arguments: dict[str, JsonValue] = {"script": path, **({"hosts": hosts} if hosts else {})}
        now = self.clock.now()
        where = Conversation(HOME_SPACE, "skills")
        call = Call(Key(f"test:{held.name}:{now.isoformat()}"), HOME_SPACE, OWNER, SELF, where, None, now, owned("skills"))
        try:
            result = await tools[0].run(arguments, call)
        except ToolFailed as failed:
            return Trial(path, False, str(failed))
        told = getattr(result, "data", None)
        is_well = isinstance(told, dict) and told.get("exit", told.get("code")) == 0
        return Trial(path, is_well, json.dumps(told, ensure_ascii=False)[:MOST_SAID])
