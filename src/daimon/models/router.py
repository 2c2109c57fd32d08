"""Which model answers. With one model there is nothing to weigh, but the decision is a step all the same."""

from daimon.abi.model import Model, Request
from daimon.abi.step import Routed


class OnlyModel:
    def __init__(self, model: Model) -> None:
        self._model = model

    def route(self, request: Request) -> tuple[Model, Routed]:
        name = self._model.name
        return self._model, Routed(name, "only", "it is the only model configured", (name,))
