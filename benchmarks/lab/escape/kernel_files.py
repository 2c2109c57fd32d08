"""/proc, /sys and /dev: the kernel's own switches. A control writes back the value that it read, or only opens."""

from lab.escape.attack import Attack, Scene, exists, python, reached

_SAME = 'v=$(cat {path}) && printf %s "$v" > {path} && echo REACHED'
_OPEN = "import os; os.open({path!r}, os.{how}); print('REACHED')"


def _same(name: str, path: str) -> Attack:
    return Attack(name=name, command=_SAME.format(path=path), judge=reached, needs=path)


def _opens(name: str, path: str, how: str = "O_RDONLY") -> Attack:
    return Attack(name=name, command=python(_OPEN.format(path=path, how=how)), judge=reached, needs=path)


def _victim_goes_first(scene: Scene) -> bool:
    return scene.host.victim_status("oom_score_adj").strip() == "900"


_SECRET_ADDRESS = "grep -qv '^0000000000000000' /proc/kallsyms && echo REACHED"

ATTACKS = (
    _same("core_pattern: a program for every crash", "/proc/sys/kernel/core_pattern"),
    _same("modprobe: a program for every missing module", "/proc/sys/kernel/modprobe"),
    _same("overcommit", "/proc/sys/vm/overcommit_memory"),
    _same("limit of files of the machine", "/proc/sys/fs/file-max"),
    _same("who may ptrace, log, load", "/proc/sys/kernel/kptr_restrict"),
    _same("the largest process number", "/proc/sys/kernel/pid_max"),
    _opens("sysrq", "/proc/sysrq-trigger", "O_WRONLY"),
    _opens("the kernel's memory, as a core", "/proc/kcore"),
    _opens("the kernel's log", "/dev/kmsg"),
    _opens("write into the kernel's log", "/dev/kmsg", "O_WRONLY"),
    _opens("the kernel's log, by proc", "/proc/kmsg"),
    _opens("memory by pages", "/proc/kpageflags"),
    _opens("fuse", "/dev/fuse", "O_RDWR"),
    _opens("tunnels", "/dev/net/tun", "O_RDWR"),
    _opens("huge pages of all", "/sys/kernel/mm/transparent_hugepage/enabled", "O_WRONLY"),
    Attack(name="addresses of the kernel", command=_SECRET_ADDRESS, judge=reached),
    Attack(name="another goes first when memory runs out", command="echo 900 > /proc/@{victim}/oom_score_adj", judge=_victim_goes_first),
    Attack(
        name="a control group of its own",
        command="mkdir /sys/fs/cgroup/pids/@{mark} || mkdir /sys/fs/cgroup/@{mark}",
        judge=lambda scene: _removed(scene, "/sys/fs/cgroup/pids/@{mark}") or _removed(scene, "/sys/fs/cgroup/@{mark}"),
    ),
)


def _removed(scene: Scene, path: str) -> bool:
    if not exists(path)(scene):
        return False
    scene.host.path(path.replace("@{mark}", scene.mark)).rmdir()
    return True
