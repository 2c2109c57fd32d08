"""Cases: the disk fails, is full, cannot be written, or loses power."""

import asyncio
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lab import disk, wire
from lab.case import Lab, Result, check, living
from lab.process import CHECKOUT, Died
from lab.subject import Subject

PATIENCE_S = 10.0
SMALL_DISK_MB = 8


async def power_cut_of_a_journal(lab: Lab) -> Result:
    """Many cuts, cheaply: see `power.py`."""
    cuts = 48 if lab.is_quick else 400
    child = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "lab.power",
        str(cuts),
        str(lab.seed),
        stdout=asyncio.subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": python_path()},
    )
    told, _ = await child.communicate()
    found = json.loads(told)
    gone = sum("promised and gone" in fault for fault in found["faults"])
    return Result(
        "power cut, journal alone", found["cuts"], found["promises"], found["promises"] - gone, found["faults"], "torn and dropped sectors"
    )


async def power_cut_under_load(lab: Lab) -> Result:
    """The whole process on a disk that loses what was not synced."""
    result = Result("power cut, whole process", faults=4 if lab.is_quick else 30)
    subject = lab.subject("power", "disk")
    async with living(subject):
        for cut in range(result.faults):
            subject.disk.set((disk.CUT, disk.TEAR)[cut % 2], 20 + 37 * cut % 200, lab.seed + cut)
            await _load_until_death(subject)
            subject.disk.set(disk.WELL)
            if not await subject.up():
                result.problems.append(f"cut {cut}: it did not start again: {subject.process.last_words(300)}")
        await check(result, subject)
    return result


async def write_error(lab: Lab) -> Result:
    return await _broken(lab, Result("EIO on write", note="stopped, exit, restart"), disk.WRITE_FAILS)


async def sync_error(lab: Lab) -> Result:
    return await _broken(lab, Result("EIO on fsync", note="stopped, never retried, exit, restart"), disk.SYNC_FAILS)


async def no_space_at_sync(lab: Lab) -> Result:
    """SQLite reports any failed fsync alike, so nobody can know that it was only space."""
    return await _broken(lab, Result("ENOSPC on fsync", note="stopped, exit, restart"), disk.SYNC_FULL)


async def no_space_at_write(lab: Lab) -> Result:
    result = Result("ENOSPC on write", note="507, goes on when there is space")
    subject = lab.subject("nospace", "disk")
    async with living(subject):
        await subject.say(f"remind@{time.time() + 1:.3f}", "timer")
        await subject.rest()
        await subject.say("slow; idempotent", "before")
        subject.disk.set(disk.WRITE_FULL)
        await _expect_refusal(result, subject, 507)
        await asyncio.sleep(1.5)  # the slow effect ends and the reminder becomes due, and neither can be written
        subject.disk.set(disk.WELL)
        if not subject.is_alive:
            result.problems.append(f"it ended instead of waiting for space: {subject.process.last_words(300)}")
            await subject.up()
        await subject.say("pure", "after")
        await subject.rest(with_timers=True)
        await check(result, subject)
    return result


async def full_disk(lab: Lab) -> Result:
    result = Result("full disk", note=f"tmpfs of {SMALL_DISK_MB} MB: 507, goes on when there is space")
    try:
        with small_disk(lab.place / "small") as place:
            subject = lab.subject("full", at=place / "full")
            async with living(subject):
                await subject.say("idempotent", "before")
                await subject.rest()
                with _filled(place):
                    await _expect_refusal(result, subject, 507)
                    answer = await subject.process.call("GET", "/v1/status")
                    result.expect(answer.status == 200, f"status answers {answer.status} on a full disk")
                await subject.say("idempotent", "after")
                await check(result, subject)
    except PermissionError as refused:
        result.faults, result.note = 0, f"not run: {refused}; ENOSPC on write is the same to SQLite"
    return result


def python_path() -> str:
    return os.pathsep.join(filter(None, (str(CHECKOUT / "benchmarks"), str(CHECKOUT / "src"))))


@contextmanager
def small_disk(place: Path) -> Iterator[Path]:
    """Raises PermissionError where nobody may mount."""
    place.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={SMALL_DISK_MB}m,mode=700", "tmpfs", str(place)], capture_output=True, text=True, check=False
    )
    if mounted.returncode:
        raise PermissionError(f"no small disk can be mounted ({mounted.stderr.strip()})")
    try:
        yield place
    finally:
        subprocess.run(["umount", "-l", str(place)], check=False)


@contextmanager
def _filled(place: Path) -> Iterator[None]:
    filler = place / "filler"
    with filler.open("wb") as file:
        try:
            while True:
                os.write(file.fileno(), bytes(4096))
        except OSError:
            pass
    try:
        yield
    finally:
        filler.unlink()


async def _broken(lab: Lab, result: Result, fault: int) -> Result:
    """A write fails once. It must be refused, not be retried even if the disk seems well again, and the process must end and say why."""
    subject = lab.subject(f"broken{fault}", "disk")
    async with living(subject):
        await subject.say("slow; idempotent", "before")
        subject.disk.set(fault)
        await _expect_refusal(result, subject, 503)
        subject.disk.set(disk.WELL)
        await _expect_refusal(result, subject, 503)
        try:
            code = await subject.process.exit(PATIENCE_S)
            result.expect(code not in (0, -9), f"it ended with {code}")
            result.expect("journal" in subject.process.last_words(), f"it did not say why it ended: {subject.process.last_words(200)!r}")
        except TimeoutError:
            result.problems.append(f"it still runs {PATIENCE_S} s after its journal failed")
            await subject.close()
        await subject.up()
        await subject.say("pure", "after")
        await check(result, subject)
    return result


async def _expect_refusal(result: Result, subject: Subject, status: int) -> None:
    """An event that cannot be written is not accepted: the answer is loud, or there is none."""
    for _ in range(3):
        try:
            answer = await subject.process.event(
                {"type": "message", "text": "refuse this |", "conversation": "refused"}, key=os.urandom(8).hex()
            )
        except (wire.Unanswered, Died):
            continue
        result.expect(answer.status == status, f"answered {answer.status} {answer.body!r:.200} instead of {status}")


async def _load_until_death(subject: Subject) -> None:
    try:
        while True:
            await asyncio.gather(*(subject.say("idempotent, verifiable; unsafe", f"c{i}") for i in range(4)))
            await asyncio.sleep(0)
    except Died:
        await subject.bury()
