"""Cases: the process is disturbed: stopped, told to end, doubled, its clock set, its model or its tools silent."""

import asyncio
import signal
import time

from lab.case import Lab, Result, check, living
from lab.process import Died
from lab.subject import Subject

NOTICED_S = 6.0
"""The longest that a jump of the clock may go unnoticed: one sweep of the scheduler, and a bit."""
HOUR_S = 3_600


async def clock_ahead(lab: Lab) -> Result:
    """An hour forward: what became due fires, once, and does not fire again when the clock comes back."""
    result = Result("clock +1 h", note="due reminders fired once")
    subject = lab.subject("ahead", "clock")
    async with living(subject):
        await subject.say(f"remind@{time.time() + 1_800:.0f}", "late")
        await subject.say(f"remind@{time.time() + 2 * HOUR_S:.0f}", "later")
        await subject.rest()
        subject.clock.set(HOUR_S)
        await _timers(subject, left=1)
        subject.clock.set(0)
        await subject.say("pure", "back")
        subject.clock.set(3 * HOUR_S)
        await _timers(subject, left=0)
        await check(result, subject)
    return result


async def clock_behind(lab: Lab) -> Result:
    """An hour back: work goes on, ids stay unique and in order, and a reminder comes when its time comes, once."""
    result = Result("clock -1 h", note="reminder came once, at its time")
    subject = lab.subject("behind", "clock")
    async with living(subject):
        await subject.say("pure", "same")
        subject.clock.set(-HOUR_S)
        await subject.say(f"remind@{time.time() - HOUR_S + 2:.3f}", "same")
        await subject.say("idempotent", "same")
        await subject.rest()
        await _timers(subject, left=0)
        subject.clock.set(0)
        await asyncio.sleep(0.5)
        await check(result, subject)
    return result


async def two_instances(lab: Lab) -> Result:
    result = Result("second process on one home", note="refused with a sentence")
    subject = lab.subject("twice")
    async with living(subject):
        await subject.say("pure", "first")
        second = await subject.start()
        try:
            await second.ready()
            result.problems.append("a second process started on the same home")
        except Died:
            result.expect(await second.exit() != 0, "the second process ended with 0")
            result.expect("another Daimon" in second.last_words(), f"the second process said only {second.last_words(200)!r}")
        finally:
            second.kill()
        await subject.say("pure", "first")
        await check(result, subject)
    return result


async def frozen(lab: Lab) -> Result:
    """As when a laptop sleeps: leases and timers pass, and nobody else takes over."""
    seconds = 3 if lab.is_quick else 35
    result = Result("SIGSTOP, SIGCONT", note=f"{seconds} s in the middle of an unsafe effect")
    subject = lab.subject("frozen")
    async with living(subject):
        await subject.say("slow; unsafe", "a")
        await subject.say(f"remind@{time.time() + 1.5:.3f}", "b")
        await asyncio.sleep(0.3)
        subject.process.signal(signal.SIGSTOP)
        late = asyncio.create_task(subject.say("pure", "c"))
        await asyncio.sleep(seconds)
        subject.process.signal(signal.SIGCONT)
        await late
        await subject.redeliver()
        await subject.rest(with_timers=True)
        await check(result, subject)
    return result


async def drained(lab: Lab) -> Result:
    """SIGTERM under load: what runs may finish, what is accepted is kept, and the process ends by itself."""
    result = Result("SIGTERM under load", note="drained, exit 0")
    subject = lab.subject("drained")
    async with living(subject):
        await subject.say("slow", "slow")
        load = [asyncio.create_task(_talk(subject, f"c{i}")) for i in range(6)]
        await asyncio.sleep(0.5)
        subject.process.signal(signal.SIGTERM)
        try:
            code = await subject.process.exit(20.0)
            result.expect(code == 0, f"it ended with {code}: {subject.process.last_words(300)}")
        except TimeoutError:
            result.problems.append("it had not ended 20 s after SIGTERM")
            subject.process.kill()
        await asyncio.gather(*load)
        await subject.up()
        asked = await subject.questions()
        result.expect(not asked, f"a call that was under way was cut off: {asked}")
        await check(result, subject)
    return result


async def silent_model(lab: Lab) -> Result:
    """The model never answers: the turn says so and tries again by itself, and others do not wait for it."""
    result = Result("model that hangs", note="said so, to be tried again; others went on")
    subject = lab.subject("mute", settings="model.first_token_s = 0.3\n")
    async with living(subject):
        await subject.say("silence", "mute")
        begun = time.monotonic()
        await subject.say("pure", "loud")
        while "done mutex2" not in (await subject.world.ledger()).replies.values():  # noqa: ASYNC110 - seen from outside
            await asyncio.sleep(0.02)
        result.expect(time.monotonic() - begun < 2, "another conversation waited for the silent model")
        while not (asked := await subject.questions()):  # noqa: ASYNC110 - seen from outside
            await asyncio.sleep(0.05)
        result.expect(asked[0]["question"]["options"][:1] == ["retry"], f"it asks {asked[0]['question']}")
        await check(result, subject)
    return result


async def hanging_tool(lab: Lab) -> Result:
    """Tools that never come back, one of them deaf to its cancellation: the model is told, the turn goes on."""
    result = Result("tool that hangs", note="timed out, told to the model, turn finished")
    subject = lab.subject("stuck")
    async with living(subject):
        await subject.say("hanging, idempotent; pure", "a")
        await subject.say("stubborn; pure", "b")
        await check(result, subject)
    return result


async def _timers(subject: Subject, left: int) -> None:
    async with asyncio.timeout(NOTICED_S + 4):
        while (await subject.status())["count"]["timers"] > left:  # noqa: ASYNC110 - seen from outside
            await asyncio.sleep(0.05)
    await subject.rest()


async def _talk(subject: Subject, conversation: str) -> None:
    try:
        while subject.is_alive:
            await subject.say("idempotent; unsafe", conversation)
            await asyncio.sleep(0.02)
    except Died:
        return
