"""Namespaces of the holder: users, mounts, and a look into the box's network. Standard library only."""

import array
import ctypes
import fcntl
import os
import socket
from collections.abc import Iterable

from daimon.sandbox import mounts
from daimon.sandbox.spec import PROXY_PORT

_OWNER_OF = 0xB701
"""ioctl NS_GET_USERNS."""
_USERS, _NETWORK = 0x10000000, 0x40000000
_libc = ctypes.CDLL(None, use_errno=True)


def enter_own() -> None:
    """A mount namespace of one's own; for an ordinary user, inside a user namespace in which he stays himself."""
    user, group = os.getuid(), os.getgid()
    if user == 0:
        mounts.unshare(mounts.NEW_NAMESPACE)
    else:
        mounts.unshare(mounts.NEW_USERS | mounts.NEW_NAMESPACE)
        _write("/proc/self/setgroups", "deny")
        _write("/proc/self/uid_map", f"{user} {user} 1")
        _write("/proc/self/gid_map", f"{group} {group} 1")
    mounts.keep_to_oneself()


def join(users_and_mounts: Iterable[int]) -> None:
    """Enters namespaces of another process, in this order, and a copy of its mounts; what it shares goes on arriving there."""
    for namespace in users_and_mounts:
        _join(namespace, 0)
    mounts.unshare(mounts.NEW_NAMESPACE)


def mapping(owner: tuple[int, int], becomes: int, *, with_root: bool = False) -> int:
    """A user namespace that says: what belongs to the owner is the box user's. `with_root`: what is root's stays so, and all else is
    nobody's. No process lives in it."""
    ready_read, ready_write = os.pipe()
    done_read, done_write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            mounts.unshare(mounts.NEW_USERS)
            os.write(ready_write, b"1")
            os.close(done_write)
            os.read(done_read, 1)
        finally:
            os._exit(0)
    os.close(ready_write)
    os.close(done_read)
    try:
        if not os.read(ready_read, 1):
            raise OSError(1, "no user namespace can be made", "idmap")
        for name, number in zip(("uid_map", "gid_map"), owner, strict=True):
            root = "\n0 0 1" if with_root and number else ""
            _write(f"/proc/{child}/{name}", f"{number} {becomes} 1{root}")
        return os.open(f"/proc/{child}/ns/user", os.O_RDONLY | os.O_CLOEXEC)
    finally:
        os.close(done_write)
        os.close(ready_read)
        os.waitpid(child, 0)


def listen_inside(pid: int) -> socket.socket:
    """A listening socket in the network of a process: the only thing that its box can reach."""
    network = os.open(f"/proc/{pid}/ns/net", os.O_RDONLY | os.O_CLOEXEC)
    users = fcntl.ioctl(network, _OWNER_OF)
    here, there = socket.socketpair()
    child = os.fork()
    if child == 0:
        try:
            _join(users, _USERS)
            _join(network, _NETWORK)
            made = socket.create_server(("127.0.0.1", PROXY_PORT), backlog=64)
            there.sendmsg([b"1"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [made.fileno()]))])
        except OSError as error:
            there.send(f"0{error}".encode())
        finally:
            os._exit(0)
    there.close()
    os.close(network)
    os.close(users)
    said, descriptors, _, _ = socket.recv_fds(here, 512, 1)
    here.close()
    os.waitpid(child, 0)
    if not descriptors:
        raise OSError(1, said[1:].decode(errors="replace") or "nobody answered", "the network of the box")
    os.set_inheritable(descriptors[0], False)
    return socket.socket(fileno=descriptors[0])


def _join(namespace: int, kind: int) -> None:
    if _libc.setns(namespace, kind):
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), "joining a namespace")


def _write(path: str, text: str) -> None:
    with open(path, "w") as file:
        file.write(text)
