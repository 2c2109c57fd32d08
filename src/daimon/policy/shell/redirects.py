"""Redirections: what a command reads, what it would write on, and where its output goes."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from daimon.policy.shell import paths
from daimon.policy.shell.expand import Expander
from daimon.policy.shell.names import SHELLS, base
from daimon.policy.shell.scene import Never, Scene
from daimon.policy.shell.tree import text_of
from daimon.policy.shell.words import UNKNOWN

if TYPE_CHECKING:
    from tree_sitter import Node

ASKING_WHETHER_OPEN = frozenset({"", ":", "true", "echo", "printf", "exec", "["})
"""`: < /dev/tcp/HOST/PORT` is how one waits for a port."""
STREAMS = frozenset({"/dev/stdout", "/dev/stderr", "/dev/fd/1", "/dev/fd/2", "/dev/tty"})


class Redirects:
    def __init__(self, expander: Expander) -> None:
        self._expander = expander

    def stdin(self, redirects: Sequence["Node"], stdin: str, scene: Scene) -> str:
        """What the command will read."""
        for node in redirects:
            if node.type == "heredoc_redirect":
                stdin = self._document(node, scene)
            elif node.type == "herestring_redirect":
                stdin = " ".join(field for child in node.named_children for field in self._expander.fields(child, scene)) + "\n"
            elif _sign(node) == "<" and _descriptor(node) in ("", "0"):
                content = scene.content(target) if (target := self._target(node, scene)) else None
                stdin = UNKNOWN if content is None else content
        return stdin

    def judge(self, redirects: Sequence["Node"], words: Sequence[str], scene: Scene) -> None:
        """Raises Never when one of them writes where nothing may be written."""
        name = base(words[0]) if words else ""
        for node in redirects:
            if node.type != "file_redirect" or not (target := self._target(node, scene)):
                continue
            path, sign = scene.path(target), text_of(node)
            if ">" in sign and (harm := paths.damage(path)):
                raise Never(f"`{sign}` never runs: {harm}")
            if (host := paths.wire(path)) and (name not in ASKING_WHETHER_OPEN or name in SHELLS):
                raise Never(
                    f"`{name} {sign}` never runs: it would hand this machine's words to {host} over a connection of the shell itself"
                )

    def written(self, redirects: Sequence["Node"], output: str, scene: Scene) -> str:
        """What is left of the output after it went into files."""
        for node in redirects:
            sign = _sign(node)
            if sign not in (">", ">>", ">|", "&>", "&>>", ">&") or _descriptor(node) not in ("", "1"):
                continue
            target = self._target(node, scene)
            if target and not target.isdigit() and target not in STREAMS:
                scene.write(target, output, is_more=sign.endswith(">>"))
                output = ""
        return output

    def _target(self, node: "Node", scene: Scene) -> str:
        destination = node.child_by_field_name("destination")
        found = self._expander.fields(destination, scene) if destination is not None else []
        return found[0] if found else ""

    def _document(self, node: "Node", scene: Scene) -> str:
        start = next((child for child in node.children if child.type == "heredoc_start"), None)
        body = next((child for child in node.children if child.type == "heredoc_body"), None)
        if body is None:
            return ""
        is_quoted = start is not None and any(sign in text_of(start) for sign in "'\"\\")
        text = text_of(body) if is_quoted else self._expander.document(body, scene)
        return "\n".join(line.lstrip("\t") for line in text.split("\n")) if text_of(node).startswith("<<-") else text


def _sign(node: "Node") -> str:
    return next((child.type for child in node.children if not child.is_named), "") if node.type == "file_redirect" else ""


def _descriptor(node: "Node") -> str:
    found = node.child_by_field_name("descriptor")
    return text_of(found) if found is not None else ""
