"""What all sections of the settings have in common: they are frozen, and a key that they do not know is an error."""

from decimal import Decimal
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field


class Branch(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


def as_list(value: object) -> object:
    """One name is a list of one; from the environment, names stand between commas."""
    return [name.strip() for name in value.split(",") if name.strip()] if isinstance(value, str) else value


Cost = Annotated[Decimal, Field(ge=0, le=1_000_000)]
Tokens = Annotated[int, Field(ge=1)]
