"""The benchmark of recall reads dialogues leniently, counts what it says, and can say no."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import recall
from lab.dialogues import Question, load
from lab.process import CHECKOUT

GOOD = {"r_at_10": 83.0, "in_window_8k": 95.0, "bm25_r_at_10": 57.0, "rrf60_r_at_10": 61.0}


def dialogue(path: Path) -> Path:
    lines = [("Anna", "I bought a red bicycle in town"), ("Bob", "How nice!"), ("Anna", "My sister Eve lives in Lisbon now")]
    turns = [{"speaker": who, "dia_id": f"D1:{n}", "text": text} for n, (who, text) in enumerate(lines, 1)]
    turns[1]["blip_caption"] = "a photo of a harbour"
    asked = [
        {"question": "Where does Anna's sister live?", "category": 4, "evidence": ["D1:3"]},
        {"question": "What did Anna say of the bicycle, and did Bob share a photo?", "category": 1, "evidence": ["D:1:1; D1:2"]},
        {"question": "Who is nobody?", "category": 3, "evidence": ["D9:9"]},
        {"question": "What did Bob buy in town?", "category": 5, "evidence": ["D1:1"]},
    ]
    conversation: dict[str, Any] = {"session_1": turns, "session_1_date_time": "1:56 pm on 8 May, 2023"}
    path.write_text(json.dumps([{"sample_id": "small", "conversation": conversation, "qa": asked}]))
    return path


def run(*words: str) -> subprocess.CompletedProcess[str]:
    asked = [sys.executable, str(CHECKOUT / "benchmarks/recall.py"), "--words", "--json", *words]
    return subprocess.run(asked, capture_output=True, text=True, timeout=120, check=False)


def test_evidence_is_read_leniently_and_what_names_no_turn_is_counted(tmp_path: Path) -> None:
    (read,) = load(dialogue(tmp_path / "data.json"))
    assert [sorted(question.evidence) for question in read.questions] == [["D1:3"], ["D1:1", "D1:2"], ["D1:1"]]
    assert read.unresolved == 1
    assert read.lines[1].words == "How nice!\n[shares a photo of a harbour]"


def test_a_share_is_of_the_evidence_and_only_what_counts_is_counted() -> None:
    found = recall.Found([Question("?", 1, frozenset({"a", "b"})), Question("?", 5, frozenset({"c"}))])
    found.note("x", found.questions[0], ["a", "z"])
    found.note("x", found.questions[1], ["c"])
    assert found.percent("x", 1, 2, 3, 4) == 50.0
    assert found.percent("x", 5) == 100.0


def test_each_aim_can_be_missed() -> None:
    assert all(recall.aims(GOOD).values())
    for name, value in (("r_at_10", 61.0), ("in_window_8k", 80.0), ("rrf60_r_at_10", 99.0)):
        assert not all(recall.aims({**GOOD, name: value}).values())


def test_a_small_dialogue_goes_through_the_real_store(tmp_path: Path) -> None:
    done = run("--data", str(dialogue(tmp_path / "data.json")))
    assert done.returncode == 0, done.stderr
    fields = json.loads(done.stdout.splitlines()[-1])
    assert (fields["r_at_5"], fields["in_window_4k"], fields["questions"]) == (100.0, 100.0, 2)


def test_without_data_it_says_what_to_do(tmp_path: Path) -> None:
    done = run("--data", str(tmp_path / "none.json"))
    assert done.returncode == recall.UNUSABLE
    assert "--data FILE" in done.stderr
