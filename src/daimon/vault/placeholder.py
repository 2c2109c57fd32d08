"""What stands in a box where the secret would stand: random, recognisable where there is room, as long as the value in bytes.

The same length, so that whatever counts bytes (a Content-Length, a column of a file) counts right when the proxy swaps one for the
other.
"""

import secrets
import string

PREFIX = "daimon-"
_RANDOM_BESIDE_PREFIX = 16
"""Letters that must be left after the prefix, so that nobody guesses one."""
_LETTERS = string.ascii_letters + string.digits


def placeholder(size: int) -> bytes:
    prefix = PREFIX if size >= len(PREFIX) + _RANDOM_BESIDE_PREFIX else ""
    return (prefix + "".join(secrets.choice(_LETTERS) for _ in range(size - len(prefix)))).encode()
