"""Can this hook be made? Whatever its maker could not have meant is said before it is kept."""

import re

from daimon.abi.errors import BadInput
from daimon.abi.event import INTERNAL
from daimon.abi.hook import NAME, NEXT, RESERVED, SECRET_PREFIX, Hook
from daimon.abi.plain import is_text
from daimon.gateway.hooks import filtering, schema

MOST_BYTES = 16 * 1024 * 1024
MOST_TASK = 10_000
MOST_TOLERANCE_S = 3_600
_NAME = re.compile(NAME)


def check(hook: Hook) -> None:
    """Raises BadInput."""
    if not _NAME.fullmatch(hook.name):
        raise BadInput(f"{hook.name[:80]!r} cannot be the name of a hook; use up to 50 small letters, digits, '-', '_' and '.'")
    if hook.name.endswith(NEXT):
        raise BadInput(f"a hook cannot be called {hook.name!r}: a secret that ends with {NEXT} is the next one of another hook")
    if hook.name in RESERVED:
        raise BadInput(f"{hook.name!r} is where a channel takes what its service posts; choose another name")
    if not hook.secret.startswith(SECRET_PREFIX):
        raise BadInput(f"the secret of a hook is called {SECRET_PREFIX}…, not {hook.secret[:80]!r}: its owner may look at it")
    if not 1 <= hook.most_bytes <= MOST_BYTES:
        raise BadInput(f"most_bytes is {hook.most_bytes}; it can be 1 to {MOST_BYTES}")
    least = 0 if hook.scheme in ("generic", "github") else 1
    if not least <= hook.tolerance_s <= MOST_TOLERANCE_S:
        raise BadInput(f"tolerance_s is {hook.tolerance_s}; for {hook.scheme} it can be {least} to {MOST_TOLERANCE_S}")
    if hook.per_minute < 1:
        raise BadInput(f"per_minute is {hook.per_minute}; it must be 1 or more")
    _check_words(hook)
    filtering.check(hook.filters)
    if hook.schema:
        schema.compiled(hook.schema)


def _check_words(hook: Hook) -> None:
    if len(hook.task) > MOST_TASK or not is_text(hook.task):
        raise BadInput(f"the task must be text of at most {MOST_TASK} characters")
    if len(hook.conversation) > 200 or not (hook.conversation or "-").isprintable():
        raise BadInput(f"{hook.conversation[:80]!r} cannot be the name of a conversation")
    if hook.to is not None and (hook.to.channel == INTERNAL or not hook.to.channel or not hook.to.to):
        raise BadInput(f"answers cannot go to {hook.to.channel}:{hook.to.to[:80]}; name a channel and a place in it")
