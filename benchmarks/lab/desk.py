"""The tree that an agent works in, read from outside: through the gateway, as its owner would.

It is read from two sides. The store compares layers and gives the text of what differs from the base; a command in a box reads the tree
as the kernel puts it together. Both must be the same.
"""

import hashlib
from typing import Any
from urllib.parse import quote

from lab.deed import BASE
from lab.leavings import Tree
from lab.subject import Subject

OWN = "/v1/workspaces/w1"
SUMS = ("sh", "-c", "find . -type f -exec sha256sum {} +")


class Desk:
    def __init__(self, subject: Subject) -> None:
        self._subject = subject

    async def is_there(self) -> bool:
        return any(each["id"] == "w1" for each in await self._asked("GET", "/v1/workspaces"))

    async def tree(self, until: str = "") -> tuple[Tree, list[str]]:
        """At a checkpoint, or now; and where the text does not agree with what is known of the file."""
        query = f"?until={quote(until)}" if until else ""
        text = (await self._asked("GET", f"{OWN}/text{query}"))["text"]
        changes = await self._asked("GET", f"{OWN}/diff{query}")
        tree = patched(text)
        for change in changes:
            if change["after"] is None:
                tree.pop(change["path"], None)
        sums = {change["path"]: change["after"]["hash"] for change in changes if change["after"] and change["after"]["kind"] == "file"}
        return tree, [f"{path} is not the text that it is said to be" for path, sum_ in sums.items() if sum_of(tree.get(path, "")) != sum_]

    async def seen_in_a_box(self) -> dict[str, str]:
        """Sums of all files."""
        ran = await self._asked("POST", f"{OWN}/run", {"command": SUMS})
        if ran["code"]:
            raise RuntimeError(f"a box cannot read the tree: {ran}")
        return {path.removeprefix("./"): sum_ for sum_, path in (line.split(maxsplit=1) for line in ran["out"].splitlines())}

    async def checkpoints(self) -> set[str]:
        return {each["id"] for each in await self._asked("GET", f"{OWN}/checkpoints")}

    async def restore(self, checkpoint: str) -> None:
        await self._asked("POST", f"{OWN}/restore", {"to": checkpoint})

    async def _asked(self, method: str, path: str, data: object = None) -> Any:
        answer = await self._subject.process.call(method, path, data)
        if answer.status not in (200, 201):
            raise RuntimeError(f"{method} {path}: {answer.status} {answer.body!r}")
        return answer.data


def sum_of(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def patched(text: str) -> Tree:
    """The base after a unified diff of files that are so short, as they are in the base, that each is one hunk."""
    tree, path = dict(BASE), ""
    for line in text.splitlines():
        if line.startswith("+++ "):
            path = line.removeprefix("+++ ").split("\t")[0].removeprefix("b/")
            tree[path] = ""
        elif path and line[:1] in ("+", " "):
            tree[path] += f"{line[1:]}\n"
        elif line.startswith(("diff ", "--- ")):
            path = ""
    return tree
