"""All attacks, by family."""

from lab.escape import (
    bombs,
    descriptors,
    files,
    kernel_calls,
    kernel_files,
    namespaces,
    persistence,
    processes,
    proxy,
    races,
    set_id,
    sockets,
    terminals,
    vault,
)
from lab.escape.attack import Attack

FAMILIES: dict[str, tuple[Attack, ...]] = {
    "files": files.ATTACKS,
    "kernel's files": kernel_files.ATTACKS,
    "processes": processes.ATTACKS,
    "namespaces": namespaces.ATTACKS,
    "system calls": kernel_calls.ATTACKS,
    "sockets": sockets.ATTACKS,
    "terminals": terminals.ATTACKS,
    "set-id": set_id.ATTACKS,
    "descriptors": descriptors.ATTACKS,
    "races": races.ATTACKS,
    "persistence": persistence.ATTACKS,
    "proxy": proxy.ATTACKS,
    "vault": vault.ATTACKS,
    "bombs": bombs.ATTACKS,
}
