"""Replies under way, as far as they have come: what somebody who looks in the middle of one has missed.

Tokens are never on disk. A page that opens, or comes back, in the middle of a reply gets all of it so far as one token for each stretch of
the same kind, the first at offset 0, and then goes on with the tokens that follow. It is dropped when the step is on disk, or the turn
rests. Very long replies are kept to `MOST`; who comes after that reads the end of it from the journal.
"""

from dataclasses import dataclass, field, replace
from typing import Generic, Protocol, TypeVar

from daimon.abi.ids import TurnId

MOST = 1_000_000
"""Characters of one reply."""


class Piece(Protocol):
    @property
    def turn(self) -> TurnId: ...

    @property
    def offset(self) -> int: ...

    @property
    def text(self) -> str: ...

    @property
    def of(self) -> str: ...


T = TypeVar("T", bound=Piece)


@dataclass(slots=True)
class _Stretch(Generic[T]):
    first: T
    texts: list[str]

    def whole(self) -> T:
        return replace(self.first, text="".join(self.texts))  # type: ignore[type-var]


@dataclass(slots=True)
class UnderWay(Generic[T]):
    _replies: dict[TurnId, list[_Stretch[T]]] = field(default_factory=dict)

    def add(self, token: T) -> None:
        if token.offset == 0:
            self._replies[token.turn] = [_Stretch(token, [token.text])]
            return
        stretches = self._replies.get(token.turn)
        if not stretches or token.offset > MOST:
            return
        if stretches[-1].first.of == token.of:
            stretches[-1].texts.append(token.text)
        else:
            stretches.append(_Stretch(token, [token.text]))

    def drop(self, turn: TurnId) -> None:
        self._replies.pop(turn, None)

    def all(self) -> tuple[T, ...]:
        return tuple(stretch.whole() for stretches in self._replies.values() for stretch in stretches)
