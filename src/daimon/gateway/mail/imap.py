"""One line to an IMAP server (RFC 3501), as much of it as is needed here.

One command at a time, each with a deadline; whatever breaks is an `OSError`, after which the line is of no use any more. A refused login
is `LockedOut`, unless the server says that it is a matter of time. What the server tells by itself is noted: `has_news` is true from
the moment it speaks of new mail until the next search, so that a mail between a search and the wait for the next one is not missed.

Nothing that a mail contains is read as protocol: it comes as a literal, whose length was announced and is limited.
"""

import asyncio
import re
import ssl
from base64 import b64encode
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal

from daimon.abi.errors import LockedOut
from daimon.gateway.mail.account import Account

COMMAND_S = 60.0
CONNECT_S = 20.0
MOST_LINE = 4 * 1024 * 1024
MOST_LITERAL = 64 * 1024 * 1024
_LITERAL = re.compile(rb"\{(\d{1,12})\+?\}$")
_TEMPORARY = (b"UNAVAILABLE", b"INUSE", b"LIMIT", b"SERVERBUG", b"CONTACTADMIN")


class ImapFailed(OSError):
    """The server refused a command, or spoke nonsense."""


@dataclass(frozen=True, slots=True)
class Reply:
    """One response: its text, where a literal stands as its place in `literals`, in braces."""

    text: bytes
    literals: tuple[bytes, ...] = ()


@dataclass(frozen=True, slots=True)
class Selected:
    validity: int
    """UIDs mean the same mail for as long as this stays the same."""
    next_uid: int
    """0: the server did not say."""


@dataclass(frozen=True, slots=True)
class Fetched:
    uid: int
    size: int
    """Of the whole."""
    flags: frozenset[str]
    data: bytes = b""
    """Perhaps only its beginning."""


