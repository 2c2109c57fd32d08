"""From a role and a workspace to the spec of a box: which trees of the host it sees, as what, and how much it may take.

Nothing of the host is in a box that is not named here: the system's programs and libraries, a few files of /etc that programs need, the
interpreter of the supervisor, what the role reads, and the workspace.
"""

import os
import shutil
import stat
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from daimon.abi.box import Limits, Role
from daimon.abi.errors import Misconfigured
from daimon.sandbox.overlay import OverlayGround
from daimon.sandbox.pins import pins_of
from daimon.sandbox.spec import HOME, INNER_ID, LIBRARY, PROXY_PORT, WORKSPACES, Bind, Bounds, Spec, Tree

UID = 59_001
"""Whom a box becomes that root starts. No distribution gives this number out by itself."""
SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
ETC = (
    *("alternatives", "ca-certificates", "crypto-policies", "default", "fonts", "gitattributes", "java-17-openjdk", "java-21-openjdk"),
    *("ld.so.cache", "ld.so.conf", "ld.so.conf.d", "localtime", "magic", "mime.types", "pki", "protocols", "python3", "services"),
    *("ssl/certs", "ssl/openssl.cnf", "timezone", "xdg"),
)
INSIDE = ("__init__.py", *(f"sandbox/{name}.py" for name in ("__init__", "supervisor", "landlock", "processes", "tty")))
"""Files of Daimon that the supervisor is made of."""
MIB = 1 << 20
START = f"import sys; sys.path.insert(0, {LIBRARY!r}); from daimon.sandbox.supervisor import main; main()"
PROXY = f"http://127.0.0.1:{PROXY_PORT}"
AUTHORITIES = f"{LIBRARY}/authorities.pem"


@dataclass(frozen=True, slots=True)
class Wanted:
    """A box to be made."""

    role: Role
    workspace: Path
    environment: Mapping[str, str]
    """What the box gets besides what every box has."""
    authorities: str = ""
    """Certificates that programs in the box trust: the system's and, where the proxy must look into TLS, its own."""
    uid: int = UID
    ground: OverlayGround | None = None
    """What the tree is made of; None: the workspace itself, as it is."""
    is_copy: bool = False
    """The workspace is no directory of the owner's but a copy of one."""


def spec_of(wanted: Wanted) -> Spec:
    role, workspace, ground = wanted.role, workspace_of(wanted.workspace), wanted.ground
    found = workspace.stat()
    binds, links = _system()
    binds += [Bind(str(path), str(path)) for path in outside(role)]
    binds += [Bind(source, target) for target, source in role.mounts.items()]
    return Spec(
        bwrap=_bwrap(),
        binds=tuple(dict.fromkeys(binds)),
        links=links,
        files={**_etc_files(), **_library(), **({AUTHORITIES: wanted.authorities} if wanted.authorities else {})},
        tree=Tree(
            source=str(workspace),
            name=ground.name if ground else name_of(workspace),
            is_writable=bool(role.write),
            owner=(found.st_uid, found.st_gid),
            pins=pins_of(str(workspace)) if role.write and not ground else (),  # a ground has them already
            ground=ground.where if ground else "",
            is_copy=wanted.is_copy,
        ),
        bounds=bounds_of(role.limits),
        supervisor=(_python(), "-I", "-S", "-c", START),
        environment=environment_of(wanted),
        uid=wanted.uid,
        has_network=bool(role.places),
        scratch={"/tmp": _scratch(role.limits), HOME: _scratch(role.limits)},  # noqa: S108
    )


def workspace_of(path: Path) -> Path:
    try:
        found = path.expanduser().resolve(strict=True)
    except (OSError, RuntimeError) as error:
        raise Misconfigured(f"the workspace {path} cannot be used: {getattr(error, 'strerror', None) or error}") from None
    if not found.is_dir():
        raise Misconfigured(f"the workspace {path} is not a directory")
    if found.is_relative_to(Path(__file__).resolve().parent.parent):
        raise Misconfigured(f"the workspace {found} is Daimon itself, which runs outside of boxes; choose another directory")
    if found == Path("/") or any(found == Path(top) or Path(top) in found.parents for top in (*SYSTEM, "/etc", "/proc", "/sys", "/dev")):
        raise Misconfigured(f"the workspace {found} belongs to the system; choose a directory of your own")
    return found


def name_of(workspace: Path) -> str:
    """As the last part of its path in the box."""
    kept = "".join(sign if sign.isalnum() or sign in "-_.+" else "-" for sign in workspace.name)
    return kept.lstrip("-.") or "files"


