"""Commands that run another one: `sudo`, `env`, `timeout` and their kin, and how to find it behind them."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Wrap:
    valued: str = ""
    """Options that take the next word: letters, then long names, separated by blanks."""
    skipped: int = 0
    """So many words come before the command."""
    text: str = ""
    """Options whose value is a command line."""
    is_shell_alone: bool = False
    """Without a command it is a shell, which reads what it is fed."""
    queries: str = ""
    """With one of these options nothing is run."""


WRAPS = {
    "sudo": Wrap(
        "ughpCrtTDRU --user --group --host --prompt --chdir --chroot", is_shell_alone=True, queries="-l -v -k -K -V --list --help"
    ),
    "doas": Wrap("uCa", is_shell_alone=True, queries="-L"),
    "pkexec": Wrap("--user"),
    "su": Wrap("gGsTw --group --shell", skipped=1, text="-c --command", is_shell_alone=True),
    "runuser": Wrap("gGsuT --user --group --shell", text="-c --command"),
    "gosu": Wrap(skipped=1),
    "su-exec": Wrap(skipped=1),
    "env": Wrap("uC --unset --chdir", text="-S --split-string"),
    "nohup": Wrap(),
    "nice": Wrap("n --adjustment"),
    "ionice": Wrap("cnpPu --class --classdata"),
    "chrt": Wrap("TPD", skipped=1),
    "taskset": Wrap(skipped=1),
    "timeout": Wrap("ks --kill-after --signal", skipped=1),
    "gtimeout": Wrap("ks --kill-after --signal", skipped=1),
    "time": Wrap("fo --format --output"),
    "stdbuf": Wrap("ioe --input --output --error"),
    "unbuffer": Wrap(),
    "setsid": Wrap(),
    "setpriv": Wrap("--reuid --regid --groups --inh-caps --bounding-set"),
    "unshare": Wrap("SGRw --setuid --setgid --root --wd"),
    "nsenter": Wrap("tSG --target --setuid --setgid"),
    "chroot": Wrap("--userspec --groups", skipped=1, is_shell_alone=True),
    "flock": Wrap("wEo --wait --timeout --conflict-exit-code", skipped=1, text="-c --command"),
    "script": Wrap("oIOBTtmE --log-out --log-in --timing", skipped=9, text="-c --command"),
    "watch": Wrap("n --interval"),
    "strace": Wrap("oepPsSuEaIbX"),
    "ltrace": Wrap("oepsuan"),
    "systemd-run": Wrap("pMHEu --property --unit --slice --description --uid --gid --working-directory"),
    "command": Wrap(queries="-v -V"),
    "builtin": Wrap(),
    "exec": Wrap("a"),
    "coproc": Wrap(),
    "busybox": Wrap(queries="--list --help"),
    "toybox": Wrap(),
    "caffeinate": Wrap("tw"),
    "proxychains": Wrap("f"),
    "torsocks": Wrap(),
    "!": Wrap(),
    "then": Wrap(),
    "do": Wrap(),
    "else": Wrap(),
}


@dataclass(frozen=True, slots=True)
class Unwrapped:
    words: list[str]
    texts: tuple[str, ...] = ()
    """Command lines among the options."""
    assigned: tuple[tuple[str, str], ...] = ()


def unwrapped(words: list[str], wrap: Wrap) -> Unwrapped:
    valued, texts = wrap.valued.partition(" "), tuple(wrap.text.split())
    letters, names = ("", wrap.valued.split()) if wrap.valued.startswith("--") else (valued[0], valued[2].split())
    found: list[str] = []
    assigned: list[tuple[str, str]] = []
    left, skipped = words[1:], wrap.skipped
    while left:
        word = left.pop(0)
        name, is_assigned, value = word.partition("=")
        if word in texts and left:
            found.append(left.pop(0))
        elif name in texts and is_assigned:
            found.append(value)
        elif word == "--":
            left = left[skipped:]
            break
        elif word.startswith("-"):
            takes = word in names or (not word.startswith("--") and word[-1] in letters)
            left = left[1:] if takes else left
        elif is_assigned and name.isidentifier() and not skipped:
            assigned.append((name, value))
        elif skipped:
            skipped -= 1
        else:
            left.insert(0, word)
            break
    return Unwrapped(left, tuple(found), tuple(assigned))
