"""Words of the tree become the words that a command is given.

Every kind of word gives a raw text (see `words`); `fields` cuts it. What only a run would tell becomes `UNKNOWN`. A substitution is read
like any other command, by whoever made this expander, and its output stands in the word if it is known.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

from daimon.policy.shell import words
from daimon.policy.shell.parameters import Parameter, altered
from daimon.policy.shell.scene import LONGEST_VALUE, Scene, Value, like
from daimon.policy.shell.tree import between, text_of
from daimon.policy.shell.words import EMPTY, UNKNOWN, protect, protect_value

if TYPE_CHECKING:
    from tree_sitter import Node

Capture = Callable[["Node", Scene], str]
NESTED = frozenset({"command_substitution", "process_substitution"})


class Expander:
    def __init__(self, capture: Capture) -> None:
        self._capture = capture

    def fields(self, node: "Node", scene: Scene) -> list[str]:
        return words.fields(self._raw(node, scene), scene.home)

    def value(self, node: "Node", scene: Scene) -> Value:
        """What an assignment gives to a variable."""
        if node.type == "array":
            return tuple(field for child in node.named_children for field in self.fields(child, scene))
        value = words.one(self._raw(node, scene), scene.home)
        return value if len(value) <= LONGEST_VALUE else like(value).strip()

    def document(self, node: "Node", scene: Scene) -> str:
        """The body of a here-document that is not quoted."""
        return words.plain(self._quoted(node, scene))

    def substitutions(self, node: "Node", scene: Scene) -> None:
        """Reads what would run inside of something that is not followed, such as arithmetic and tests."""
        todo = list(node.named_children)
        while todo:
            child = todo.pop()
            scene.budget.step()
            if child.type in NESTED:
                self._capture(child, scene)
            else:
                todo += child.named_children

    def _raw(self, node: "Node", scene: Scene, is_quoted: bool = False) -> str:
        match node.type:
            case "raw_string":
                return protect(text_of(node)[1:-1]) + EMPTY
            case "ansi_c_string":
                return protect(words.unescaped(text_of(node)[2:-1])) + EMPTY
            case "string":
                return self._quoted(node, scene) + EMPTY
            case "concatenation" | "command_name" | "translated_string":
                return "".join(self._raw(child, scene) for child in node.children if child.type != "$")
            case "simple_expansion" | "expansion":
                return self._parameter(node, scene, is_quoted)
            case "command_substitution" | "process_substitution":
                return _brought(self._captured(node, scene), is_quoted, scene)
            case "arithmetic_expansion":
                self.substitutions(node, scene)
                return UNKNOWN
            case _:
                return words.unquoted(text_of(node))

    def _captured(self, node: "Node", scene: Scene) -> str:
        output = self._capture(node, scene)
        if node.type == "command_substitution":
            return output.rstrip("\n")
        path = f"/dev/fd/{len(scene.files) + 63}"
        scene.write(path, output)
        return path

    def _quoted(self, node: "Node", scene: Scene) -> str:
        """Between double quotes. The tree leaves some blanks out, so what lies between its children is read too."""
        raw, place = "", node.start_byte
        with scene.budget.deeper():
            for child in node.children:
                raw += protect(words.in_double_quotes(between(node, place, child.start_byte)))
                if child.is_named and child.type not in ("string_content", "heredoc_content"):
                    raw += self._raw(child, scene, is_quoted=True)
                elif child.type != '"':
                    raw += protect(words.in_double_quotes(text_of(child)))
                place = child.end_byte
            return raw + protect(words.in_double_quotes(between(node, place, node.end_byte)))

    def _parameter(self, node: "Node", scene: Scene, is_quoted: bool) -> str:
        parameter = Parameter.of(text_of(node))
        if parameter is None:
            return UNKNOWN
        value = parameter.value(scene)
        if parameter.operator:
            operand = self._operand(node, parameter, scene)
            value = altered(parameter, value, operand, scene)
        if isinstance(value, tuple):
            return " ".join(_brought(each, is_quoted, scene) for each in value)
        return _brought(UNKNOWN if value is None else value, is_quoted, scene)

    def _operand(self, node: "Node", parameter: Parameter, scene: Scene) -> str:
        start = node.start_byte + len(parameter.before.encode())
        parts, place = "", start
        with scene.budget.deeper():
            for child in node.children:
                if child.start_byte >= start and child.end_byte < node.end_byte:
                    parts += between(node, place, child.start_byte) + self._raw(child, scene)
                    place = child.end_byte
        return words.one(parts, scene.home)


def _brought(value: str, is_quoted: bool, scene: Scene) -> str:
    scene.budget.take(value)
    return protect(value) + EMPTY if is_quoted else protect_value(value)
