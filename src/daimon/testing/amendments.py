"""What the owner changed by hand, kept in memory: the part of `MemoryJournal` that knows what is left of an amendment."""

from dataclasses import replace

from daimon.abi.ids import SpaceId
from daimon.abi.label import Label
from daimon.abi.memory import AmendedBy, Amendment, Import, Learn


class MemoryAmendments:
    def __init__(self) -> None:
        self._kept: dict[str, Amendment] = {}

    def __getitem__(self, id_: str) -> Amendment:
        return self._kept[id_]

    def __contains__(self, id_: str) -> bool:
        return id_ in self._kept

    def put(self, amendment: Amendment) -> None:
        self._kept[amendment.id] = amendment

    def forget(self, space: SpaceId, source: str, names: set[str]) -> list[Amendment]:
        """Those that lost something, as they are now."""
        lessened = []
        for amendment in [amendment for amendment in self._kept.values() if amendment.space == space]:
            is_gone = amendment.id in names or _names(amendment.label, source)
            left = () if is_gone else tuple(kept for each in amendment.operations if (kept := _without(each, source, names)) is not None)
            if left != amendment.operations:
                self._kept[amendment.id] = replace(amendment, operations=left)
                lessened.append(self._kept[amendment.id])
        return lessened


def _without(operation: AmendedBy, source: str, names: set[str]) -> AmendedBy | None:
    match operation:
        case Import(items=items):
            kept = tuple(item for item in items if names.isdisjoint((item.source, item.id)) and not _names(item.label, source))
            return replace(operation, items=kept) if kept else None
        case Learn(source=said) if said in names:
            return None
        case _:
            return operation


def _names(label: Label, source: str) -> bool:
    return any(origin.source == source for origin in label.origins)
