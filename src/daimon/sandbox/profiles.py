"""Which system calls there are in a box.

Three answers, by name. A call in `allowed` works, some only with certain arguments (`arguments.py`). A call in `FORBIDDEN` is a known way
to more than a box should have: "not permitted". All else, what is old and dead, what is new, what has no name yet, does not exist: "no such
call", upon which a libc takes the older way that can be looked into. So nothing becomes possible because a kernel became newer.

What is allowed acts on the caller's own processes, on files that the mounts and Landlock let through, or on nothing at all. What is not:
calls whose arguments lie behind a pointer where a filter cannot look, though they decide (clone3, openat2, io_uring); and memory that
belongs to no process, so that whoever adds up processes does not see it (memfd_create, System V memory, semaphores and queues).
"""

from daimon.abi.box import Profile

_FILES = """
    access chdir chmod chown close close_range copy_file_range creat dup dup2 dup3 faccessat faccessat2 fadvise64 fallocate fchdir fchmod
    fchmodat fchmodat2 fchown fchownat fcntl fdatasync fgetxattr file_getattr flistxattr flock fremovexattr fsetxattr fstat fstatfs fsync
    ftruncate futimesat getcwd getdents getdents64 getxattr getxattrat inotify_add_watch inotify_init inotify_init1 inotify_rm_watch ioctl
    lchown lgetxattr link linkat listxattr listxattrat llistxattr lremovexattr lseek lsetxattr lstat mkdir mkdirat mknod mknodat newfstatat
    open openat pipe pipe2 pread64 preadv preadv2 pwrite64 pwritev pwritev2 read readahead readlink readlinkat readv removexattr
    removexattrat rename renameat renameat2 rmdir sendfile setxattr setxattrat splice stat statfs statx symlink symlinkat sync
    sync_file_range syncfs tee truncate umask unlink unlinkat utime utimensat utimes vmsplice write writev
"""
_MEMORY = """
    brk cachestat get_mempolicy madvise map_shadow_stack membarrier mincore mlock mlock2 mlockall mmap mprotect mremap mseal msync munlock
    munlockall munmap pkey_alloc pkey_free pkey_mprotect remap_file_pages
"""
_PROCESSES = """
    alarm arch_prctl capget capset clone execve execveat exit exit_group fork futex futex_requeue futex_wait futex_waitv futex_wake
    get_robust_list getcpu getegid geteuid getgid getgroups getpgid getpgrp getpid getppid getpriority getresgid getresuid getrlimit
    getrusage getsid gettid getuid ioprio_get ioprio_set kill landlock_add_rule landlock_create_ruleset landlock_restrict_self pause
    personality pidfd_open pidfd_send_signal prctl prlimit64 process_mrelease restart_syscall rseq rt_sigaction rt_sigpending
    rt_sigprocmask rt_sigqueueinfo rt_sigreturn rt_sigsuspend rt_sigtimedwait rt_tgsigqueueinfo sched_get_priority_max
    sched_get_priority_min sched_getaffinity sched_getattr sched_getparam sched_getscheduler sched_rr_get_interval sched_setaffinity
    sched_setattr sched_setparam sched_setscheduler sched_yield seccomp set_robust_list set_tid_address setfsgid setfsuid setgid setgroups
    setpgid setpriority setregid setresgid setresuid setreuid setrlimit setsid setuid sigaltstack sysinfo tgkill times tkill uname vfork
    wait4 waitid
"""
_WAITING = """
    clock_getres clock_gettime clock_nanosleep epoll_create epoll_create1 epoll_ctl epoll_pwait epoll_pwait2 epoll_wait eventfd eventfd2
    getitimer getrandom gettimeofday nanosleep poll ppoll pselect6 select setitimer signalfd signalfd4 time timer_create timer_delete
    timer_getoverrun timer_gettime timer_settime timerfd_create timerfd_gettime timerfd_settime
"""
_MESSAGES = """
    getpeername getsockname getsockopt mq_getsetattr mq_notify mq_open mq_timedreceive mq_timedsend mq_unlink recvfrom recvmmsg recvmsg
    sendmmsg sendmsg sendto setsockopt shutdown socket socketpair
"""
_NETWORK = "accept accept4 bind connect listen"
_DEBUGGING = """
    memfd_create msgctl msgget msgrcv msgsnd process_vm_readv process_vm_writev ptrace semctl semget semop semtimedop shmat shmctl shmdt
    shmget
"""

_FORBIDDEN = """
    accept accept4 acct add_key adjtimex bind bpf chroot clock_adjtime clock_settime connect delete_module fanotify_init fanotify_mark
    finit_module fsconfig fsmount fsopen fspick init_module ioperm iopl kcmp kexec_file_load kexec_load keyctl listen lookup_dcookie mbind
    migrate_pages modify_ldt mount mount_setattr move_mount move_pages open_by_handle_at open_tree open_tree_attr perf_event_open
    pidfd_getfd pivot_root process_madvise process_vm_readv process_vm_writev ptrace quotactl quotactl_fd reboot request_key set_mempolicy
    set_mempolicy_home_node setdomainname sethostname setns settimeofday swapoff swapon syslog umount2 unshare userfaultfd vhangup
"""

FORBIDDEN = frozenset(_FORBIDDEN.split())
"""Refused as not permitted, where a profile does not allow them."""

_EVERYWHERE = f"{_FILES} {_MEMORY} {_PROCESSES} {_WAITING} {_MESSAGES}"
_ALLOWED: dict[Profile, frozenset[str]] = {
    "strict": frozenset(_EVERYWHERE.split()),
    "build": frozenset(f"{_EVERYWHERE} {_NETWORK}".split()),
    "debug": frozenset(f"{_EVERYWHERE} {_NETWORK} {_DEBUGGING}".split()),
}


def allowed(profile: Profile) -> frozenset[str]:
    """Names; not every machine has all of them."""
    return _ALLOWED[profile]
