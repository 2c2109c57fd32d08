"""System calls that lead deep into the kernel. Reached is what fails for another reason than not being allowed, with harmless arguments."""

from lab.escape.attack import Attack, calling, reached, syscall

_CALLS: dict[str, tuple[str, ...]] = {
    "bpf": ("0", "0", "0"),
    "perf_event_open": ("0", "0", "-1", "-1", "0"),
    "io_uring_setup": ("1", "0"),
    "keyctl": ("0", "-3", "0"),
    "add_key": ('b"user"', 'b"x"', 'b"y"', "1", "-2"),
    "request_key": ('b"user"', 'b"none"', "0", "0"),
    "userfaultfd": ("1",),
    "init_module": ("0", "0", 'b""'),
    "finit_module": ("-1", 'b""', "0"),
    "delete_module": ('b"no-such-module"', "0"),
    "kexec_load": ("0", "99999", "0", "0xffff"),
    "kexec_file_load": ("-1", "-1", "0", "0", "0"),
    "ptrace": ("0", "0", "0", "0"),
    "process_vm_readv": ("os.getpid()", "0", "0", "0", "0", "0"),
    "personality": ("0x0400000",),
    "modify_ldt": ("0", "0", "0"),
    "iopl": ("3",),
    "ioperm": ("0x80", "1", "1"),
    "swapon": ('b"/nowhere"', "0"),
    "reboot": ("0", "0", "0", "0"),
    "settimeofday": ("0", "0"),
    "clock_adjtime": ("0", "ctypes.create_string_buffer(256)"),
    "acct": ('b"/nowhere/x"',),
    "quotactl": ("0", "0", "0", "0"),
    "syslog": ("10", "0", "0"),
    "open_by_handle_at": ("-100", "0", "0"),
    "name_to_handle_at": ("-100", 'b"/"', "0", "0", "0"),
    "fanotify_init": ("0", "0"),
    "kcmp": ("os.getpid()", "os.getpid()", "0", "0", "0"),
    "mbind": ("0", "0", "0", "0", "0", "0"),
    "move_pages": ("0", "0", "0", "0", "0", "0"),
    "set_mempolicy": ("0", "0", "0"),
    "process_madvise": ("-1", "0", "0", "0", "0"),
    "sethostname": ("0", "-1"),
    "memfd_secret": ("0",),
    "shmget": ("0", "4096", "0o1600"),
    "io_setup": ("1", "0"),
}
_OTHER_ABI = """
import mmap
code = mmap.mmap(-1, 4096, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
code.write(bytes.fromhex("b814000000cd80c3"))
address = ctypes.addressof(ctypes.c_char.from_buffer(code))
told(0 if ctypes.CFUNCTYPE(ctypes.c_int)(address)() == os.getpid() else -1)
"""

ATTACKS = (
    *(Attack(name=name, command=syscall(name, *arguments), judge=reached) for name, arguments in _CALLS.items()),
    Attack(name="calls of the 32-bit kind", command=calling(_OTHER_ABI), judge=reached),
    Attack(name="calls of the x32 kind", command=calling("told(libc.syscall(0x40000000 + 39))"), judge=reached),
)
