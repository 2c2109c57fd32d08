"""`[context]`, `[memory]`: what a model is given to read."""

from typing import Annotated

from pydantic import Field

from daimon.abi.step import Hold
from daimon.config.branch import Branch


class Context(Branch):
    budget_tokens: Annotated[int, Field(ge=1_000)] = 64_000
    """The most that a request may have, however much its model reads."""
    system_tokens: Annotated[int, Field(ge=0)] = 2_000
    """Kept free for the system text and the page."""
    tools_tokens: Annotated[int, Field(ge=0)] = 8_000
    """Kept free for tools; those that do not fit are found by search."""
    output_tokens: Annotated[int, Field(ge=0)] = 4_000
    """Kept free for the reply."""
    recall_tokens: Annotated[int, Field(ge=0)] = 2_000
    """The most that memory may take by itself; 0: nothing is recalled before the model is asked."""
    patience_s: Annotated[float, Field(gt=0, le=60)] = 2.0
    """So long the page, what memory has and skills may take to be read; what is later is left out, and on record."""
    system: str = ""
    """Words of the owner's own for every prompt."""
    hold: Hold = "never"
    """Which words of strangers the model does not see: none, long texts, all."""
    closed_answers: Annotated[int, Field(ge=0, le=1_000)] = 20
    """How many closed answers about held words one turn may have."""
    summarizer: str = ""
    """A name of `[models]` that summarises what leaves the window; empty: by extraction only."""


class Memory(Branch):
    embeddings: Annotated[str, Field(min_length=1)] = "local"
    """Who makes the vectors that things are found by their meaning with: `local`, `off`, or a name of `[models]`."""
