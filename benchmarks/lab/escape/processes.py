"""Other processes: one of the same user on the host, and the supervisor, which is process 1 of a box. Without a box there is no
supervisor; the owner's process stands in for it.
"""

from lab.escape.attack import Attack, Judge, Scene, calling, python, reached, told

_VECTORS = """
class Vector(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("size", ctypes.c_size_t)]
own = ctypes.create_string_buffer(b"changed!", 24)
near, far = Vector(ctypes.addressof(own), {size}), Vector(@{{address}}, {size})
"""
_READ = _VECTORS.format(size=24) + "libc.process_vm_readv(@{victim}, ctypes.byref(near), 1, ctypes.byref(far), 1, 0); print(own.raw)"
_WRITE = _VECTORS.format(size=8) + "libc.process_vm_writev(@{victim}, ctypes.byref(near), 1, ctypes.byref(far), 1, 0)"
_TAKE = """
target = libc.syscall(@{pidfd_open}, @{victim}, 0)
taken = libc.syscall(@{pidfd_getfd}, target, @{held}, 0)
print(os.pread(taken, 100, 0))
"""
_TAKE_ANY = """
target = libc.syscall(@{pidfd_open}, @{supervisor}, 0)
for number in range(10):
    told(libc.syscall(@{pidfd_getfd}, target, number, 0))
"""
_ATTACH = "import time; told(libc.ptrace(16, @{%s}, 0, 0)); time.sleep(0.5)"
_SIGNALS = "import os\nfor number in (1, 2, 3, 15, 11, 6, 19, 9):\n    os.kill(@{supervisor}, number)"
_LIMIT = "import resource; resource.prlimit(@{victim}, resource.RLIMIT_NOFILE, (5, 5))"
_QUEUE = "told(libc.sigqueue(@{victim}, 9, 0))"
_BY_DESCRIPTOR = "told(libc.syscall(@{pidfd_send_signal}, libc.syscall(@{pidfd_open}, @{victim}, 0), 9, 0, 0))"
_MEMORY = "f = open('/proc/@{victim}/mem', 'rb', 0); f.seek(@{address}); print(f.read(24))"


def _is_traced(scene: Scene) -> bool:
    return any(line.split()[1] != "0" for line in scene.host.victim_status("status").splitlines() if line.startswith("TracerPid"))


def _is_dead(scene: Scene) -> bool:
    return scene.host.victim_is_dead()


def _has(file: str, text: str) -> Judge:
    return lambda scene: text in scene.host.victim_status(file)


def _is_overwritten(scene: Scene) -> bool:
    return scene.host.ask_victim().startswith("changed!")


def _is_lost(scene: Scene) -> bool:
    return scene.said.is_lost


ATTACKS = (
    Attack(name="trace a process of the owner", command=calling(_ATTACH % "victim"), judge=_is_traced, is_live=True),
    Attack(name="read its memory", command=calling(_READ), judge=told("victim")),
    Attack(name="write its memory", command=calling(_WRITE), judge=_is_overwritten),
    Attack(name="read its memory by proc", command=python(_MEMORY), judge=told("victim")),
    Attack(name="take its open file", command=calling(_TAKE), judge=told("home")),
    Attack(name="read its environment", command="cat /proc/@{victim}/environ; cat /proc/[0-9]*/environ", judge=told("environment")),
    Attack(name="read the gateway's environment", command="cat /proc/@{gateway}/environ; cat /proc/[0-9]*/environ", judge=told("gateway")),
    Attack(name="kill it", command="kill -9 @{victim}", judge=_is_dead, settle_s=0.2),
    Attack(name="kill it by a descriptor", command=calling(_BY_DESCRIPTOR), judge=_is_dead, settle_s=0.2),
    Attack(name="kill it with a word", command=calling(_QUEUE), judge=_is_dead, settle_s=0.2),
    Attack(name="kill all by name", command="pkill -9 -f 'argv\\[1\\], os.O_RDONLY'", judge=_is_dead, settle_s=0.2),
    Attack(name="limit it", command=python(_LIMIT), judge=_has("limits", "Max open files            5 ")),
    Attack(name="bind it to a processor", command="taskset -p 1 @{victim}", judge=_has("status", "Cpus_allowed_list:\t0\n")),
    Attack(name="supervisor: end it", command=python(_SIGNALS), judge=_is_lost, needs_new_box=True),
    Attack(name="supervisor: trace it", command=calling(_ATTACH % "supervisor"), judge=reached),
    Attack(name="supervisor: its memory", command="head -c 0 /proc/@{supervisor}/mem && echo REACHED", judge=reached),
    Attack(name="supervisor: its map", command="head -c 9 /proc/@{supervisor}/maps | grep -q . && echo REACHED", judge=reached),
    Attack(name="supervisor: its environment", command="grep -q . /proc/@{supervisor}/environ && echo REACHED", judge=reached),
    Attack(name="supervisor: its descriptors", command="ls /proc/@{supervisor}/fd | grep -q . && echo REACHED", judge=reached),
    Attack(name="supervisor: take a descriptor", command=calling(_TAKE_ANY), judge=reached),
    Attack(name="supervisor: where it is", command="ls /proc/@{supervisor}/cwd/ /proc/@{supervisor}/root/ && echo REACHED", judge=reached),
)
