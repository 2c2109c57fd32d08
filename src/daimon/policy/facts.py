"""What the flow rules find out about a call, for the policies to decide on.

The flow rules (`flow.py`) say *on what basis* a call stands; the policies (`rules.py`, Cedar) say what follows from it.
"""

from dataclasses import dataclass
from typing import Literal

from daimon.abi.judgement import Portion, Provenance

Basis = Literal["harmless", "clean", "plan", "words", "none", "off_plan"]
"""harmless: it neither leaves the machine, nor spends, deletes or grants. clean: nobody but the owner and trusted services had a word in
what led to it. plan: it is a step of a plan that was stated on a clean context. words: each argument is shown to come from the owner's own
words, or from what they name. none: something in it cannot be shown to come from anybody that the owner trusts. off_plan: there is a
plan, and this is not in it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    basis: Basis
    reason: str = ""
    by: str = ""
    """What a verdict of allow would be written down as: `clean`, `words`, `plan:STEP/INDEX`."""
    provenance: tuple[Provenance, ...] = ()
    destinations: tuple[str, ...] = ()
    """Whom or what place it reaches, in small letters."""
    targets: tuple[str, ...] = ()
    drawn: tuple[str, ...] = ()
    """Tools whose results its free text may carry to them."""
    carries: tuple[Portion, ...] = ()
    is_active: bool = False
    """Its free text holds links, addresses, account numbers or what looks encoded, and none of that is shown to be the owner's."""
