"""Lessons are proposed once, never used before the owner's word, counted when used, and given up when they serve nobody."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from tests.library.taught import ASKED, taught

from daimon.abi.errors import BadInput, Outdated
from daimon.abi.lesson import LEARNED
from daimon.library.library import open_library
from daimon.library.proposals import MOST_OPEN, Proposals
from daimon.machine.clock import SystemClock
from daimon.skills import proposing
from daimon.testing.model import calls, says


async def test_an_expensive_turn_becomes_a_proposal_with_its_evidence_and_nothing_is_installed(tmp_path: Path) -> None:
    async with taught(tmp_path) as home:
        turn = await home.booked()
        asked = len(home.rig.model.requests)  # type: ignore[attr-defined]
        (proposal,) = await home.lessons.proposals()
    assert (proposal.kind, proposal.skill, proposal.state) == ("new", "book-quiet-room-friday", "open")
    assert [(each.turn, each.calls, each.outcome) for each in proposal.evidence] == [(turn.id, 2, "answered")]
    assert proposal.why == "once something failed and was got over"
    assert "+name: book-quiet-room-friday" in proposal.diff
    assert home.library.all() == ()
    assert asked == 3, "no model is asked for a lesson"


async def test_the_same_lesson_is_proposed_once_and_a_rejected_one_does_not_come_back(tmp_path: Path) -> None:
    async with taught(tmp_path) as home:
        first = await home.booked()
        second = await home.booked("book the quiet room for monday", day="monday", conversation="other")
        (proposal,) = await home.lessons.proposals()
        assert [each.turn for each in proposal.evidence] == [first.id, second.id]
        await home.lessons.reject(proposal.id)
        await home.booked()
        assert await home.lessons.proposals() == ()
        assert [each.state for each in await home.lessons.proposals(is_all=True)] == ["rejected"]
        with pytest.raises(BadInput, match="was rejected already"):
            await home.lessons.accept(proposal.id)


async def test_an_accepted_lesson_is_a_skill_of_the_owners_and_survives_a_restart(tmp_path: Path) -> None:
    async with taught(tmp_path) as home:
        await home.accepted()
    library = await open_library(tmp_path / "skills", SystemClock())
    (held,) = library.ready()
    assert (held.name, held.source, held.is_vouched) == ("book-quiet-room-friday", LEARNED, True)
    assert held.skill.requires.tools == ("book_room",)
    assert held.skill.triggers == ("quiet room",)
    assert "## Steps" in held.skill.body


async def test_the_owner_may_change_it_before_accepting_and_a_broken_change_is_refused(tmp_path: Path) -> None:
    async with taught(tmp_path) as home:
        await home.booked()
        (proposal,) = await home.lessons.proposals()
        with pytest.raises(BadInput):
            await home.lessons.accept(proposal.id, "no head at all")
        assert home.library.all() == ()
        await home.lessons.accept(proposal.id, proposal.text.replace("## Steps", "Ask first.\n\n## Steps"))
        assert "Ask first." in (await home.library.read("book-quiet-room-friday"))[1]


async def test_uses_and_their_outcomes_are_counted_with_turns_without_it_beside_them(tmp_path: Path) -> None:
    async with taught(tmp_path) as home:
        name = (await home.accepted()).skill
        await home.used(name)
        await home.used(name, ASKED, calls(("book_room", {"room": "n7", "day": "friday"})))
        await home.ask("No, I meant monday", calls(("book_room", {"room": "n7", "day": "monday"})), says("done"))
        (service,) = await home.lessons.uses()
    assert (service.uses, service.good, service.corrected) == (2, 1, 1)
    assert (service.used.turns, service.used.calls) == (2, 3)
    assert (service.unused.turns, service.unused.calls) == (1, 2), "the turn that it was drawn from"


async def test_a_correction_after_a_use_proposes_a_refinement_that_can_be_accepted(tmp_path: Path) -> None:
    async with taught(tmp_path) as home:
        name = (await home.accepted()).skill
        await home.used(name, ASKED, calls(("book_room", {"room": "n7", "day": "friday"})))
        await home.ask("No, ask me before you book", calls(("book_room", {"room": "n7", "day": "monday"})), says("done"))
        (proposal,) = await home.lessons.proposals()
        assert (proposal.kind, proposal.skill) == ("refine", name)
        added = [line for line in proposal.diff.splitlines() if line.startswith("+") and not line.startswith("+++")]
        assert "+- The owner put it right: No, ask me before you book" in added
        await home.lessons.accept(proposal.id)
        assert "No, ask me before you book" in (await home.library.read(name))[1]
        assert home.library.get(name).is_vouched


async def test_a_refinement_of_what_has_changed_since_is_refused(tmp_path: Path) -> None:
    async with taught(tmp_path) as home:
        name = (await home.accepted()).skill
        held = home.library.get(name)
        late = proposing.given_up(held, "", "x", "f" * 16, held.at)
        await home.lessons.propose(replace(late, kind="refine", text=await home.lessons.text(name) + "more\n", version="another"))
        (proposal,) = await home.lessons.proposals()
        with pytest.raises(Outdated):
            await home.lessons.accept(proposal.id)
        await home.library.drop(name)
        with pytest.raises(Outdated):
            await home.lessons.accept(proposal.id)
        assert home.library.all() == ()


async def test_a_skill_that_fails_or_lies_unused_is_proposed_for_retirement_and_one_that_serves_is_not(tmp_path: Path) -> None:
    async with taught(tmp_path) as home:
        name = (await home.accepted()).skill
        held, text, service = home.library.get(name), await home.lessons.text(name), home.lessons.tally.of(name)
        now = held.at + timedelta(days=89)
        assert proposing.retired(held, text, service, now) is None
        assert proposing.retired(held, text, replace(service, uses=10, good=8, last_at=now), now) is None
        unused = proposing.retired(held, text, service, now + timedelta(days=2))
        failing = proposing.retired(held, text, replace(service, uses=4, good=1, last_at=now), now)
        assert unused is not None
        assert failing is not None
        assert (unused.why, failing.why) == ("it was not used for 91 days", "of 4 uses 1 went well")
        await home.lessons.propose(failing)
        await home.lessons.accept(failing.id)
        assert home.library.all() == ()


async def test_what_rests_on_erased_words_goes_and_a_skill_made_of_them_is_proposed_for_retirement(tmp_path: Path) -> None:
    async with taught(tmp_path) as home:
        turn = await home.booked()
        await home.rig.journal.erase_turn(turn.id, "the owner wants it gone")
        assert await home.lessons.proposals() == ()
        other = await home.booked("please print the yearly report on paper", conversation="other")
        (proposal,) = await home.lessons.proposals()
        await home.lessons.accept(proposal.id)
        await home.rig.journal.erase_turn(other.id, "this too")
        (orphan,) = await home.lessons.proposals()
    assert (orphan.kind, orphan.skill) == ("retire", proposal.skill)
    kept = "".join(path.read_text() for path in (tmp_path / "lessons").iterdir())
    assert "quiet" not in kept


async def test_what_ended_while_nobody_listened_is_caught_up_with_once(tmp_path: Path) -> None:
    async with taught(tmp_path, listens=False) as home:
        await home.learner.catch_up()
        home.world.failures.append("x")
        home.rig.model.add(  # type: ignore[attr-defined]
            calls(("book_room", {"room": "x", "day": "friday"})), calls(("book_room", {"room": "y", "day": "friday"})), says("done")
        )
        await home.rig.ask(ASKED)
        assert await home.lessons.proposals() == ()
        await home.learner.catch_up()
        before = home.lessons.tally
        await home.learner.catch_up()
        assert home.lessons.tally == before
        assert len(await home.lessons.proposals()) == 1


async def test_who_wants_no_lessons_gets_none_and_uses_are_counted_all_the_same(tmp_path: Path) -> None:
    async with taught(tmp_path, is_on=False) as home:
        turn = await home.booked()
        assert await home.lessons.proposals() == ()
        assert turn.id in home.lessons.tally.recent


async def test_no_more_wait_than_anybody_reads_and_a_broken_file_is_told(tmp_path: Path) -> None:
    async with taught(tmp_path) as home:
        await home.booked()
        (one,) = await home.lessons.proposals()
        for n in range(MOST_OPEN + 5):
            await home.lessons.propose(replace(one, id=f"p-{n:010}", tools=(f"tool{n}",)))
        assert home.lessons.waiting == MOST_OPEN
    (tmp_path / "lessons" / "p-0000000000.json").write_text("{")
    kept = Proposals(tmp_path / "lessons", SystemClock())
    assert len(kept.open()) == MOST_OPEN - 1
    assert "p-0000000000.json cannot be read" in kept.warnings[0]
