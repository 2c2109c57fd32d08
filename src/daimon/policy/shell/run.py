"""One command: what stands behind its wraps, whether it may never run, what it would run in turn, what it would print.

Order: the owner's own words first, then a command that came from the network, functions and files of the text itself, commands that run
others, and the rules last, on what is left.
"""

from collections.abc import Callable, Sequence

from daimon.policy.shell import feeds, fetch, filters, interpreters, own, rules, shells
from daimon.policy.shell.names import FETCHERS, SHELLS, SILENT, base, language
from daimon.policy.shell.scene import Never, Scene, like
from daimon.policy.shell.shown import shown
from daimon.policy.shell.words import FETCHED
from daimon.policy.shell.wraps import WRAPS, Wrap, unwrapped

Script = Callable[[str, str, Scene], str]
Call = Callable[[str, tuple[str, ...], str, Scene], str]


class Runner:
    def __init__(self, never: Sequence[tuple[str, ...]], script: Script, call: Call) -> None:
        self._never = never
        self._script = script
        self._call = call

    def run(self, words: list[str], stdin: str, scene: Scene) -> str:
        """What it prints, as far as that is known. Raises Never and TooDeep."""
        with scene.budget.deeper():
            scene.budget.step()
            name = base(words[0])
            own.refuse(name, words, self._never)
            if words[0].startswith(FETCHED):
                raise Never(f"`{shown(words)}` never runs: it would run what it gets from the network, unread")
            if words[0] in scene.functions:
                return self._call(words[0], tuple(words[1:]), stdin, scene)
            if "/" in words[0] and (content := scene.content(words[0])) is not None:
                return self._written(words, content, stdin, scene)
            return self._known(name, words, stdin, scene)

    def _known(self, name: str, words: list[str], stdin: str, scene: Scene) -> str:
        if name in WRAPS:
            return self._unwrap(WRAPS[name], words, stdin, scene)
        if (code := shells.code(name, words, stdin, scene)) is not None:
            return self._shell(code, words, scene)
        if language(name):
            return self._other(language(name), words, stdin, scene)
        if inner := feeds.commands(name, words, stdin, scene):
            return "".join(self.run(each.words, each.stdin, scene) for each in inner if each.words)
        rules.refuse(name, words, scene)
        return self._printed(name, words, stdin, scene)

    def _printed(self, name: str, words: list[str], stdin: str, scene: Scene) -> str:
        if name in FETCHERS:
            return fetch.output(name, words, scene)
        if name in filters.FILTERS:
            return filters.FILTERS[name](words, stdin, scene)
        feeds.moved(name, words, scene)
        return "" if name in SILENT else like(stdin, *words)

    def _unwrap(self, wrap: Wrap, words: list[str], stdin: str, scene: Scene) -> str:
        if any(word in wrap.queries.split() for word in words[1:2]):
            return like()
        behind = unwrapped(words, wrap)
        scene.variables.update(behind.assigned)
        output = "".join(self._script(text, stdin, scene.copy()) for text in behind.texts)
        if behind.words:
            return output + self.run(behind.words, stdin, scene)
        return output + self.run(["sh"], stdin, scene) if wrap.is_shell_alone and not behind.texts else output

    def _shell(self, code: shells.Code, words: list[str], scene: Scene) -> str:
        if code.text.lstrip().startswith(FETCHED):
            raise Never(f"`{shown(words)}` never runs: a shell would run what comes from the network, unread")
        inner = scene.copy() if code.is_apart else scene
        if code.arguments:
            inner.arguments = code.arguments
        return self._script(code.text, code.stdin, inner)

    def _other(self, kind: str, words: list[str], stdin: str, scene: Scene) -> str:
        text = interpreters.code(kind, words, stdin, scene)
        for inner in interpreters.commands(kind, text, words):
            if isinstance(inner, str):
                self._script(inner, "", scene.copy())
            elif inner:
                self.run(list(inner), "", scene.copy())
        return interpreters.output(text, stdin)

    def _written(self, words: list[str], content: str, stdin: str, scene: Scene) -> str:
        """A file that the same text has made."""
        if content.lstrip().startswith(FETCHED):
            raise Never(f"`{shown(words)}` never runs: it would run a file that comes from the network, unread")
        first = content.partition("\n")[0]
        name = base(first.split()[-1]) if first.startswith("#!") and first.split()[1:] else base(first.removeprefix("#!").strip())
        if first.startswith("#!") and name not in SHELLS and language(name):
            return self._other(language(name), [name, words[0]], stdin, scene)
        return self._shell(shells.Code(content, stdin, tuple(words[1:])), words, scene)
