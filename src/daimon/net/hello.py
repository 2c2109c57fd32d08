"""The first words of TLS, looked at from outside: which host does the box ask for?

A tunnel is opened for a host by its name; behind one address there may be many. So the name in the ClientHello must be that host. After a
HelloRetryRequest the client says hello again, and some servers would believe a second name: so all is looked at until keys are in use.
Encrypted hellos are refused, since their true name cannot be seen.

It reads records and reassembles messages, because a hello may be cut anywhere. What it hands back goes on byte for byte.
"""

from daimon.net.refusal import Malformed

ALERT = bytes.fromhex("15030300020270")
"""Fatal, unrecognised name."""
_HANDSHAKE, _CHANGE_CIPHER = 22, 20
_CLIENT_HELLO = 1
_MOST_RECORD = 16 * 1024 + 256
_MOST_HELLO = 64 * 1024
_SERVER_NAME = 0
_HIDDEN = {0xFE0D, 0xFFCE}


class Watch:
    """Feed it what the box sends; it hands back what may go on."""

    def __init__(self, host: str, is_literal: bool) -> None:
        self._host = host
        self._is_literal = is_literal
        self._records = bytearray()
        self._message = bytearray()
        self._waiting = bytearray()
        self.has_hello = False
        self.is_done = False

    def feed(self, data: bytes) -> bytes:
        """Raises Malformed."""
        self._records += data
        while not self.is_done and (record := self._record()) is not None:
            self._look(record)
            self._waiting += record
        if self.is_done:
            return self._take(self._waiting) + self._take(self._records)
        return b"" if self._message else self._take(self._waiting)

    def rest(self) -> bytes:
        """What came behind the hello and is no whole record yet, for whoever takes over from here."""
        return self._take(self._records)

    def _record(self) -> bytes | None:
        if len(self._records) >= 3 and (not 20 <= self._records[0] <= 24 or self._records[1] != 3):
            raise Malformed("what came through the tunnel is not TLS; plain connections go through the proxy without CONNECT")
        if len(self._records) < 5:
            return None
        size = int.from_bytes(self._records[3:5])
        if not 0 < size <= _MOST_RECORD:
            raise Malformed("a TLS record has an impossible length")
        return self._take(self._records, 5 + size) if len(self._records) >= 5 + size else None

    def _look(self, record: bytes) -> None:
        if record[0] != _HANDSHAKE:
            if self._message or not self.has_hello:
                raise Malformed("TLS does not begin with a hello")
            self.is_done = record[0] != _CHANGE_CIPHER
            return
        self._message += record[5:]
        while len(self._message) >= 4 and not self.is_done:
            self._hello()
            if len(self._message) >= 4 and self._size() > len(self._message):
                return

    def _hello(self) -> None:
        if self._message[0] != _CLIENT_HELLO:
            if not self.has_hello:
                raise Malformed("TLS does not begin with a hello")
            self.is_done = True
            return
        if self._size() > _MOST_HELLO:
            raise Malformed("the hello of TLS is too long")
        if len(self._message) >= self._size():
            self._check(self._take(self._message, self._size())[4:])

    def _size(self) -> int:
        return 4 + int.from_bytes(self._message[1:4])

    def _check(self, hello: bytes) -> None:
        self.has_hello = True
        name = server_name(hello)
        if name is None and self._is_literal:
            return
        if name is None:
            raise Malformed(f"TLS names no host; it must name {self._host}")
        if name != self._host:
            raise Malformed(f"TLS names another host ({name[:80]}) than the tunnel was opened for ({self._host})")

    @staticmethod
    def _take(data: bytearray, size: int | None = None) -> bytes:
        taken = bytes(data[:size])
        del data[:size]
        return taken


def server_name(hello: bytes) -> str | None:
    """Of a ClientHello's body. None: it names none. Raises Malformed."""
    rest = _Bytes(hello)
    rest.take(34)
    rest.take(rest.number(1))
    rest.take(rest.number(2))
    rest.take(rest.number(1))
    name: str | None = None
    extensions = _Bytes(rest.take(rest.number(2)) if rest.left else b"")
    while extensions.left:
        kind, content = extensions.number(2), extensions.take(extensions.number(2))
        if kind in _HIDDEN:
            raise Malformed("TLS hides the name of its host (ECH); turn that off in the client")
        if kind == _SERVER_NAME:
            if name is not None:
                raise Malformed("TLS names its host twice")
            name = _name(_Bytes(content))
    return name


def _name(content: "_Bytes") -> str:
    names = _Bytes(content.take(content.number(2)))
    kind, raw = names.number(1), names.take(names.number(2))
    if kind or names.left or content.left or not raw.isascii():
        raise Malformed("TLS names its host in an odd way")
    return raw.decode("ascii").lower()


class _Bytes:
    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    @property
    def left(self) -> int:
        return len(self._data) - self._at

    def take(self, size: int) -> bytes:
        if size > self.left:
            raise Malformed("the hello of TLS breaks off")
        self._at += size
        return self._data[self._at - size : self._at]

    def number(self, size: int) -> int:
        return int.from_bytes(self.take(size))
