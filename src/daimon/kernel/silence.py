"""When a reply says nothing.

A reply that is empty or blank is silence. Where something happened by itself, nobody waits for words, and models that were asked for an
empty answer like to write one down: "(no answer)". Such a line, and nothing else, is the silence that it names. Whoever spoke gets what was
said, whatever it is; and "Nothing new." without brackets is an answer.

Pure. It knows neither who would have read it nor what the task was.
"""

import re
from collections.abc import Iterable

from daimon.abi.event import Event, Heartbeat, Webhook
from daimon.abi.message import Part, Reasoning, Text

_BLANK = re.compile(r"[\s\u200b-\u200f\u2060\ufeff]*")
_NAMED = re.compile(
    r"""[\s*_"'`]*[(\[<{*_"'`]\s*
    (?:(?:an?\s)?empty(?:\s(?:answer|reply|response|message|string))?|(?:stay(?:s|ing)?\s|remains?\s)?silen(?:t|ce)
      |no\s(?:answer|reply|response|message|output)(?:\s(?:is\s)?(?:needed|required))?|nothing(?:\sto\s(?:say|report|tell|add))?)
    \s*[.]?\s*[)\]>}*_"'`][\s*_"'`.]*""",
    re.IGNORECASE | re.VERBOSE,
)
LONGEST = 60


def says_nothing(parts: Iterable[Part], event: Event) -> bool:
    said = [part for part in parts if not isinstance(part, Reasoning)]
    if not all(isinstance(part, Text) for part in said):
        return False
    text = "".join(part.text for part in said if isinstance(part, Text))
    if _BLANK.fullmatch(text):
        return True
    is_by_itself = isinstance(event.body, Heartbeat | Webhook)
    return is_by_itself and len(text) <= LONGEST and _NAMED.fullmatch(text) is not None
