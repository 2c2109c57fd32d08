"""The network by every family of sockets, past the proxy: to the host's loopback, its own address, its names, its Unix sockets."""

from lab.escape.attack import Attack, calling, heard, python, reached

_TCP = "import socket; socket.create_connection(('%s', %s), 2).sendall(b'@{mark}')"
_UDP = "import socket; socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'@{mark}', ('%s', @{port}))"
_UNIX = "import socket; s = socket.socket(socket.AF_UNIX); s.connect(%s); s.sendall(b'@{mark}')"
_LOOKUP = "import socket; socket.create_connection(('@{mark}.test', 80), 2)"
_ASK = """
import socket
query = b'ab\\1\\0\\0\\1\\0\\0\\0\\0\\0\\0' + bytes([len('@{mark}')]) + b'@{mark}\\4test\\0\\0\\1\\0\\1'
socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(query, ('127.0.0.1', 53))
"""
_PAIR = """
import socket
a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
import os; print("REACHED")
"""
_BOUND_FAMILY = """
import errno
result = libc.socket(%s)
print("REACHED" if result >= 0 else "refused", ctypes.get_errno())
"""


def _tcp(name: str, address: str, port: str, listener: str) -> Attack:
    return Attack(name=name, command=python(_TCP % (address, port)), judge=heard(listener), settle_s=0.3)


def _makes(name: str, arguments: str) -> Attack:
    """A socket that could be made at all: other failures than a missing family do not count as reached here."""
    return Attack(name=name, command=calling(_BOUND_FAMILY % arguments), judge=reached)


def _to(name: str, code: str, listener: str) -> Attack:
    return Attack(name=name, command=python(code), judge=heard(listener), settle_s=0.3)


ATTACKS = (
    _tcp("TCP to the host's loopback", "127.0.0.1", "@{port}", "loopback"),
    _tcp("TCP to the host's address", "@{own}", "@{port}", "own"),
    _tcp("TCP to a public address", "@{public}", "80", "public"),
    _tcp("TCP to the cloud's metadata", "@{metadata}", "80", "metadata"),
    _tcp("TCP over IPv6", "::1", "@{port}", "loopback6"),
    _to("UDP to the host's loopback", _UDP % "127.0.0.1", "udp"),
    _to("UDP to the host's address", _UDP % "@{own}", "udp-own"),
    _to("a name as a message", _LOOKUP, "names"),
    _to("a question to the host's name server", _ASK, "names"),
    _to("a Unix socket by its path", _UNIX % "'@{home}/service.sock'", "path"),
    _to("a Unix socket in the workspace", _UNIX % "'service.sock'", "workspace"),
    _to("an abstract Unix socket", _UNIX % "'\\0@{abstract}'", "abstract"),
    Attack(name="datagram pair", command=python(_PAIR), judge=reached),
    _makes("netlink: audit", "16, 3, 9"),
    _makes("netlink: sockets of others", "16, 3, 4"),
    _makes("netlink: events of devices", "16, 3, 15"),
    _makes("netlink: netfilter", "16, 3, 12"),
    _makes("netlink: generic", "16, 3, 16"),
    _makes("packets", "17, 3, 0x300"),
    _makes("raw ICMP", "2, 3, 1"),
    _makes("ping", "2, 2, 1"),
    _makes("virtual machine's socket", "40, 1, 0"),
    _makes("the kernel's ciphers", "38, 5, 0"),
    _makes("TCP by many paths", "2, 1, 262"),
    _makes("UDP lite", "2, 2, 136"),
)
