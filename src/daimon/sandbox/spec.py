"""What the holder is told: everything about one box, decided before it starts. Standard library only; it crosses a process border as JSON.

Paths inside the box are absolute. The holder decides nothing that is not in here.
"""

import json
from dataclasses import asdict, dataclass, field

WORKSPACES, HOME, LIBRARY = "/workspace", "/home/agent", "/run/daimon"
PROXY_PORT = 3128
INNER_ID = 1000
"""User and group inside."""


@dataclass(frozen=True, slots=True)
class Bind:
    """A tree of the host, to be seen in the box, read-only."""

    source: str
    target: str


@dataclass(frozen=True, slots=True)
class Tree:
    """The workspace."""

    source: str
    name: str
    is_writable: bool
    owner: tuple[int, int]
    """User and group that its files belong to: in a box started by root these are the box's own."""
    pins: tuple[str, ...] = ()
    """Below it, in this order, what is read-only although the rest is not. One that ends in a slash only stays where it is."""
    ground: str = ""
    """Where the mount holder put it, in its own namespace; empty: there is none, and the tree is the source itself."""
    is_copy: bool = False
    """The source is no directory of the owner's but a copy of one."""


@dataclass(frozen=True, slots=True)
class Bounds:
    memory: int
    processes: int
    open_files: int
    file: int
    disk: int
    cpu_s: int


@dataclass(frozen=True, slots=True)
class Spec:
    bwrap: str
    binds: tuple[Bind, ...]
    links: dict[str, str]
    files: dict[str, str]
    """Small files by path, with their text."""
    tree: Tree
    bounds: Bounds
    supervisor: tuple[str, ...]
    environment: dict[str, str]
    uid: int
    """Whom root becomes. Means nothing when the holder is not started by root."""
    has_network: bool
    name: str = "box"
    scratch: dict[str, int] = field(default_factory=dict)
    """File systems in memory, by path, with their size in bytes."""

    def to_json(self) -> bytes:
        return json.dumps(asdict(self)).encode()

    @classmethod
    def from_json(cls, data: bytes) -> "Spec":
        found = json.loads(data)
        tree = Tree(**{**found["tree"], "owner": tuple(found["tree"]["owner"]), "pins": tuple(found["tree"]["pins"])})
        lists = {"binds": tuple(Bind(**bind) for bind in found["binds"]), "supervisor": tuple(found["supervisor"])}
        return cls(**{**found, **lists, "tree": tree, "bounds": Bounds(**found["bounds"])})
