"""What people decided, with what they saw and what came of it."""

from datetime import timedelta

from tests.kernel.rig import Tool, kernel
from tests.kernel.test_asking import ANN, BOB, asked, sender

from daimon.abi.event import Heartbeat
from daimon.abi.ids import HOME_SPACE, OWNER, StepRef
from daimon.abi.judgement import Gate, Provenance
from daimon.abi.step import Started
from daimon.abi.tool import ArgumentRole
from daimon.kernel.decisions import decisions
from daimon.kernel.manner import Manner
from daimon.testing.clock import ManualClock
from daimon.testing.judgement import FixedPolicy
from daimon.testing.model import calls, says
from daimon.tools.people import people_tools

SHOWN = Provenance("text", ArgumentRole.DESTINATION, "bob@x.org", "untrusted", "mail from carol")


async def test_a_permission_is_kept_with_all_that_was_shown_and_what_came_of_it() -> None:
    rules = FixedPolicy(Gate("ask", "It sends.", provenance=(SHOWN,)))
    async with kernel(script=[calls(BOB, ANN), says("done")], tools=[sender()], policy=rules) as rig:
        turn = await rig.rested(await rig.send(Heartbeat("morning")))
        (question,) = asked(await rig.journal.steps(turn.id))
        event = await rig.answer(question.ref, "grant 1")
        await rig.ended(turn)
        (made,) = await decisions(rig.journal, HOME_SPACE, 10)
        assert (made.to, made.job, made.choice, made.text, made.by, made.event) == (question.ref, "morning", "grant", "1", OWNER, event.id)
        assert made.question.options == ("deny", "allow", "grant")
        assert [(case.tool, case.is_allowed, case.outcome) for case in made.cases] == [("send", True, "ok"), ("send", False, "denied")]
        assert made.cases[0].gate.provenance == (SHOWN,)
        assert [grant.destinations for grant in made.grants] == [("bob@x.org",)]
        assert made.took_s == (made.answered_at - made.asked_at).total_seconds() >= 0


async def test_what_nobody_answered_is_kept_too() -> None:
    clock = ManualClock()
    async with kernel(script=[calls(BOB), says("fine")], tools=[sender()], clock=clock, manner=Manner(timeout=timedelta(hours=1))) as rig:
        turn, _ = await rig.ask("write to bob")
        assert await decisions(rig.journal, HOME_SPACE, 10) == ()
        for _ in range(8):
            await clock.advance(900)
        await rig.ended(turn)
        (made,) = await decisions(rig.journal, HOME_SPACE, 10)
        assert (made.choice, made.by, made.event, made.took_s >= 3_600) == ("deny", None, None, True)


async def test_a_choice_and_a_free_answer_are_kept_with_their_question() -> None:
    script = [
        calls(("ask_owner", {"question": "Tea?", "options": ["no", "yes"]})),
        calls(("ask_owner", {"question": "Which?"})),
        says("thanks"),
    ]
    async with kernel(script=script, tools=[*people_tools(), Tool("echo")]) as rig:
        turn, _ = await rig.ask("go")
        for text in ("yes please", "green"):
            started = [s.body for s in await rig.journal.steps(turn.id) if isinstance(s.body, Started)][-1]
            await rig.answer(StepRef(turn.id, started.intent), text)
            await rig.until(lambda text=text: _is_kept(rig.journal, text))  # type: ignore[misc]
        await rig.ended(turn)
        free, chosen = await decisions(rig.journal, HOME_SPACE, 10)
        assert (chosen.question.text, chosen.question.type, chosen.choice, chosen.text, chosen.by) == (
            "Tea?",
            "choose",
            "yes",
            "please",
            OWNER,
        )
        assert (free.question.text, free.question.type, free.choice) == ("Which?", "context", "green")
        assert await decisions(rig.journal, HOME_SPACE, 1) == (free,)


async def _is_kept(journal: object, text: str) -> bool:
    made = await decisions(journal, HOME_SPACE, 1)  # type: ignore[arg-type]
    turns = await journal.turns(HOME_SPACE, 1)  # type: ignore[attr-defined]
    return bool(made) and made[0].choice == text.split()[0] and turns[0].state in ("parked", "done")
