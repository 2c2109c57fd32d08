"""As many open files as this process may have at all.

Most machines start a program with room for 1,024, which is for programs that cannot count further, and let it ask for more. Boxes
connect to the gateway as often as their bounds allow; all of them together must not take the descriptors that the journal needs.
"""

import resource

ENOUGH = 65_536


def make_room() -> None:
    """What the hard limit forbids stays forbidden."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = ENOUGH if hard == resource.RLIM_INFINITY else min(ENOUGH, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
