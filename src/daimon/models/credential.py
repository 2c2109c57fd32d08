"""What a provider is shown before it answers. Its value exists while a request is written, and nowhere else in this package."""

from dataclasses import dataclass, field
from typing import Protocol


class Credential(Protocol):
    def is_set(self) -> bool:
        """Is there one? Asking is no use of it."""
        ...

    def show(self) -> str | None:
        """The value, for the provider. None: there is none. Raises ProviderFailed where there is one that may not be shown."""
        ...

    def hide(self, text: str) -> str:
        """The text without the value: what a provider says may repeat it."""
        ...


@dataclass(frozen=True, slots=True)
class Given:
    """By whoever sits there, or by a variable: kept nowhere."""

    value: str = field(repr=False)

    def is_set(self) -> bool:
        return True

    def show(self) -> str | None:
        return self.value

    def hide(self, text: str) -> str:
        return text.replace(self.value, "***")
