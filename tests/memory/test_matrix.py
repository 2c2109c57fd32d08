"""Exact search over vectors: what is found is what the table says, whatever happened to it."""

import math
import random
import struct
import subprocess
import sys

import apsw
import pytest

from daimon.memory.embedding.unit import pack
from daimon.memory.matrix import Matrix
from daimon.memory.schema import TABLES

pytest.importorskip("numpy", reason="numpy is not installed")


@pytest.fixture
def rows() -> apsw.Connection:
    connection = apsw.Connection(":memory:")
    connection.execute(TABLES)
    return connection


def put(rows: apsw.Connection, n: int, vector: bytes, aspect: str = "own", model: str = "m") -> None:
    rows.execute("INSERT OR REPLACE INTO vectors VALUES (?, ?, ?, ?)", (n, aspect, model, vector))


def angle(degrees: float) -> bytes:
    return pack([math.cos(math.radians(degrees)), math.sin(math.radians(degrees))])


def numbers(found: list[tuple[int, float]]) -> list[int]:
    return [n for n, _ in found]


def test_the_most_similar_come_first_with_their_similarity(rows: apsw.Connection) -> None:
    for n in range(1, 10):
        put(rows, n, angle(n * 10))
    found = Matrix("m").nearest(rows, "own", angle(31), limit=3)
    assert numbers(found) == [3, 4, 2]
    assert found[0][1] == pytest.approx(math.cos(math.radians(1)), abs=1e-6)


def test_only_what_is_asked_about_is_found(rows: apsw.Connection) -> None:
    for n in range(1, 100):
        put(rows, n, angle(n))
    matrix = Matrix("m")
    assert numbers(matrix.nearest(rows, "own", angle(50), {3, 90, 7, 1_000_000, -1}, 10)) == [90, 7, 3]
    assert numbers(matrix.nearest(rows, "own", angle(50), range(60, 99), 2)) == [60, 61]
    assert matrix.nearest(rows, "own", angle(50), [], 10) == []
    assert matrix.nearest(rows, "own", angle(50), None, 0) == []


def test_aspects_models_and_dimensions_are_never_mixed(rows: apsw.Connection) -> None:
    put(rows, 1, angle(0))
    put(rows, 2, angle(0), aspect="context")
    put(rows, 3, angle(0), model="other")
    put(rows, 4, pack([1.0, 0.0, 0.0]))
    matrix = Matrix("m")
    assert numbers(matrix.nearest(rows, "own", angle(0))) == [1]
    assert numbers(matrix.nearest(rows, "context", angle(0))) == [2]
    assert numbers(matrix.nearest(rows, "own", pack([1.0, 0.0, 0.0]))) == [4]
    assert numbers(Matrix("other").nearest(rows, "own", angle(0))) == [3]
    assert Matrix("none").nearest(rows, "own", angle(0)) == []


def test_what_changes_in_the_table_is_seen_by_the_next_question(rows: apsw.Connection) -> None:
    put(rows, 1, angle(0))
    matrix = Matrix("m")
    assert numbers(matrix.nearest(rows, "own", angle(0))) == [1]
    put(rows, 2, angle(10))
    assert numbers(matrix.nearest(rows, "own", angle(10))) == [2, 1]
    put(rows, 1, angle(11))
    put(rows, 2, angle(90))
    assert numbers(matrix.nearest(rows, "own", angle(10))) == [1, 2]
    rows.execute("DELETE FROM vectors WHERE n = 1")
    assert numbers(matrix.nearest(rows, "own", angle(10))) == [2]
    rows.execute("UPDATE vectors SET model = 'other'")
    assert matrix.nearest(rows, "own", angle(10)) == []


@pytest.mark.parametrize("is_asked", [True, False])
def test_what_was_rolled_back_never_was(rows: apsw.Connection, is_asked: bool) -> None:
    put(rows, 1, angle(0))
    matrix = Matrix("m")
    matrix.nearest(rows, "own", angle(0))
    rows.execute("BEGIN; DELETE FROM vectors")
    put(rows, 2, angle(0))
    if is_asked:
        assert numbers(matrix.nearest(rows, "own", angle(0))) == [2]
    rows.execute("ROLLBACK")
    assert numbers(matrix.nearest(rows, "own", angle(0))) == [1]


def test_another_file_is_another_matrix(rows: apsw.Connection) -> None:
    put(rows, 1, angle(0))
    matrix = Matrix("m")
    assert numbers(matrix.nearest(rows, "own", angle(0))) == [1]
    other = apsw.Connection(":memory:")
    other.execute(TABLES)
    put(other, 7, angle(0))
    assert numbers(matrix.nearest(other, "own", angle(0))) == [7]


def test_after_any_history_it_finds_what_a_plain_search_of_the_table_finds(rows: apsw.Connection) -> None:
    chance = random.Random(7)
    matrix = Matrix("m")
    for _ in range(60):
        for _ in range(chance.randint(0, 40)):
            n = chance.randint(1, 300)
            if chance.random() < 0.6:
                put(rows, n, pack([chance.gauss(0, 1) for _ in range(8)]), chance.choice(("own", "context")))
            else:
                rows.execute("DELETE FROM vectors WHERE n = ?", (n,))
        query = pack([chance.gauss(0, 1) for _ in range(8)])
        among = chance.choice([None, chance.sample(range(1, 320), 20), chance.sample(range(1, 320), 200)])
        assert numbers(matrix.nearest(rows, "own", query, among, 10)) == plain(rows, query, among, 10)


def plain(rows: apsw.Connection, query: bytes, among: list[int] | None, limit: int) -> list[int]:
    wanted = struct.unpack("<8f", query)
    alike = {
        n: sum(a * b for a, b in zip(wanted, struct.unpack("<8f", vector), strict=True))
        for n, vector in rows.execute("SELECT n, vector FROM vectors WHERE aspect = 'own'")
        if among is None or n in among
    }
    return sorted(alike, key=lambda n: -alike[n])[:limit]


def test_numpy_is_loaded_by_the_first_question_and_not_before() -> None:
    program = """
import sys, apsw
from daimon.memory.matrix import Matrix
from daimon.memory.embedding.process import LocalEmbedder
from daimon.memory.schema import TABLES
rows = apsw.Connection(":memory:")
rows.execute(TABLES)
matrix = Matrix("m")
assert "numpy" not in sys.modules
assert matrix.nearest(rows, "own", bytes(8)) == []
assert "numpy" in sys.modules
"""
    subprocess.run([sys.executable, "-c", program], check=True, env={"PYTHONPATH": ":".join(sys.path)}, timeout=120)
