"""Browsers and phones: shown, let in, changed, signed out; and what was done by whom. All through the running gateway, which holds them."""

from datetime import datetime
from pathlib import Path
from urllib.parse import quote

from rich.text import Text

from daimon import config
from daimon.abi.access import Act, Device, Request, Right
from daimon.abi.codec import encode
from daimon.cli import screen
from daimon.cli.awake import client_of
from daimon.cli.opening import rights_of
from daimon.gateway import pairing
from daimon.gateway.client import Client

DEVICES = "/v1/devices"


def show(given: Path | None, as_json: bool) -> None:
    client = _client(given)
    found = client.ask(tuple[Device, ...], "GET", DEVICES)
    asking = client.ask(tuple[Request, ...], "GET", f"{DEVICES}/requests")
    if as_json:
        screen.emit(b'{"devices":%s,"requests":%s}' % (encode(tuple[Device, ...], found), encode(tuple[Request, ...], asking)))
        return
    rows = screen.table("id", "name", "may", "came by", "last seen", "until")
    for each in found:
        rows.add_row(each.id, _text(each.name), _words(each.rights), each.by, _moment(each.seen_at), _moment(each.expires_at))
    screen.out().print(rows if found else "no browser or phone is signed in; `daimon open` signs one in")
    if asking:
        _show_asking(asking)


def approve(given: Path | None, code: str, rights: str, as_json: bool) -> None:
    path = f"{DEVICES}/requests/{quote(code, safe='')}"
    done = _client(given).ask(Request, "POST", path, _giving(rights))
    _tell(Request, done, f"{screen.plain(done.name)} is let in, with {_words(done.rights or frozenset())}", as_json)


def refuse(given: Path | None, code: str, as_json: bool) -> None:
    done = _client(given).ask(Request, "DELETE", f"{DEVICES}/requests/{quote(code, safe='')}")
    _tell(Request, done, f"{screen.plain(done.name)} is not let in", as_json)


def revoke(given: Path | None, device: str, as_json: bool) -> None:
    done = _client(given).ask(Device, "DELETE", f"{DEVICES}/{quote(device, safe='')}")
    _tell(Device, done, f"{done.id}, {screen.plain(done.name)}, is signed out", as_json)


def rights(given: Path | None, device: str, to: str, as_json: bool) -> None:
    done = _client(given).ask(Device, "POST", f"{DEVICES}/{quote(device, safe='')}/rights", _giving(to))
    _tell(Device, done, f"{done.id}, {screen.plain(done.name)}, has {_words(done.rights)}", as_json)


def acts(given: Path | None, limit: int, as_json: bool) -> None:
    found = _client(given).ask(tuple[Act, ...], "GET", "/v1/acts", None, {"limit": str(limit)})
    if as_json:
        screen.emit(encode(tuple[Act, ...], found))
        return
    rows = screen.table("when", "who", "did", "to", "outcome")
    for each in found:
        rows.add_row(_moment(each.at), _text(each.name), _text(each.did), _text(each.on), each.outcome)
    screen.out().print(rows if found else "nothing was done yet")


def _show_asking(asking: tuple[Request, ...]) -> None:
    rows = screen.table("code", "asks to be let in", "from", "until")
    for each in asking:
        rows.add_row(pairing.shown(each.code), _text(each.name), _text(each.address), _moment(each.until))
    screen.out().print(rows)
    screen.remark("`daimon devices approve CODE --rights read,chat` lets one in, if it shows the same code.")


def _client(given: Path | None) -> Client:
    return client_of(config.home_at(given))


def _giving(rights: str) -> bytes:
    return encode(dict[str, list[str]], {"rights": sorted(rights_of(rights))})


def _tell(kind: type, value: object, words: str, as_json: bool) -> None:
    if as_json:
        screen.emit(encode(kind, value))
    else:
        screen.say(words)


def _words(rights: frozenset[Right]) -> str:
    return ",".join(each for each in Right if each in rights)


def _text(words: str) -> Text:
    return Text(screen.plain(words))


def _moment(at: datetime) -> str:
    return f"{at.astimezone():%Y-%m-%d %H:%M}"
