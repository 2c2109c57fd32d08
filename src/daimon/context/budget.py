"""How much of a model's window a request may take, and what is kept free of it.

    window   what the model reads, or what the owner allows, whichever is less
    output   kept free for the reply
    system   at least so much is counted for the system text with the page, so that a longer page does not move the cut
    tools    the same for the tools; those that do not fit into it are found by search

In a small window the reserves shrink with it: an eighth, an eighth and a quarter of it at most.
"""

from dataclasses import dataclass

LEAST_ROOM = 256
"""However small the window: so much is left for the task."""


@dataclass(frozen=True, slots=True)
class TokenBudget:
    window: int
    system: int = 2_000
    tools: int = 8_000
    output: int = 4_000

    @property
    def kept_free(self) -> int:
        return min(self.output, self.window // 8)

    @property
    def most_tools(self) -> int:
        return min(self.tools, self.window // 4)

    def room(self, system: int, tools: int) -> int:
        """For the conversation, with a system text and tools of this size."""
        fixed = max(system, min(self.system, self.window // 8)) + max(tools, self.most_tools)
        return max(LEAST_ROOM, self.window - self.kept_free - fixed)

    def shrunk(self, times: int) -> "TokenBudget":
        """After a provider said so often that the request was too long."""
        share = SHRINK**times
        return TokenBudget(max(LEAST_ROOM, int(self.window * share)), self.system, self.tools, self.output)


SHRINK = 0.6
