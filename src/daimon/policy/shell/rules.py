"""The commands that never run, each with the sentence that says why. Short and certain: what has an ordinary use is not here."""

import re
from collections.abc import Callable, Sequence

from daimon.policy.shell import paths
from daimon.policy.shell.scene import Never, Scene
from daimon.policy.shell.shown import shown

OFF = "it would switch this machine off or start it anew"


def refuse(name: str, words: Sequence[str], scene: Scene) -> None:
    """Raises Never."""
    rule = RULES.get(name) or (_format if name.startswith(("mkfs.", "mke2fs")) else None)
    if rule is not None and (why := rule(words, scene)):
        raise Never(f"`{shown(words)}` never runs: {why}")


def _options(words: Sequence[str]) -> tuple[str, list[str]]:
    """All short letters, and the long options."""
    own = words[1 : words.index("--")] if "--" in words else words[1:]
    letters = "".join(word[1:] for word in own if re.fullmatch(r"-[A-Za-z]+", word))
    return letters, [word for word in own if word.startswith("--")]


def _given(words: Sequence[str], scene: Scene) -> list[str]:
    """What is not an option, as paths."""
    cut = words.index("--") if "--" in words else len(words)
    return [scene.path(word) for place, word in enumerate(words) if place and word != "--" and (place > cut or not word.startswith("-"))]


def _is_recursive(words: Sequence[str]) -> bool:
    letters, long = _options(words)
    return "r" in letters.lower() or any("--recursive".startswith(word) and len(word) > 3 for word in long)


def _rm(words: Sequence[str], scene: Scene) -> str:
    if "--no-preserve-root" in words:
        return "it asks not to spare the root of the file system"
    is_recursive = _is_recursive(words)
    for path in _given(words, scene):
        if (is_recursive and paths.is_whole_system(path)) or paths.is_all_inside(path):
            return f"it would delete all of {shown([path])}"
        if paths.is_vital(path) or paths.is_disk(path):
            return f"it would take {path} away, which this machine needs"
    return ""


def _modes(words: Sequence[str], scene: Scene) -> str:
    """chmod, chown, chgrp, setfacl."""
    if not _is_recursive(words):
        return ""
    bad = next((path for path in _given(words, scene) if paths.is_kept_by_system(path)), "")
    return f"it would change who may use all of {shown([bad])}" if bad else ""


def _format(words: Sequence[str], scene: Scene) -> str:
    disk = next((path for path in _given(words, scene) if paths.is_disk(path)), "")
    return f"it would take all that is on the disk {disk}" if disk else ""


def _format_unless(*reading: str) -> Callable[[Sequence[str], Scene], str]:
    def rule(words: Sequence[str], scene: Scene) -> str:
        return "" if any(word in reading for word in words[1:]) else _format(words, scene)

    return rule


def _format_if(*writing: str) -> Callable[[Sequence[str], Scene], str]:
    def rule(words: Sequence[str], scene: Scene) -> str:
        return _format(words, scene) if any(word.startswith(writing) for word in words[1:]) else ""

    return rule


def _dd(words: Sequence[str], scene: Scene) -> str:
    targets = (scene.path(word[3:]) for word in words if word.startswith("of="))
    return next((harm for path in targets if (harm := paths.damage(path))), "")


def _writes(words: Sequence[str], scene: Scene) -> str:
    """tee, shred, truncate: on all that they name."""
    return next((harm for path in _given(words, scene) if (harm := paths.damage(path))), "")


def _copy(words: Sequence[str], scene: Scene) -> str:
    given = _given(words, scene)
    return paths.damage(given[-1]) if len(given) > 1 else ""


def _mv(words: Sequence[str], scene: Scene) -> str:
    given = _given(words, scene)
    bad = next((path for path in given[:-1] if paths.is_whole_system(path)), "")
    return f"it would move all of {shown([bad])} away" if bad else _copy(words, scene)


def _sed(words: Sequence[str], scene: Scene) -> str:
    is_in_place = any(word.startswith(("-i", "--in-place")) for word in words)
    return _writes(words, scene) if is_in_place else ""


