"""The model gives what other programs give for the same weights."""

from typing import Any

import pytest
from tests.memory.embedding.models import needs_model

from daimon.memory.embedding.weights import Weights

PUBLISHED = {
    "This is an example sentence": (0.0676569, 0.0634959, 0.0487131, 0.0793050),
    "Each sentence is converted": (0.0864386, 0.1027626, 0.0053946, 0.0020444),
}
"""The first numbers of each, as the reference implementation gives them."""


@pytest.fixture(scope="module")
def model() -> Any:
    from daimon.memory.embedding.minilm import MiniLM

    weights = Weights.find()
    assert weights
    return MiniLM(weights)


@needs_model
def test_vectors_are_those_of_the_reference(model: Any) -> None:
    for text, numbers in PUBLISHED.items():
        assert model.embed([text])[0, :4].tolist() == pytest.approx(numbers, abs=2e-6)


@needs_model
def test_a_vector_does_not_depend_on_what_else_is_in_the_batch(model: Any) -> None:
    texts = ["", "tea", "a train is late " * 30, "x" * 200, "one two three"] * 12
    together = model.embed(texts)
    for place, text in enumerate(texts[:5]):
        assert model.embed([text])[0] @ together[place] == pytest.approx(1, abs=1e-5)


@needs_model
def test_no_texts_give_no_rows(model: Any) -> None:
    assert model.embed([]).shape == (0, 384)