def outside(role: Role) -> list[Path]:
    """What the role reads and runs besides the workspace and the system. It must be there, or the role is not what it says."""
    found = []
    for text in (*role.read, *role.execute, *role.write):
        path = Path(text).expanduser()
        if not path.is_absolute() or _is_inside(text):
            continue
        if text in role.write:
            raise Misconfigured(f"the role {role.name} writes {text}: a box writes into its workspace only; use a path relative to it")
        if not path.exists():
            raise Misconfigured(f"the role {role.name} names {text}, which is not there; mend the role's file")
        if path.resolve() == Path("/"):
            raise Misconfigured(f"the role {role.name} names {text}: the whole machine is not for a box; name directories")
        found.append(path.resolve())
    return found


def _is_inside(text: str) -> bool:
    return any(text == top or text.startswith(f"{top}/") for top in (*SYSTEM, WORKSPACES, HOME, "/tmp"))  # noqa: S108


def bounds_of(limits: Limits) -> Bounds:
    return Bounds(
        memory=limits.memory_mb * MIB,
        processes=limits.processes,
        open_files=limits.open_files,
        file=limits.file_mb * MIB,
        disk=limits.disk_mb * MIB,
        cpu_s=limits.cpu_s,
    )


def environment_of(wanted: Wanted) -> dict[str, str]:
    """From nothing: no variable of the gateway is in a box unless a role says so."""
    bare = {
        "PATH": os.pathsep.join(dict.fromkeys(["/usr/local/bin", "/usr/bin", "/bin", str(Path(_python()).parent)])),
        "HOME": HOME,
        "USER": "agent",
        "LOGNAME": "agent",
        "SHELL": "/bin/sh",
        "LANG": "C.UTF-8",
        "TERM": "dumb",
        "TMPDIR": "/tmp",  # noqa: S108
        "PYTHONDONTWRITEBYTECODE": "1",
        "GIT_AUTHOR_NAME": "agent",
        "GIT_AUTHOR_EMAIL": "agent@localhost",
        "GIT_COMMITTER_NAME": "agent",
        "GIT_COMMITTER_EMAIL": "agent@localhost",
    }
    proxies = dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy", "ALL_PROXY", "npm_config_proxy"), PROXY)
    local = dict.fromkeys(("NO_PROXY", "no_proxy"), "localhost,127.0.0.1,::1")
    trusted = ("SSL_CERT_FILE", "CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE", "NODE_EXTRA_CA_CERTS", "GIT_SSL_CAINFO", "PIP_CERT")
    network = {**proxies, **local} if wanted.role.places else {}
    return {
        **bare,
        **network,
        **(dict.fromkeys(trusted, AUTHORITIES) if wanted.authorities else {}),
        **wanted.role.environment,
        **wanted.environment,
    }


def _system() -> tuple[list[Bind], dict[str, str]]:
    binds, links = [], {}
    for top in SYSTEM:
        if os.path.islink(top):
            links[top] = os.readlink(top)
        elif os.path.isdir(top):
            binds.append(Bind(top, top))
    binds += [Bind(path, path) for name in ETC if os.path.exists(path := f"/etc/{name}") and not os.path.islink(path)]
    links |= {path: os.readlink(path) for name in ETC if os.path.islink(path := f"/etc/{name}")}
    prefix = Path(sys.base_prefix).resolve()
    if not _is_inside(str(prefix)):
        binds.append(Bind(str(prefix), str(prefix)))
    return binds, links


def _etc_files() -> dict[str, str]:
    return {
        "/etc/passwd": f"root:x:0:0:root:/:/usr/sbin/nologin\nagent:x:{INNER_ID}:{INNER_ID}:agent:{HOME}:/bin/sh\n",
        "/etc/group": f"root:x:0:\nagent:x:{INNER_ID}:\n",
        "/etc/nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\n",
        "/etc/hosts": "127.0.0.1 localhost\n::1 localhost\n",
        "/etc/resolv.conf": "",
        "/etc/gitconfig": "[safe]\n\tdirectory = *\n[init]\n\tdefaultBranch = main\n",
    }


def _library() -> dict[str, str]:
    package = Path(__file__).resolve().parent.parent
    return {f"{LIBRARY}/daimon/{name}": (package / name).read_text(encoding="utf-8") for name in INSIDE}


def _python() -> str:
    return os.path.realpath(getattr(sys, "_base_executable", sys.executable))


def _scratch(limits: Limits) -> int:
    """Of each: there are three, and together they leave memory for what runs, if only to clean them up."""
    return min(limits.disk_mb, limits.memory_mb) * MIB // 4


def has_bwrap() -> bool:
    return _found_bwrap() is not None


def _found_bwrap() -> str | None:
    return shutil.which("bwrap", path="/usr/bin:/usr/local/bin:/bin") or shutil.which("bwrap")


def _bwrap() -> str:
    found = _found_bwrap()
    if found is None:
        raise Misconfigured("bwrap is not installed, and nothing runs without it; install the package `bubblewrap`")
    if os.stat(found).st_mode & stat.S_ISUID:
        raise Misconfigured(f"{found} is setuid root; a box must not start with more rights than its owner: `chmod u-s {found}`")
    return found