class Imap:
    """Made by `connect`."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer
        self._tags = 0
        self.capabilities: frozenset[str] = frozenset()
        self.has_news = False

    async def command(self, line: str, literal: bytes | None = None) -> list[Reply]:
        """What the server said before it said OK."""
        tag = self._tag()
        async with asyncio.timeout(COMMAND_S + len(literal or b"") / 65_536):
            self._write(f"{tag} {line}" + ("" if literal is None else f" {{{len(literal)}}}"))
            if literal is not None:
                await self._until(tag, b"+")
                self._writer.write(literal + b"\r\n")
            return await self._until(tag)

    async def login(self, user: str, password: str) -> None:
        try:
            if any(ord(character) > 126 for character in user + password) and "AUTH=PLAIN" in self.capabilities:
                token = b64encode(f"\0{user}\0{password}".encode()).decode()
                await self._authenticate(token)
            else:
                await self.command(f"LOGIN {quoted(user)} {quoted(password)}")
        except ImapFailed as refusal:
            said = str(refusal).replace(password, "…") if password else str(refusal)
            if any(word.decode() in said.upper() for word in _TEMPORARY):
                raise ImapFailed(said) from None
            raise LockedOut(f"the mail server does not let {user} in: {said}; give the secret of channels.mail.password anew") from None
        await self.ask_capabilities()

    async def _authenticate(self, token: str) -> None:
        tag = self._tag()
        async with asyncio.timeout(COMMAND_S):
            self._write(f"{tag} AUTHENTICATE PLAIN")
            await self._until(tag, b"+")
            self._write(token)
            await self._until(tag)

    async def ask_capabilities(self) -> None:
        said = b" ".join(reply.text for reply in await self.command("CAPABILITY") if reply.text.upper().startswith(b"CAPABILITY"))
        self.capabilities = frozenset(said.decode("ascii", "replace").upper().split())

    async def start_tls(self, context: ssl.SSLContext, host: str) -> None:
        await self.command("STARTTLS")
        if getattr(self._reader, "_buffer", b""):  # what somebody put on the line in clear must not count as said under protection
            raise ImapFailed("the server said something between STARTTLS and the handshake: somebody may sit on the line")
        await self._writer.start_tls(context, server_hostname=host)
        await self.ask_capabilities()

    async def select(self, folder: str, verb: Literal["SELECT", "EXAMINE"] = "SELECT") -> Selected:
        said = b" ".join(reply.text for reply in await self.command(f"{verb} {quoted(to_utf7(folder))}"))
        validity, following = (re.search(rb"\[%s (\d{1,12})" % word, said, re.IGNORECASE) for word in (b"UIDVALIDITY", b"UIDNEXT"))
        if validity is None:
            raise ImapFailed(f"the server gives the mails of {folder!r} no lasting numbers (UIDVALIDITY)")
        self.has_news = True
        return Selected(int(validity[1]), int(following[1]) if following else 0)

    async def search(self, criteria: str) -> tuple[int, ...]:
        """UIDs, in order."""
        self.has_news = False
        found = [
            reply.text[6:].split() for reply in await self.command(f"UID SEARCH {criteria}") if reply.text.upper().startswith(b"SEARCH")
        ]
        return tuple(sorted({int(uid) for uids in found for uid in uids if uid.isdigit()}))

    async def fetch(self, uid: int, most: int) -> Fetched | None:
        """At most so many bytes of it. None: it is gone."""
        known = await self._fetch(uid, "(UID RFC822.SIZE FLAGS)")
        if known is None or not most:
            return known
        whole = await self._fetch(uid, f"(UID RFC822.SIZE FLAGS BODY.PEEK[]<0.{min(most, max(1, known.size))}>)")
        return whole and Fetched(uid, max(known.size, whole.size), whole.flags, whole.data)

    async def headers(self, uid: int) -> bytes:
        got = await self._fetch(uid, "(UID RFC822.SIZE FLAGS BODY.PEEK[HEADER]<0.262144>)")
        return got.data if got else b""

    async def _fetch(self, uid: int, items: str) -> Fetched | None:
        for reply in await self.command(f"UID FETCH {uid} {items}"):
            if re.match(rb"\d+ FETCH \(", reply.text, re.IGNORECASE) and re.search(rb"\bUID %d\b" % uid, reply.text, re.IGNORECASE):
                size = re.search(rb"RFC822\.SIZE (\d{1,12})", reply.text, re.IGNORECASE)
                flags = re.search(rb"FLAGS \(([^)]*)\)", reply.text, re.IGNORECASE)
                words = frozenset(flags[1].decode("ascii", "replace").lower().split()) if flags else frozenset()
                return Fetched(uid, int(size[1]) if size else 0, words, b"".join(reply.literals))
        return None

    async def append(self, folder: str, data: bytes, flags: str) -> None:
        await self.command(f"APPEND {quoted(to_utf7(folder))} ({flags})", data)

    async def sent_folder(self) -> str:
        """By its special use (RFC 6154), else by its usual name. Empty: there is none."""
        with_use = 'LIST (SPECIAL-USE) "" "*"' if "SPECIAL-USE" in self.capabilities else 'LIST "" "*"'
        names: list[str] = []
        for reply in [*await self.command(with_use), *await self.command('LIST "" "*"')]:
            entry = re.match(rb'LIST \(([^)]*)\) (?:"\\?."|NIL) (.*)$', reply.text, re.IGNORECASE)
            if entry is None:
                continue
            name = from_utf7((reply.literals[0] if reply.literals else _unquoted(entry[2])).decode("ascii", "replace"))
            if b"\\sent" in entry[1].lower():
                return name
            names.append(name)
        return next((name for name in names if re.split(r"[./]", name)[-1].lower() in ("sent", "sent items", "sent mail")), "")

    async def idle(self, longest_s: float) -> None:
        """Until the server has news, or so long (RFC 2177)."""
        tag = self._tag()
        async with asyncio.timeout(COMMAND_S):
            self._write(f"{tag} IDLE")
            await self._until(tag, b"+")
        with suppress(TimeoutError):
            async with asyncio.timeout(longest_s):
                while not self.has_news:
                    self._note(await self._reply())
        async with asyncio.timeout(COMMAND_S):
            self._write("DONE")
            await self._until(tag)

    async def close(self) -> None:
        with suppress(OSError, TimeoutError):
            async with asyncio.timeout(2.0):
                self._write(f"{self._tag()} LOGOUT")
                await self._writer.drain()
        self._writer.close()
        with suppress(OSError, TimeoutError):
            async with asyncio.timeout(2.0):
                await self._writer.wait_closed()

    async def greeting(self) -> None:
        async with asyncio.timeout(CONNECT_S):
            hello = await self._reply()
        if not hello.text.upper().startswith(b"* OK"):
            raise ImapFailed(f"the mail server does not want to talk: {_shown(hello.text)}")
        await self.ask_capabilities()

    def _tag(self) -> str:
        self._tags += 1
        return f"D{self._tags}"

    def _write(self, line: str) -> None:
        if any(sign in line for sign in "\r\n\0"):
            raise ImapFailed("a folder, a user or a password with a line break in it cannot be sent to a mail server")
        self._writer.write(line.encode() + b"\r\n")

    async def _until(self, tag: str, sign: bytes = b"") -> list[Reply]:
        """All that is said until the command is done, or until the server asks for more where `sign` is given."""
        await self._writer.drain()
        said: list[Reply] = []
        while True:
            reply = await self._reply()
            self._note(reply)
            if sign and reply.text.startswith(sign):
                return said
            first, _, rest = reply.text.partition(b" ")
            if first == b"*":
                said.append(Reply(rest, reply.literals))
            elif first == tag.encode():
                if sign or not rest.upper().startswith(b"OK"):
                    raise ImapFailed(f"the mail server says {_shown(rest)}")
                return [*said, Reply(rest)]

    def _note(self, reply: Reply) -> None:
        if re.match(rb"\* \d+ (EXISTS|RECENT)\b", reply.text, re.IGNORECASE):
            self.has_news = True
        elif re.match(rb"\* BYE\b", reply.text, re.IGNORECASE):
            raise ImapFailed(f"the mail server hangs up: {_shown(reply.text[2:])}")

    async def _reply(self) -> Reply:
        text, literals = b"", list[bytes]()
        while True:
            try:
                line = (await self._reader.readuntil(b"\r\n"))[:-2]
                length = _LITERAL.search(line)
                if length is None:
                    return Reply(text + line, tuple(literals))
                if int(length[1]) > MOST_LITERAL:
                    raise ImapFailed(f"the mail server announces {int(length[1])} bytes at once")
                literals.append(await self._reader.readexactly(int(length[1])))
            except asyncio.IncompleteReadError:
                raise ImapFailed("the mail server hung up") from None
            except asyncio.LimitOverrunError:
                raise ImapFailed(f"the mail server sent a line of more than {MOST_LINE} bytes") from None
            text += line[: length.start()] + b"{%d}" % (len(literals) - 1)


async def connect(account: Account) -> Imap:
    """Logged in. Raises OSError, TimeoutError, LockedOut."""
    server = account.server("imap")
    context = account.tls() if server.security != "none" else None
    at_once = context if server.security == "tls" else None
    async with asyncio.timeout(CONNECT_S):
        reader, writer = await asyncio.open_connection(server.host, server.port, ssl=at_once, limit=MOST_LINE)
    imap = Imap(reader, writer)
    try:
        await imap.greeting()
        if server.security == "starttls" and context is not None:
            async with asyncio.timeout(CONNECT_S):
                await imap.start_tls(context, server.host)
        await imap.login(account.login, account.password())
    except BaseException:
        writer.close()
        raise
    return imap


def quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def to_utf7(name: str) -> str:
    """How IMAP writes the names of folders (RFC 3501, 5.1.3)."""
    return re.sub(r"[^ -~]+|&", lambda run: "&-" if run[0] == "&" else f"&{_base64(run[0])}-", name)


def from_utf7(name: str) -> str:
    def plain(run: re.Match[str]) -> str:
        if not run[1]:
            return "&"
        try:
            return f"+{run[1].replace(',', '/')}-".encode("ascii").decode("utf-7")
        except UnicodeDecodeError:
            return run[0]

    return re.sub(r"&([^-]*)-", plain, name)


def _base64(text: str) -> str:
    return b64encode(text.encode("utf-16-be")).decode().rstrip("=").replace("/", ",")


def _unquoted(name: bytes) -> bytes:
    return re.sub(rb"\\(.)", rb"\1", name[1:-1]) if name.startswith(b'"') else name


def _shown(text: bytes) -> str:
    return text[:300].decode("utf-8", "replace")
