"""The model gives what other programs give for the same weights."""

from typing import Any

import pytest
from tests.memory.embedding.models import needs_model

from daimon.memory.embedding.weights import Weights

PUBLISHED = {
    "This is an example sentence": (0.06765693, 0.06349593, 0.04871314, 0.07930495, 0.03744806, 0.00265273),
    "Each sentence is converted": (0.08643859,),
}
"""The first numbers of each, as other programs print them."""


@pytest.fixture(scope="module")
def model() -> Any:
    from daimon.memory.embedding.minilm import MiniLM

    weights = Weights.find()
    assert weights
    return MiniLM(weights)


@needs_model
def test_vectors_are_those_that_other_programs_make_of_the_same_weights(model: Any) -> None:
    for text, numbers in PUBLISHED.items():
        assert model.embed([text])[0, : len(numbers)].tolist() == pytest.approx(numbers, abs=1e-6)


@needs_model
def test_a_vector_does_not_depend_on_what_else_is_in_the_batch(model: Any) -> None:
    texts = ["", "tea", "a train is late " * 30, "x" * 200, "one two three"] * 12
    together = model.embed(texts)
    for place, text in enumerate(texts[:5]):
        assert model.embed([text])[0] @ together[place] == pytest.approx(1, abs=1e-5)


@needs_model
def test_no_texts_give_no_rows(model: Any) -> None:
    assert model.embed([]).shape == (0, 384)
