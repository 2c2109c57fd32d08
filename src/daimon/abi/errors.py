"""Everything that can go wrong, by who must act.

    DaimonError
    ├── BadInput            the sender: what was sent cannot be used
    │   └── TooLarge
    ├── ToolFailed          the model: told as a tool result, the turn goes on
    │   └── Lost            something that outlives calls died during this one
    ├── Denied              a person: something may not be had, such as a secret for another host
    ├── Forbidden           the caller: a right is missing
    ├── Outdated            the caller: somebody else changed it since it was read; look again
    ├── TooMany             the caller: too many tries; later it may work
    ├── ProviderFailed      the router: another try, another model
    ├── OverBudget          the turn: a reservation does not fit; it waits, or the owner is asked
    ├── NotSent             the postman: nothing left the machine, so a second try is safe
    │   └── RetryLater      the service said when to come back
    ├── InDoubt             the postman: whether a message went out cannot be found out; it is not repeated
    ├── LockedOut           the owner: a service does not let us in any more
    ├── WatchFailed         the automation: its watcher could not look; the tick says so
    ├── WebFailed           the asker: the world was not reached, or must not be
    ├── Misconfigured       the operator: a setting, a file, a missing program
    │   └── HomeBusy        another process holds this home
    ├── NotFound            the asker: no such turn, step, blob
    │   └── Erased          it was there; its payload was deleted on purpose
    ├── NotRunning          the asker: no gateway answers where one is needed
    ├── NoSpace             the operator: a disk has no room for what was asked; nothing was changed
    ├── Fenced              the worker: somebody else holds the conversation; stop at once, no further effect
    └── JournalFailed       the operator: the truth cannot be written
        ├── JournalFull     no space; writing goes on when there is some
        ├── JournalStopped  a write or fsync failed; nothing is written until a restart
        └── JournalDamaged  the file is corrupt, foreign, or from a newer version

Each class has a stable code. A text says what failed, with what value, and what to do.
"""

from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from daimon.abi.step import Short


class DaimonError(Exception):
    code: ClassVar[str] = "error"


class BadInput(DaimonError):
    code = "bad_input"


class TooLarge(BadInput):
    code = "too_large"


class ToolFailed(DaimonError):
    """A tool raises it with a code of its own choice, such as `not_found`, `timeout`, `refused`."""

    code = "tool_failed"

    def __init__(self, reason: str, message: str, retryable: bool = False) -> None:
        super().__init__(message)
        self.reason = reason
        self.retryable = retryable


class Lost(ToolFailed):
    """A box, a language server, a browser died. The next call gets a new one."""

    code = "lost"

    def __init__(self, message: str) -> None:
        super().__init__("lost", message, retryable=True)


class Denied(DaimonError):
    code = "denied"


class ProviderFailed(DaimonError):
    """A model raises it. `is_lasting`: the same call fails again until somebody changes something. `was_sent`: it may have been billed."""

    code = "provider_failed"

    def __init__(
        self, reason: str, message: str, *, is_lasting: bool = False, was_sent: bool = True, retry_after_s: float | None = None
    ) -> None:
        super().__init__(message)
        self.reason = reason
        self.is_lasting = is_lasting
        self.was_sent = was_sent
        self.retry_after_s = retry_after_s


class OverBudget(DaimonError):
    """The journal raises it: a reservation does not fit into an account. Nothing of the batch was written."""

    code = "over_budget"

    def __init__(self, short: "Short") -> None:
        super().__init__(f"the limit of {short.account.scope} {short.account.key} leaves no room for this call")
        self.short = short


class NotSent(DaimonError):
    """A channel raises it when it knows that a message did not go out. `is_lasting`: another try would fail in the same way. `is_alone`:
    the service answers, and did not take this one now; that says nothing of others."""

    code = "not_sent"

    def __init__(self, message: str, *, is_lasting: bool = False, is_alone: bool = False) -> None:
        super().__init__(message)
        self.is_lasting = is_lasting
        self.is_alone = is_alone


class RetryLater(NotSent):
    """The same, and the service said when to come back: that does not count as a try."""

    code = "retry_later"

    def __init__(self, message: str, after_s: float) -> None:
        super().__init__(message)
        self.after_s = after_s


class InDoubt(DaimonError):
    """A channel raises it when it was asked whether a message went out, has looked, and cannot know."""

    code = "in_doubt"


class LockedOut(DaimonError):
    """A channel raises it: its credential is refused, and will be until the owner gives it another one."""

    code = "locked_out"


class WatchFailed(DaimonError):
    code = "watch_failed"


class WebFailed(DaimonError):
    """`refused`, `unknown_host`, `timeout`, `unreachable`, `tls`, `too_many_redirects`, `bad_address`, `bad_answer`, `resting`: the host
    failed several times in a row, or said when to come back."""

    code = "web_failed"

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason


class Misconfigured(DaimonError):
    code = "misconfigured"


class HomeBusy(Misconfigured):
    code = "home_busy"


class NotFound(DaimonError):
    code = "not_found"


class Erased(NotFound):
    code = "erased"


class Forbidden(DaimonError):
    """The caller is known and has not the right."""

    code = "forbidden"


class Outdated(DaimonError):
    """What was to be changed has been changed by somebody else since it was read."""

    code = "outdated"


class TooMany(DaimonError):
    """Too many tries; later it may work. `after_s`: how much later, where that is known."""

    code = "too_many"

    def __init__(self, message: str, after_s: float = 0.0) -> None:
        super().__init__(message)
        self.after_s = after_s


class NotRunning(DaimonError):
    code = "not_running"


class NoSpace(DaimonError):
    code = "no_space"


class Fenced(DaimonError):
    code = "fenced"


class JournalFailed(DaimonError):
    code = "journal_failed"


class JournalFull(JournalFailed):
    code = "journal_full"


class JournalStopped(JournalFailed):
    code = "journal_stopped"


class JournalDamaged(JournalFailed):
    code = "journal_damaged"