def _rsync(words: Sequence[str], scene: Scene) -> str:
    given = _given(words, scene)
    is_deleting = any(word.startswith("--del") for word in words)
    return "it would delete all of /" if is_deleting and given and given[-1] == "/" else ""


def _kill(words: Sequence[str], scene: Scene) -> str:
    return "it would end every process of this machine" if "-1" in words[2:] else ""


def _off(words: Sequence[str], scene: Scene) -> str:
    return "" if any(word in ("-c", "--help", "--version", "--show", "-w", "--wtmp-only") for word in words[1:]) else OFF


def _init(words: Sequence[str], scene: Scene) -> str:
    return OFF if any(word in ("0", "6") for word in words[1:2]) else ""


def _systemctl(words: Sequence[str], scene: Scene) -> str:
    verbs = [word for word in words[1:] if not word.startswith("-")]
    return OFF if verbs[:1] and verbs[0] in ("poweroff", "reboot", "halt", "kexec", "soft-reboot", "rescue", "emergency") else ""


def _module(words: Sequence[str], scene: Scene) -> str:
    reading = ("-n", "--dry-run", "--show", "--show-depends", "-D", "-c", "--showconfig", "--help", "-V", "--version")
    return "" if len(words) < 2 or any(word in reading for word in words) else "it would change the kernel that runs this machine"


def _netcat(words: Sequence[str], scene: Scene) -> str:
    letters, long = _options(words)
    is_handing = "e" in letters or "c" in letters or any(word.startswith(("--exec", "--sh-exec", "--lua-exec")) for word in long)
    return "it would give a program on this machine to whoever is at the other end" if is_handing else ""


def _socat(words: Sequence[str], scene: Scene) -> str:
    text = " ".join(words[1:]).lower()
    is_handing = re.search(r"\b(?:exec|system):", text) and re.search(r"\b(?:tcp|udp|openssl|sctp)\w*[:-]", text)
    return "it would give a program on this machine to whoever is at the other end" if is_handing else ""


RULES: dict[str, Callable[[Sequence[str], Scene], str]] = {
    "rm": _rm, "grm": _rm, "unlink": _rm, "srm": _rm, "chmod": _modes, "chown": _modes, "chgrp": _modes, "setfacl": _modes,
    "mkfs": _format, "mkswap": _format, "mkntfs": _format, "newfs": _format, "blkdiscard": _format, "mkdosfs": _format,
    "wipefs": _format_if("-a", "-fa", "-af", "--all", "-o", "--offset"),
    "cryptsetup": _format_if("luksFormat", "erase", "luksErase", "reencrypt"), "hdparm": _format_if("--security-erase", "--trim-sector"),
    "nvme": _format_if("format", "sanitize", "write-zeroes"), "badblocks": _format_if("-w", "-sw", "-wsv", "-svw", "-vw", "-wv", "-ws"),
    "fdisk": _format_unless("-l", "--list", "-s", "--help", "-x"), "cfdisk": _format_unless("--help"),
    "gdisk": _format_unless("-l"),
    "sfdisk": _format_unless("-l", "--list", "-d", "--dump", "-J", "--json", "-s", "-V", "--verify", "-F", "-g"),
    "sgdisk": _format_unless("-p", "--print", "-i", "--info", "-v", "--verify", "-E", "-F", "-D"),
    "parted": _format_if("mk", "rm", "resize", "rescue", "name", "set", "disk_set"),
    "dd": _dd, "dcfldd": _dd, "tee": _writes, "shred": _writes, "truncate": _writes, "fallocate": _writes, "sponge": _writes, "sed": _sed,
    "cp": _copy, "install": _copy, "ln": _copy, "mv": _mv, "rsync": _rsync, "kill": _kill,
    "shutdown": _off, "reboot": _off, "halt": _off, "poweroff": _off, "init": _init, "telinit": _init, "systemctl": _systemctl,
    "insmod": _module, "rmmod": _module, "modprobe": _module, "kexec": _module,
    "nc": _netcat, "ncat": _netcat, "netcat": _netcat, "socat": _socat,
}  # fmt: skip
