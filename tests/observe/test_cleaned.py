"""A journal that is looked at shows no known secret, and everything else as it is."""

import asyncio
from contextlib import aclosing
from dataclasses import replace

from tests.kernel.rig import kernel
from tests.kernel.test_secrets import CANARY, KNOWN, MARK, ORDINARY

from daimon.abi.ids import HOME_SPACE, OWNER
from daimon.abi.label import owned
from daimon.abi.memory import Amendment, Put, Remember
from daimon.abi.ports import START
from daimon.kernel.decisions import decisions
from daimon.observe.cleaned import CleanedJournal
from daimon.observe.trace import report
from daimon.testing.model import says
from daimon.vault.redact import SecretRedactor


async def test_a_trace_of_what_was_written_before_a_value_was_known_does_not_show_it() -> None:
    async with kernel(script=[says(f"it is {CANARY}")]) as rig:
        turn, _ = await rig.ask(f"say {CANARY}; {ORDINARY}")
        seen = CleanedJournal(rig.journal, SecretRedactor(lambda: KNOWN))
        told = report(await seen.turn(turn.id), await seen.event(turn.event), await seen.steps(turn.id), await seen.late(turn.id))
        assert CANARY not in str(told)
        assert (told.said, told.reply) == (f"say {MARK}; {ORDINARY}", f"it is {MARK}")
        assert CANARY not in str(await decisions(seen, HOME_SPACE, 10))


async def test_without_secrets_everything_is_as_in_the_journal() -> None:
    async with kernel(script=[says(ORDINARY)], known=KNOWN) as rig:
        turn, steps = await rig.ask(ORDINARY)
        seen = CleanedJournal(rig.journal, SecretRedactor(lambda: KNOWN))
        assert await seen.steps(turn.id) == steps
        assert await seen.event(turn.event) == await rig.journal.event(turn.event)
        assert await seen.turns(HOME_SPACE, 10) == (turn,)
        assert await seen.count() == await rig.journal.count()
        asked = next(step.body.request for step in steps if step.body.kind == "reply")
        assert await seen.get(asked) == await rig.journal.get(asked)


async def test_what_the_owner_changed_by_hand_is_cleaned_as_well() -> None:
    async with kernel(script=[]) as rig:
        kept = (Remember(f"it is {CANARY}", "n-1"), Put("note", {"of": [ORDINARY]}))
        amendment = Amendment(id="am-1", space=HOME_SPACE, principal=OWNER, at=rig.clock.now(), operations=kept, label=owned("terminal"))
        await rig.journal.amend(amendment)
        async with aclosing(CleanedJournal(rig.journal, SecretRedactor(lambda: KNOWN)).watch(START)) as changes:
            seen = (await asyncio.wait_for(anext(changes), 60)).item
        assert seen == replace(amendment, operations=(Remember(f"it is {MARK}", "n-1"), kept[1]))
