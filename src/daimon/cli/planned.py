"""`daimon calendar list`, `add`, `test` and `remove`."""

import asyncio
import os
import re
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

from pydantic import ValidationError

from daimon import config, homes
from daimon.abi.errors import BadInput
from daimon.cli import hidden, screen
from daimon.cli.reloading import News, reloaded
from daimon.daybook import Daybook, default_of

_NAME = re.compile(r"[a-z][a-z0-9]{0,31}")
_NEWS = News("the running gateway has it", "the next start (`daimon up`) uses it")
_GONE = News("the running gateway does without it", "the next start does without it")


def drafted(said: Mapping[str, object]) -> config.Calendar:
    """What was said, and nothing of what was not: defaults are not written down. Raises BadInput."""
    try:
        return config.Calendar.model_validate({key: value for key, value in said.items() if value not in (None, "")})
    except ValidationError as bad:
        first = bad.errors(include_url=False)[0]
        raise BadInput(f"{'.'.join(map(str, first['loc']))}: {first['msg']}") from None


def show(given: Path | None, as_json: bool) -> None:
    settings = config.load(homes.home_at(given).config, os.environ)
    usual = default_of(settings)
    if as_json:
        rows = [{"name": name, **entry.model_dump(), "default": name == usual} for name, entry in settings.calendars.items()]
        screen.emit_value({"calendars": rows})
        return
    table = screen.table("calendar", "address", "user", "others", "")
    for name, entry in settings.calendars.items():
        about = "new events go here" if name == usual else "" if entry.changeable else "only read"
        table.add_row(name, entry.url, entry.user, entry.others, about)
    if settings.calendars:
        screen.out().print(table)
    else:
        screen.remark("no calendar is set up; `daimon calendar add NAME --url https://… --user …` sets one up")


def add(given: Path | None, name: str, entry: config.Calendar, title: str, as_json: bool) -> None:
    if not _NAME.fullmatch(name):
        raise BadInput(f"{name[:40]!r} cannot be the name of a calendar; use up to 32 small letters and digits, such as work")
    with closing(_opened(given)) as book:
        password = hidden.value(f"Password of {entry.user} (it is not shown): ") if entry.user else ""
        written = asyncio.run(book.add(name, entry, password.strip(), title))
        is_heard, heard = reloaded(book.home, _NEWS)
    if as_json:
        screen.emit_value({"calendar": name, "url": written.url, "reloaded": is_heard})
        return
    screen.say(f"{name} is set up in {book.home.config}: {written.url}")
    screen.remark(heard)


def test(given: Path | None, name: str, as_json: bool) -> None:
    with closing(_opened(given)) as book:
        names = (name,) if name else tuple(book.settings.calendars)
        found = {each: asyncio.run(book.test(each)) for each in names}
    if as_json:
        screen.emit_value({"calendars": [{"name": each, "ok": True, "events": count} for each, count in found.items()]})
        return
    for each, count in found.items():
        screen.say(f"{each} answers; it has {count} {'event' if count == 1 else 'events'} in the next seven days")
    if not found:
        screen.remark("no calendar is set up")


def remove(given: Path | None, name: str, as_json: bool) -> None:
    with closing(_opened(given)) as book:
        is_forgotten = book.remove(name)
        is_heard, heard = reloaded(book.home, _GONE)
    if as_json:
        screen.emit_value({"calendar": name, "removed": True, "password_removed": is_forgotten, "reloaded": is_heard})
        return
    screen.say(f"{name} is removed{', and its password is out of the vault' if is_forgotten else ''}")
    screen.remark(heard)


def _opened(given: Path | None) -> Daybook:
    return Daybook(homes.home_at(given), os.environ, hidden.passphrase)
