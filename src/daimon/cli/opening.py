"""`daimon open`: a link that signs a browser in, and the browser, where there is a screen.

The link is printed in any case. A browser is not given the link itself: every user of a machine can read the arguments of programs. It
gets a file in the home that only the owner can read and that leads on.
"""

import getpass
import os
import socket
import webbrowser
from collections.abc import Mapping
from html import escape
from pathlib import Path
from urllib.parse import urlsplit

from daimon import config
from daimon.abi.access import Right
from daimon.abi.codec import encode
from daimon.abi.errors import BadInput
from daimon.cli import screen
from daimon.cli.awake import client_of
from daimon.gateway.answers import Opened

LEADS_ON = '<!doctype html><meta charset="utf-8"><title>Daimon</title><meta http-equiv="refresh" content="0;url={url}">'


def open_room(given: Path | None, rights: str, name: str, is_shown_only: bool, as_json: bool) -> None:
    home = config.home_at(given)
    wish = {"rights": sorted(rights_of(rights)), "name": name}
    made = client_of(home).ask(Opened, "POST", "/v1/links", encode(dict[str, object], wish))
    if as_json:
        screen.emit(encode(Opened, made))
        return
    for url in made.urls:
        screen.say(url)
    link = "This link signs" if len(made.urls) == 1 else "One of these links signs"
    screen.remark(f"{link} one browser in, once, until {made.until.astimezone():%H:%M}.")
    if not has_screen(os.environ):
        screen.verbatim(f"From another machine, first: {tunnel(made.urls[0])}")
    elif not is_shown_only and not webbrowser.open(_leading_on(home.path, made.urls[0])):
        screen.remark("No browser could be opened; use the link.")


def rights_of(words: str) -> frozenset[Right]:
    """Raises BadInput."""
    try:
        found = frozenset(Right(word.strip()) for word in words.split(",") if word.strip())
    except ValueError:
        raise BadInput(f"{words[:60]!r} is not a list of rights; they are {', '.join(Right)}, with commas between") from None
    if not found:
        raise BadInput(f"at least one right is needed: {', '.join(Right)}")
    return found


def has_screen(environment: Mapping[str, str]) -> bool:
    return bool(environment.get("DISPLAY") or environment.get("WAYLAND_DISPLAY"))


def tunnel(url: str) -> str:
    """What brings the page to another machine."""
    where = urlsplit(url)
    return f"ssh -L {where.port}:{where.hostname}:{where.port} {getpass.getuser()}@{socket.gethostname()}"


def _leading_on(home: Path, url: str) -> str:
    file = home / "open.html"
    file.unlink(missing_ok=True)
    with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="ascii") as page:
        page.write(LEADS_ON.format(url=escape(url)))
    return file.as_uri()
