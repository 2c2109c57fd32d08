"""What tools print while they work, on its way to the feed: without known secrets, as replies are (`piecewise.py`).

What may be the beginning of a secret waits for the next piece, and is never shown when none comes: the result has it. Only a few calls are
remembered at a time; one that was forgotten begins anew, which can only show less.
"""

from collections import OrderedDict

from daimon.abi.ids import StepRef
from daimon.abi.model import Delta
from daimon.abi.secret import Redactor
from daimon.abi.tool import Call
from daimon.kernel.feed import Feed, Printed
from daimon.kernel.piecewise import Piecewise

MOST_CALLS = 64


class Printer:
    """A `Progress`."""

    def __init__(self, feed: Feed, redactor: Redactor) -> None:
        self._feed, self._redactor = feed, redactor
        self._calls: OrderedDict[str, Piecewise] = OrderedDict()

    def __call__(self, call: Call, text: str) -> None:
        try:
            at = StepRef.parse(call.key)
        except ValueError:
            return
        showing = self._calls.setdefault(call.key, Piecewise(self._redactor))
        self._calls.move_to_end(call.key)
        while len(self._calls) > MOST_CALLS:
            self._calls.popitem(last=False)
        for _, piece in showing.take(Delta(text)):
            self._feed.publish(Printed(call.conversation, at.turn, at.n, piece.text))
