"""What went out today, through the kernel and across a restart."""

from datetime import UTC, timedelta

from tests.kernel.errands import World
from tests.kernel.hijacked import house

from daimon.abi.ids import HOME_SPACE
from daimon.abi.judgement import Gate, Portion
from daimon.kernel.outflow import Outflow
from daimon.testing.clock import START
from daimon.testing.model import calls, says

SENT = Gate("allow", carries=(Portion("bob", "private", 7),))


def test_a_new_day_begins_at_nothing_and_what_was_not_let_through_does_not_count() -> None:
    outflow = Outflow(UTC, {})
    outflow.note(SENT, START)
    outflow.note(SENT, START)
    outflow.note(Gate("ask", carries=SENT.carries), START)
    assert outflow.today(START) == (Portion("bob", "private", 14),)
    assert outflow.today(START + timedelta(days=1)) == ()


async def test_it_is_the_same_after_a_restart() -> None:
    world = World()
    script = [calls(("send_mail", {"to": "bob@x.org", "text": "I am late."})), says("sent")]
    async with house(world, *script) as rig:
        await rig.ask("write to bob@x.org that I am late")
        before = rig.desk.outflow.today(rig.clock.now())
        assert before == (Portion("bob@x.org", "other", 10),)
        again = Outflow(UTC, {})
        await again.load(rig.journal, HOME_SPACE, rig.clock.now())
        assert again.today(rig.clock.now()) == before
