"""Goes through the tree of a text in the order in which a shell would run it.

Both arms of a condition are read, a loop over known words once for each, any other loop once. `read` gives what the statement would print,
as far as that is known, because the next in a pipe may be a shell. It knows nothing of what commands do: that is `run`'s.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from daimon.policy.shell import bombs
from daimon.policy.shell.bounds import shortened
from daimon.policy.shell.expand import Expander
from daimon.policy.shell.loose import commands_in
from daimon.policy.shell.redirects import Redirects
from daimon.policy.shell.run import Runner
from daimon.policy.shell.scene import LONGEST_VALUE, Scene, TooDeep, Value, like
from daimon.policy.shell.tree import parse, text_of
from daimon.policy.shell.words import UNKNOWN

if TYPE_CHECKING:
    from tree_sitter import Node

MOST_ROUNDS = 32
REDIRECTS = frozenset({"file_redirect", "heredoc_redirect", "herestring_redirect"})
FOLLOWED = frozenset({"subshell", "command_substitution", "process_substitution"})
UNREAD = frozenset({"comment", "heredoc_start", "heredoc_end", "heredoc_body"})
SEQUENCES = frozenset(
    {"program", "compound_statement", "do_group", "else_clause", "elif_clause", "if_statement", "while_statement", "negated_command"}
)
PLAIN_WORDS = frozenset({"word", "string", "raw_string", "concatenation", "number", "ansi_c_string", "simple_expansion", "expansion"})


class Walker:
    def __init__(self, never: Sequence[tuple[str, ...]]) -> None:
        self._expander = Expander(self._capture)
        self._redirects = Redirects(self._expander)
        self._runner = Runner(never, self.script, self._call)

    def script(self, text: str, stdin: str, scene: Scene) -> str:
        """What a shell would do with this text. Raises Never and TooDeep."""
        short = shortened(scene.budget.take(text))
        if short is None:
            raise TooDeep
        with scene.budget.deeper():
            return self._read(parse(short), stdin, scene)

    def words(self, words: Sequence[str], scene: Scene) -> None:
        """A command that no shell sees. Raises Never and TooDeep."""
        self._runner.run(list(words), UNKNOWN, scene)

    def _read(self, node: "Node", stdin: str, scene: Scene) -> str:
        with scene.budget.deeper():
            scene.budget.step()
            if node.type in FOLLOWED:
                return self._all(node, stdin, scene.copy())
            if node.type in SEQUENCES:
                return self._all(node, stdin, scene)
            return self._one(node, stdin, scene)

    def _one(self, node: "Node", stdin: str, scene: Scene) -> str:  # noqa: C901 - a table
        match node.type:
            case "command":
                return self._command(node, [], stdin, scene)
            case "pipeline":
                return self._pipeline(node.named_children, stdin, scene)
            case "list":
                return "".join(self._read(child, stdin, scene) for child in _flat(node))
            case "redirected_statement":
                return self._redirected(node, stdin, scene)
            case "variable_assignment" | "variable_assignments" | "declaration_command":
                self._assign(node, scene)
            case "for_statement":
                return self._loop(node, stdin, scene)
            case "function_definition":
                self._define(node, scene)
            case "case_statement" | "case_item":
                return self._case(node, stdin, scene)
            case "ERROR":
                return self._broken(node, stdin, scene)
            case kind:
                if kind not in UNREAD:
                    self._expander.substitutions(node, scene)
        return ""

    def _all(self, node: "Node", stdin: str, scene: Scene) -> str:
        redirects = [child for child in node.named_children if child.type in REDIRECTS]  # $(<file)
        before = self._redirects.stdin(redirects, stdin, scene) if redirects else ""
        return before + "".join(self._read(child, stdin, scene) for child in node.named_children if child.type not in REDIRECTS)

    def _capture(self, node: "Node", scene: Scene) -> str:
        with scene.budget.deeper():
            return self._read(node, UNKNOWN, scene)

    def _command(self, node: "Node", further: list["Node"], stdin: str, scene: Scene) -> str:
        children = node.named_children
        redirects = [child for child in children if child.type in REDIRECTS] + further
        words = [
            field
            for child in children
            if child.type not in REDIRECTS and child.type not in ("variable_assignment", "comment")
            for field in self._expander.fields(child, scene)
        ]
        assigned = [child for child in children if child.type == "variable_assignment"]
        inner = scene.copy() if words and assigned else scene
        for child in assigned:
            self._assign(child, inner)
        stdin = self._redirects.stdin(redirects, stdin, scene)
        self._redirects.judge(redirects, words, scene)
        output = scene.budget.take(self._runner.run(words, stdin, inner)) if words else ""
        return self._redirects.written(redirects, output, scene)

    def _redirected(self, node: "Node", stdin: str, scene: Scene) -> str:
        body = node.child_by_field_name("body")
        redirects = node.children_by_field_name("redirect")
        inner = [child for redirect in redirects if redirect.type == "heredoc_redirect" for child in redirect.named_children]
        redirects += [child for child in inner if child.type in REDIRECTS]
        output = self._body(body, redirects, stdin, scene)
        # What follows a here-document on its line hangs below it in the tree: `cat <<END | sh`.
        for child in inner:
            if child.type == "pipeline":
                output = self._pipeline(child.named_children, output, scene)
            elif child.type not in REDIRECTS | UNREAD and child.type not in PLAIN_WORDS:
                output += self._read(child, stdin, scene)
        return output

    def _body(self, body: "Node | None", redirects: list["Node"], stdin: str, scene: Scene) -> str:
        if body is not None and body.type == "command":
            return self._command(body, redirects, stdin, scene)
        stdin = self._redirects.stdin(redirects, stdin, scene)
        self._redirects.judge(redirects, [], scene)
        output = self._read(body, stdin, scene) if body is not None else ""
        return self._redirects.written(redirects, output, scene)

    def _pipeline(self, parts: Sequence["Node"], stdin: str, scene: Scene) -> str:
        bombs.refuse_shell_on_wire([text_of(part) for part in parts])
        for part in parts:
            stdin = self._read(part, stdin, scene.copy())
        return stdin

    def _assign(self, node: "Node", scene: Scene) -> None:
        for child in [node] if node.type == "variable_assignment" else node.named_children:
            if child.type != "variable_assignment":
                continue
            name, value = child.child_by_field_name("name"), child.child_by_field_name("value")
            if name is None or name.type != "variable_name":
                self._expander.substitutions(child, scene)
                continue
            held = self._expander.value(value, scene) if value is not None else ""
            is_more = text_of(child).startswith(f"{text_of(name)}+=")
            scene.variables[text_of(name)] = _added(scene.variables.get(text_of(name), ""), held) if is_more else held

    def _loop(self, node: "Node", stdin: str, scene: Scene) -> str:
        variable, body = node.child_by_field_name("variable"), node.child_by_field_name("body")
        values = [field for child in node.children_by_field_name("value") for field in self._expander.fields(child, scene)]
        output = ""
        for value in values[:MOST_ROUNDS] or [UNKNOWN]:
            if variable is not None:
                scene.variables[text_of(variable)] = value
            output += self._read(body, stdin, scene) if body is not None else ""
        return output

    def _case(self, node: "Node", stdin: str, scene: Scene) -> str:
        values = node.children_by_field_name("value")
        for value in values:
            self._expander.fields(value, scene)
        return "".join(self._read(child, stdin, scene) for child in node.named_children if child not in values)

    def _define(self, node: "Node", scene: Scene) -> None:
        name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
        if name is not None and body is not None:
            bombs.refuse(text_of(name), body)
            scene.functions[text_of(name)] = body

    def _call(self, name: str, arguments: tuple[str, ...], stdin: str, scene: Scene) -> str:
        if name in scene.calling:
            return like(stdin)
        before = scene.arguments, scene.calling
        scene.arguments, scene.calling = arguments, scene.calling | {name}
        try:
            return self._read(scene.functions[name], stdin, scene)
        finally:
            scene.arguments, scene.calling = before

    def _broken(self, node: "Node", stdin: str, scene: Scene) -> str:
        """What the grammar does not know may still be shell, such as a command made of braces."""
        output = "".join(self._read(child, stdin, scene) for child in node.named_children if child.type not in PLAIN_WORDS)
        for words in commands_in(text_of(node), scene.home):
            output += self._runner.run(words, stdin, scene)
        return output


def _flat(node: "Node") -> list["Node"]:
    """`a && b && c` leans to the left; a long one must not be deep."""
    parts: list[Node] = []
    while node.type == "list":
        *first, last = node.named_children
        parts.append(last)
        node = first[0] if first else last
        if not first:
            return parts[::-1]
    return [node, *reversed(parts)]


def _added(held: Value, more: Value) -> Value:
    if isinstance(held, str) and isinstance(more, str):
        return (held + more)[:LONGEST_VALUE]
    return (*((held,) if isinstance(held, str) else held), *((more,) if isinstance(more, str) else more))[:1_000]
