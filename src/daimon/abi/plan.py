"""What a request needs, stated before anybody else's words were read.

A plan names the consequential calls that the request asks for and, for each argument, *where its value comes from*: a source
(`abi/source.py`), evaluated by the system, never by the model. It also names the reads on which free text may draw. What a clean plan
licenses is decided in `policy/licence.py`; each step is spent once.
"""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Planned:
    """One consequential call. An argument that is not named here may not be passed."""

    tool: str
    sources: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Draw:
    """A read on which free text of the planned calls may draw. Arguments that are not named may be anything."""

    tool: str
    arguments: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Plan:
    steps: tuple[Planned, ...] = ()
    draws: tuple[Draw, ...] = ()
