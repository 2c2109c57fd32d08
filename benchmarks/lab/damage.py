"""Cases: the journal's file is not what it was: cut, scribbled over, gone, foreign, newer, or not to be written. It is refused with a
sentence; it is never answered with an empty one.
"""

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw

from lab.case import Lab, Result, check
from lab.process import Died
from lab.subject import Subject

SENTENCE = 30
"""Characters, at least."""
PATIENCE_S = 10.0


async def damaged(lab: Lab) -> Result:
    """One home with a journal, damaged in every way in turn, each time from a good copy."""
    result = Result("damaged journal", faults=len(DAMAGES), note=", ".join(DAMAGES))
    subject = await _settled(lab, "damaged")
    good = subject.home.with_name("good")
    shutil.copytree(subject.home, good, ignore=shutil.ignore_patterns("*.sock"))
    for name, spoil in DAMAGES.items():
        shutil.rmtree(subject.home)
        shutil.copytree(good, subject.home)
        spoil(subject.home / "journal.db")
        await _expect_refusal(result, subject, name)
    shutil.rmtree(subject.home)
    shutil.copytree(good, subject.home)
    try:
        await subject.up()
        await check(result, subject)
    finally:
        await subject.close()
    return result


async def read_only(lab: Lab) -> Result:
    result = Result("read-only journal", note="refused with a sentence")
    subject = await _settled(lab, "readonly")
    with _unwritable(subject.home / "journal.db"):
        await _expect_refusal(result, subject, "read-only")
    try:
        await subject.up()
        await check(result, subject)
    finally:
        await subject.close()
    return result


def _cut_in_half(journal: Path) -> None:
    os.truncate(journal, journal.stat().st_size // 2 // 4096 * 4096)


def _emptied(journal: Path) -> None:
    os.truncate(journal, 0)


def _gone(journal: Path) -> None:
    journal.unlink()


def _header_scribbled(journal: Path) -> None:
    _write(journal, 0, b"\xff" * 64)


def _pages_scribbled(journal: Path) -> None:
    for page in range(1, journal.stat().st_size // 4096):
        _write(journal, page * 4096, os.urandom(4096))


def _root_page_scribbled(journal: Path) -> None:
    """The page of the table of events: most of the file is good."""
    connection = apsw.Connection(str(journal))
    page = connection.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'events'").get
    connection.close()
    _write(journal, (page - 1) * 4096, bytes(4096))


def _newer(journal: Path) -> None:
    _pragma(journal, "user_version", 999)


def _foreign(journal: Path) -> None:
    _pragma(journal, "application_id", 7)


DAMAGES: dict[str, Callable[[Path], None]] = {
    "cut in half": _cut_in_half,
    "emptied": _emptied,
    "gone": _gone,
    "header scribbled over": _header_scribbled,
    "all pages scribbled over": _pages_scribbled,
    "one page zeroed": _root_page_scribbled,
    "from a newer version": _newer,
    "of another program": _foreign,
}


async def _settled(lab: Lab, name: str) -> Subject:
    """A home with a history, ended in good order and with everything in its one file."""
    subject = lab.subject(name)
    await subject.up()
    for i in range(12):
        await subject.say("pure; idempotent", f"c{i}")
    await subject.rest()
    await subject.kill()
    connection = apsw.Connection(str(subject.home / "journal.db"))
    connection.execute("SELECT COUNT(*) FROM events").get  # noqa: B018 - a connection that has read nothing checkpoints nothing
    connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
    connection.close()
    return subject


async def _expect_refusal(result: Result, subject: Subject, how: str) -> None:
    """At the start, or, if the damage is in a page that the start does not read, at the first touch."""
    process = await subject.start()
    process.errors.write_text("")
    try:
        await process.ready()
        answers = [
            await process.call("GET", f"/v1/events/{subject.an_event}"),
            await process.event({"type": "message", "text": "new |"}, how),
        ]
        for answer in answers:
            result.expect(answer.status == 503, f"{how}: it started and answers {answer.status} {answer.body!r:.100}")
    except Died:
        pass
    try:
        code = await process.exit(PATIENCE_S)
    except TimeoutError:
        process.kill()
        code = await process.exit()
    words = process.last_words()
    result.expect(code not in (0, -9), f"{how}: exit code {code}")
    result.expect(len(words) > SENTENCE and "journal" in words and "Traceback" not in words, f"{how}: it said only {words[-300:]!r}")


@contextmanager
def _unwritable(file: Path) -> Iterator[None]:
    """Root may write whatever the mode says, so for root the file is made immutable."""
    file.chmod(0o400)
    is_root = os.geteuid() == 0
    if is_root:
        subprocess.run(["chattr", "+i", str(file)], check=True)
    try:
        yield
    finally:
        if is_root:
            subprocess.run(["chattr", "-i", str(file)], check=True)
        file.chmod(0o600)


def _write(file: Path, offset: int, data: bytes) -> None:
    descriptor = os.open(file, os.O_WRONLY)
    try:
        os.pwrite(descriptor, data, offset)
    finally:
        os.close(descriptor)


def _pragma(journal: Path, name: str, value: int) -> None:
    connection = apsw.Connection(str(journal))
    connection.pragma(name, value)
    connection.close()
