"""A redactor for tests that are about something else: it knows a few values, in plain only, and no shapes."""

from collections.abc import Mapping


class PlainRedactor:
    def __init__(self, known: Mapping[str, str] | None = None) -> None:
        """Values by name; none: everything passes."""
        self._known = dict(known or {})

    @property
    def version(self) -> int:
        return 0

    def clean(self, text: str) -> str:
        return self.clean_known(text)

    def clean_known(self, text: str) -> str:
        for name, value in self._known.items():
            text = text.replace(value, f"[secret {name}]")
        return text

    def unfinished(self, text: str) -> int:
        return max((n for value in self._known.values() for n in range(len(value) + 1) if text.endswith(value[:n])), default=0)
