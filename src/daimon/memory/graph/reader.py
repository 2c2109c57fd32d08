"""A place in the words of a query, which moves on as they are understood. It counts how deep expressions are nested: the parser calls
itself for each level, and nobody's parentheses may use up the stack."""

from daimon.abi.errors import BadInput
from daimon.memory.graph.lexer import Token, tokens, wrong

DEEPEST = 40


class Reader:
    def __init__(self, query: str) -> None:
        self._query = query
        self._tokens = tokens(query)
        self._i = 0
        self.token: Token = self._tokens[0]
        self.depth = 0

    @property
    def next(self) -> Token:
        """The one after this."""
        return self._tokens[min(self._i + 1, len(self._tokens) - 1)]

    def advance(self) -> Token:
        token = self.token
        self._i = min(self._i + 1, len(self._tokens) - 1)
        self.token = self._tokens[self._i]
        return token

    def take(self, sign: str) -> bool:
        """Whether this sign stands here; then it is passed."""
        if self.token.text != sign or self.token.kind != "sign":
            return False
        self.advance()
        return True

    def take_word(self, word: str) -> bool:
        if self.token.kind != "name" or self.token.word != word:
            return False
        self.advance()
        return True

    def expect(self, sign: str, hint: str = "") -> None:
        if not self.take(sign):
            raise self.unexpected(f"`{sign}`", hint)

    def expect_word(self, word: str, hint: str = "") -> None:
        if not self.take_word(word):
            raise self.unexpected(word, hint)

    def name(self, what: str = "a name") -> str:
        if self.token.kind != "name":
            raise self.unexpected(what)
        return self.advance().text

    def number(self) -> int:
        if self.token.kind != "number" or not self.token.text.isdigit() or len(self.token.text) > 9:
            raise self.unexpected("a whole number")
        return int(self.advance().text)

    def deeper(self) -> None:
        self.depth += 1
        if self.depth > DEEPEST:
            raise self.wrong_at(self.token.at, f"this is nested more than {DEEPEST} levels deep", "write it flatter")

    def text_from(self, begin: Token) -> str:
        """What was written since then."""
        return self._query[begin.at : self.token.at].strip()

    def unexpected(self, expected: str, hint: str = "") -> BadInput:
        return self.wrong_at(self.token.at, f"found {self.token}, expected {expected}", hint)

    def wrong_at(self, at: int, what: str, hint: str = "") -> BadInput:
        return wrong(self._query, at, what, hint)
