"""Who speaks at `/mcp`: a program with a token, and whose word its word is.

A client is somebody else's agent. What it says is a stranger's word, `stranger@mcp-client:NAME`, readable for it and the owner; its turns
serve a principal of its own, which no rank was ever given to and which is therefore a guest: tools for guests, its own memory, nothing of
the owner's. A deputy is a client to which the owner gave their own voice (`daimon mcp token --as-owner`): its words are the owner's.

Both speak in conversations of their own, `mcp-client:NAME/…`, and under a source of their own, so that the keys of one say nothing of those
of another. The name is not that of a server (`mcp:NAME`): a service may be both, and forgetting the one must not forget the other.
"""

from dataclasses import dataclass

from daimon.abi.access import Caller
from daimon.abi.ids import OWNER, PrincipalId
from daimon.abi.label import Author, Label, Origin, owned

NAMES = "mcp-client:"


@dataclass(frozen=True, slots=True)
class Party:
    caller: Caller

    @property
    def source(self) -> str:
        return f"{NAMES}{self.caller.name}"

    @property
    def is_owner(self) -> bool:
        """Does it speak with the owner's voice?"""
        return self.caller.by == "deputy"

    @property
    def principal(self) -> PrincipalId:
        return OWNER if self.is_owner else PrincipalId(self.source)

    @property
    def label(self) -> Label:
        if self.is_owner:
            return owned(self.source)
        return Label.of(Origin(Author.STRANGER, self.source), readers=(OWNER, self.principal))

    def conversation(self, name: str) -> str:
        return f"{self.source}/{name}"

    def is_own(self, conversation: str) -> bool:
        return conversation.startswith(f"{self.source}/")
