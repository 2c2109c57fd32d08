"""The benchmark of paths asks what it says, and gets the answers of a plain recursive query."""

from pathlib import Path

from lab import graphs


def test_paths_of_a_small_graph_are_found_and_measured(tmp_path: Path) -> None:
    found = graphs.measured(tmp_path / "graph.db", nodes=300, edges=1500, samples=4)
    assert {f"{what}{hops}_p50_ms" for what in ("path", "reach", "cte") for hops in graphs.HOPS} <= found.keys()
    assert found["graph_rows_per_s"] > 0


def test_growth_is_measured_by_size(tmp_path: Path) -> None:
    assert graphs.growth(tmp_path, sizes=(100, 200), samples=2).keys() == {"path3_p50_ms_100", "path3_p50_ms_200"}


def test_the_same_seed_gives_the_same_graph() -> None:
    assert list(graphs.operations(50, 100)) == list(graphs.operations(50, 100))
