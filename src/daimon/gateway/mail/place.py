"""Where in the mail an answer goes: to whom, and in which thread.

`alice@example.org <root@example.org>`: the sender's id, a space, the id of the thread's first mail. Without a thread it is a new mail to
one or more addresses: `alice@example.org, bob@example.org`. Of a thread with several people each has a place of their own, so that no one
reads what was said to another.
"""

from dataclasses import dataclass

from daimon.abi.errors import NotSent
from daimon.gateway.mail.authentic import UNVERIFIED, mailbox

MOST_RECIPIENTS = 20


@dataclass(frozen=True, slots=True)
class Place:
    recipients: tuple[str, ...]
    root: str = ""


def name(sender: str, root: str) -> str:
    return f"{sender} {root}".strip()


def parse(place: str) -> Place:
    """Raises NotSent."""
    people, _, root = place.partition(" <")
    recipients = tuple(person.strip().removeprefix(UNVERIFIED) for person in people.split(","))
    wrong = [recipient for recipient in recipients if not recipient or mailbox(recipient)[1] != recipient.lower()]
    if wrong or len(recipients) > MOST_RECIPIENTS:
        reason = f"{place[:200]!r} is no address for a mail: write name@example.org, or up to {MOST_RECIPIENTS} of them with commas"
        raise NotSent(reason, is_lasting=True)
    return Place(recipients, f"<{root}" if root else "")
