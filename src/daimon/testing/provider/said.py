"""An answer in nobody's shape: a line of the script, with everything filled in that a line may leave out."""

from dataclasses import dataclass, replace

from daimon.testing.provider.cache import Hit
from daimon.testing.provider.line import Call, Finish, Line, Usage
from daimon.testing.provider.prompt import Prompt, count


@dataclass(frozen=True, slots=True)
class Said:
    number: int
    """Of the request; every id in the answer is made of it."""
    model: str
    text: str
    reasoning: str
    calls: tuple[Call, ...]
    """Each with an id."""
    finish: Finish
    usage: Usage | None
    chunk: int


def compose(line: Line, prompt: Prompt, hit: Hit, number: int) -> Said:
    calls = tuple(replace(call, id=call.id or f"call_{number}_{place}") for place, call in enumerate(line.calls))
    reasoning_tokens = count(line.reasoning)
    output_tokens = reasoning_tokens + count(line.text) + sum(count(call.tool + call.text) for call in calls)
    return Said(
        number=number,
        model=line.model or prompt.model,
        text=line.text,
        reasoning=line.reasoning,
        calls=calls,
        finish=line.finish or ("calls" if calls else "stop"),
        usage=line.usage or Usage(prompt.tokens, output_tokens, hit.read_tokens, hit.written_tokens, reasoning_tokens),
        chunk=line.chunk,
    )


def split(text: str, size: int) -> list[str]:
    return [text[start : start + size] for start in range(0, len(text), size)]
