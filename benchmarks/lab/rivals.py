"""What recall is compared with, in the same run: BM25 over the bare turns, and the textbook's reciprocal rank fusion (k = 60) of BM25 and
vectors, both of turns with date and speaker."""

import apsw
import numpy as np

from daimon.abi.memory import Embedder
from daimon.memory import query, wording
from lab.dialogues import Dialogue

K = 60
_TOKENIZER = "porter unicode61 remove_diacritics 2"


class Bm25:
    def __init__(self, texts: list[str]) -> None:
        self._rows = apsw.Connection(":memory:")
        self._rows.execute(f"CREATE VIRTUAL TABLE words USING fts5 (text, tokenize='{_TOKENIZER}')")
        self._rows.executemany("INSERT INTO words (rowid, text) VALUES (?, ?)", list(enumerate(texts)))

    def rank(self, question: str) -> list[int]:
        words = query.words(question)
        match = " OR ".join('"' + word.replace('"', '""') + '"' for word in words)
        return [n for (n,) in self._rows.execute("SELECT rowid FROM words WHERE words MATCH ? ORDER BY rank", (match,))] if words else []


class Textbook:
    """Made by `Textbook.of`."""

    def __init__(self, dialogue: Dialogue, vectors: dict[str, bytes]) -> None:
        texts = headed(dialogue)
        self._words = Bm25(texts)
        self._vectors = vectors
        self._rows = np.stack([np.frombuffer(vectors[text], "<f4") for text in texts])

    @classmethod
    async def of(cls, dialogue: Dialogue, embedder: Embedder) -> "Textbook":
        texts = tuple(dict.fromkeys([*headed(dialogue), *(question.text for question in dialogue.questions)]))
        return cls(dialogue, dict(zip(texts, await embedder.embed(texts, "passage"), strict=True)))

    def rank(self, question: str) -> list[int]:
        alike = self._rows @ np.frombuffer(self._vectors[question], "<f4")
        scores: dict[int, float] = {}
        for found in (self._words.rank(question), np.argsort(-alike, kind="stable").tolist()):
            for place, n in enumerate(found, 1):
                scores[n] = scores.get(n, 0.0) + 1 / (K + place)
        return sorted(scores, key=lambda n: -scores[n])


def headed(dialogue: Dialogue) -> list[str]:
    return [wording.own(line.at, line.speaker, line.words) for line in dialogue.lines]
