"""Which lines of a text stand inside a block of code."""

import re

_OPENS = re.compile(r"(?P<before>[ \t]*(?:(?:>|[-*+](?=[ \t])|\d{1,9}[.)](?=[ \t]))[ \t]*)*)(?P<mark>`{3,}|~{3,})(?P<info>[^\n]*)")


class Fences:
    """Goes through the lines in order. `opener` is what opened the block that the next line stands in; empty: none."""

    def __init__(self) -> None:
        self.opener = ""
        self.closer = ""
        self.is_edge = False
        """Did the last line open or close a block?"""

    def after(self, line: str) -> str:
        """Goes past a line; returns the opener that holds from there on."""
        self.is_edge = False
        found = _OPENS.match(line)
        if self.opener:
            bare = line.strip(" \t>")
            if bare and set(bare) == {self.closer[0]} and len(bare) >= len(self.closer):
                self.opener, self.closer, self.is_edge = "", "", True
        elif found is not None and not (found["mark"][0] == "`" and "`" in found["info"]):
            language = found["info"].split()
            self.closer = found["mark"]
            self.opener, self.is_edge = found["mark"] + (language[0][:32] if language else ""), True
        return self.opener
