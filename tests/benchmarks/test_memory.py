"""The benchmark of memory can say no, asks what it says it asks, and has a sound file to ask."""

import itertools
from pathlib import Path
from typing import Any

import memory
import numpy as np
import pytest
from lab import chatter, hoard, intakes, peers
from lab.searches import Floor, Ours, Vec

from daimon.abi.ids import HOME_SPACE, OWNER
from daimon.abi.memory import Query
from daimon.memory import file
from daimon.memory.agreement import disagreements

ROWS = 300


@pytest.fixture(scope="module")
def said() -> list[chatter.Line]:
    return list(chatter.lines(ROWS))


def test_the_same_seed_gives_the_same_talk_and_another_seed_another(said: list[chatter.Line]) -> None:
    assert list(chatter.lines(ROWS)) == said
    assert list(chatter.lines(ROWS, seed=1)) != said
    assert np.array_equal(chatter.vectors(5), chatter.vectors(5))


def test_vectors_have_unit_length_and_questions_lie_near_their_line(said: list[chatter.Line]) -> None:
    meant = chatter.vectors(ROWS)
    assert np.allclose(np.linalg.norm(meant, axis=1), 1, atol=1e-5)
    for question in chatter.questions(said, meant, 20):
        nearest = said[int(np.argmax(meant @ np.frombuffer(question.vector, "<f4")))]
        assert set(question.text.split()) <= set(nearest.text.lower().strip(".?").split())
        assert 3 <= len(question.text.split()) <= 8


async def test_a_filled_file_agrees_with_itself_and_is_asked_by_words_and_meaning(tmp_path: Path, said: list[chatter.Line]) -> None:
    meant = chatter.vectors(ROWS)
    hoard.fill(tmp_path / "memory.db", said, meant)
    connection = file.connect(tmp_path / "memory.db")
    assert disagreements(connection) == []
    connection.close()
    ours, floor = await Ours.open(tmp_path / "memory.db"), Floor(tmp_path / "memory.db", meant)
    try:
        (question,) = chatter.questions(said, meant, 1)
        assert min(await ours.tool(question), await ours.pager(question), floor.words(question), floor.meaning(question)) > 0
        found = await ours.store.recall(Query(space=HOME_SPACE, principal=OWNER, text=question.text))
        assert {reason.by for hit in found.hits for reason in hit.why} >= {"words", "meaning"}
    finally:
        await ours.store.close()
        floor.close()


def test_turns_of_two_lines_become_three_rows_and_the_file_agrees(tmp_path: Path, said: list[chatter.Line]) -> None:
    assert intakes.projected_per_s(tmp_path / "memory.db", said[:20]) > 0
    connection = file.connect(tmp_path / "memory.db")
    counted = dict(connection.execute("SELECT kind, count(*) FROM items GROUP BY kind"))
    assert counted == {"message": 20, "episode": 10}
    assert disagreements(connection) == []
    connection.close()


async def test_every_figure_is_there_in_a_small_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("DAIMON_UV", "/bin/false")
    found, absent = await memory.measure(tmp_path, ROWS, asked=4, seed=0, changes=30)
    assert absent
    assert "vec" not in found.took
    assert [len(took) for took in found.took.values()] == [4] * len(found.took)
    graph = {"path3_p50_ms": 0.5}
    fields = memory.figures([found], found, graph)
    assert min(fields["ratio_floor"], fields["ratio_floor_pager"], fields["insert_per_s"], fields["ratio_insert"]) > 0
    assert fields["ratio_vec"] is None
    assert len(memory.aims(fields)) == 3


@pytest.mark.parametrize("worse", [{"ratio_floor": 2.01}, {"ratio_floor_pager": 2.01}, {"path3_p50_ms": 1.0}])
def test_a_figure_beyond_its_limit_misses_an_aim(worse: dict[str, Any]) -> None:
    good = {"ratio_floor": 2.0, "ratio_floor_pager": 2.0, "path3_p50_ms": 0.99}
    assert all(memory.aims(good).values())
    assert not all(memory.aims(good | worse).values())


def test_a_ratio_is_the_median_over_questions() -> None:
    found = memory.Found(1, {"recall": [2.0, 3.0, 40.0], "floor": [1.0, 1.0, 10.0]})
    assert found.ratio("recall", "floor") == 3.0
    assert found.ratio("recall", "vec") is None


def test_sqlite_vec_takes_part_where_it_can_be_had(tmp_path: Path, said: list[chatter.Line]) -> None:
    meant = chatter.vectors(ROWS)
    try:
        vec = Vec(tmp_path / "vec.db", meant)
    except peers.Missing as missing:
        pytest.skip(f"sqlite-vec takes no part: {missing}")
    (question,) = itertools.islice(chatter.questions(said, meant, 1), 1)
    assert vec.meaning(question) > 0
    vec.close()
