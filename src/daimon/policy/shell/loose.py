"""Words of a text that the grammar cannot take, cut as simply as can be."""

import re
import shlex
from collections.abc import Iterator

from daimon.policy.shell.words import fields


def commands_in(text: str, home: str) -> Iterator[list[str]]:
    """Nothing from a text whose quotes do not close, or that holds a here-document: a shell would not run its words."""
    if "<<" in text or len(text) > 2_000:
        return
    for part in re.split(r"[;&|\n]+", text):
        try:
            words = shlex.split(part, comments=True)
        except ValueError:
            continue
        if found := [field for word in words for field in fields(word, home)]:
            yield found
