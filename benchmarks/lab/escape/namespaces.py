"""Namespaces and mounts: a new one of one's own is where most ways to root begin."""

from lab.escape.attack import Attack, Scene, calling, reached, syscall

_KINDS = {"user": 0x1000_0000, "mount": 0x2_0000, "network": 0x4000_0000, "process": 0x2000_0000, "IPC": 0x800_0000, "cgroup": 0x200_0000}
_CLONE = """
result = libc.syscall(@{clone}, 0x%x | 17, 0, 0, 0, 0)
if result == 0: os._exit(0)
told(result)
"""
_CLONE3 = """
import struct
words = struct.pack("8Q", 0x10000000, 0, 0, 0, 17, 0, 0, 0)
result = libc.syscall(@{clone3}, words, 64)
if result == 0: os._exit(0)
told(result)
"""
_NESTED = "unshare --user --map-root-user --mount sh -c 'mount -t tmpfs @{mark} /mnt && sleep 0.5'"
_MOUNT = 'm = b"@{mark}"; told(libc.mount(m, b"/mnt", b"tmpfs", 0, None)); import time; time.sleep(0.5); libc.umount2(b"/mnt", 2)'
_SETNS = "told(libc.setns(os.open('/proc/%s/ns/%s', 0), 0))"


def _is_mounted(scene: Scene) -> bool:
    return scene.host.has_mount(scene.mark)


ATTACKS = (
    *(Attack(name=f"unshare: {kind}", command=calling(f"told(libc.unshare({flag}))"), judge=reached) for kind, flag in _KINDS.items()),
    Attack(name="clone: user", command=calling(_CLONE % _KINDS["user"]), judge=reached),
    Attack(name="clone: network", command=calling(_CLONE % (_KINDS["user"] | _KINDS["network"])), judge=reached),
    Attack(name="clone3: user", command=calling(_CLONE3), judge=reached),
    Attack(name="a user namespace in this one", command=_NESTED, judge=_is_mounted, is_live=True),
    Attack(name="mount", command=calling(_MOUNT), judge=_is_mounted, is_live=True),
    Attack(name="enter the host's mounts", command=calling(_SETNS % ("@{victim}", "mnt")), judge=reached),
    Attack(name="enter the host's network", command=calling(_SETNS % ("@{gateway}", "net")), judge=reached),
    Attack(name="enter by process 1", command=calling(_SETNS % ("1", "net")), judge=reached),
    Attack(name="enter one's own", command=calling(_SETNS % ("self", "uts")), judge=reached),
    Attack(name="unmount", command=calling('told(libc.umount2(b"/nowhere", 0))'), judge=reached),
    Attack(name="mount: open a tree", command=syscall("open_tree", "-100", 'b"/"', "1"), judge=reached),
    Attack(name="mount: a new file system", command=syscall("fsopen", 'b"tmpfs"', "0"), judge=reached),
    Attack(name="mount: move", command=syscall("move_mount", "-1", 'b""', "-1", 'b""', "0"), judge=reached),
    Attack(name="mount: attributes", command=syscall("mount_setattr", "-1", 'b""', "0", "0", "0"), judge=reached),
    Attack(name="another root", command=calling('told(libc.chroot(b"/"))'), judge=reached),
    Attack(name="pivot", command=syscall("pivot_root", 'b"/nowhere"', 'b"/nowhere"'), judge=reached),
)
