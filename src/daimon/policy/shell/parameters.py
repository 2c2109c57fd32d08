"""`$X`, `${X:-y}` and their kin: what a parameter holds, and what an operator makes of it."""

import re
from dataclasses import dataclass
from fnmatch import fnmatchcase

from daimon.policy.shell.scene import Scene, Value
from daimon.policy.shell.words import UNKNOWN

_SHAPE = re.compile(r"\$\{?([!#]?)(\w+|[@*#?$!-])(?:\[([^\]]*)\])?(:?[-=?+]|##?|%%?|//?[#%]?|\^\^?|,,?|:|@[A-Za-z])?")

LONGEST_OPERAND = 1_000


@dataclass(frozen=True, slots=True)
class Parameter:
    name: str
    index: str
    operator: str
    is_indirect: bool
    is_length: bool
    before: str
    """The text up to what the operator is given."""

    @staticmethod
    def of(text: str) -> "Parameter | None":
        found = _SHAPE.match(text)
        if found is None:
            return None
        sign, name, index, operator = (part or "" for part in found.groups())
        return Parameter(name, index, operator, sign == "!", sign == "#", found[0])

    def value(self, scene: Scene) -> Value | None:
        """None: nobody knows."""
        if self.is_length:
            return None
        if self.name in ("@", "*"):
            return scene.arguments
        held = _held(self.name, scene)
        if self.is_indirect and isinstance(held, str):
            held = _held(held, scene)
        return self._element(held)

    def _element(self, held: Value | None) -> Value | None:
        if not isinstance(held, tuple) or self.index in ("@", "*"):
            return held
        number = int(self.index) if self.index.lstrip("-").isdigit() else 0
        return held[number] if -len(held) <= number < len(held) else ""


def _held(name: str, scene: Scene) -> Value | None:
    if name.isdigit() and name != "0":
        if scene.arguments is None:
            return None
        return scene.arguments[int(name) - 1] if int(name) <= len(scene.arguments) else ""
    return scene.variables.get(name)


def altered(parameter: Parameter, value: Value | None, operand: str, scene: Scene) -> Value | None:
    operator, operand = parameter.operator, operand[:LONGEST_OPERAND]
    if operator.lstrip(":") in ("-", "=", "?"):
        return _or_else(parameter, value, operand, scene)
    if operator.lstrip(":") == "+":
        return "" if value in ("", ()) else operand
    if value is None or isinstance(value, tuple):
        return value
    return _cut(value, operator, operand)


def _or_else(parameter: Parameter, value: Value | None, operand: str, scene: Scene) -> Value:
    if value:
        return value
    if parameter.operator.endswith("="):
        scene.variables[parameter.name] = operand
    return operand if parameter.operator.endswith(("-", "=")) else UNKNOWN


def _cut(value: str, operator: str, operand: str) -> str:
    match operator:
        case "#" | "##" | "%" | "%%":
            return _trimmed(value, operator, operand)
        case "^^":
            return value.upper()
        case ",,":
            return value.lower()
        case "^":
            return value[:1].upper() + value[1:]
        case ",":
            return value[:1].lower() + value[1:]
        case ":":
            return _slice(value, operand)
        case "/" | "//":
            old, _, new = operand.partition("/")
            return value.replace(old, new, -1 if operator == "//" else 1) if old else value
        case _:
            return value


def _trimmed(value: str, operator: str, pattern: str) -> str:
    lengths = range(len(value) + 1)[:1_000]
    for length in reversed(lengths) if len(operator) == 2 else lengths:
        if operator[0] == "#" and fnmatchcase(value[:length], pattern):
            return value[length:]
        if operator[0] == "%" and fnmatchcase(value[len(value) - length :], pattern):
            return value[: len(value) - length]
    return value


def _slice(value: str, operand: str) -> str:
    numbers = [part.strip() for part in operand.split(":")]
    if not all(re.fullmatch(r"-?\d{1,9}|", part) for part in numbers):
        return UNKNOWN
    start = int(numbers[0] or 0)
    end = int(numbers[1]) if len(numbers) > 1 and numbers[1] else None
    cut = value[start:] if start >= 0 else value[max(0, len(value) + start) :]
    return cut[:end]
