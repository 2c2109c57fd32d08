"""What the library knows of a model that changes how it is asked. Read once, when the library is loaded."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from daimon.models.contents import Senses
from daimon.models.endpoint import Endpoint

if TYPE_CHECKING:
    from pydantic_ai.models import Model

_KNOWN = ("anthropic", "google", "openai")
"""Of other vendors the library does not know what each model takes; it says yes to everything."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Traits:
    senses: Senses
    system: str
    """Who made a reply, as the library writes it into its messages."""
    id_length: int | None
    """Takes only ids of calls that are letters and digits, so many of them."""
    refuses_sampling: bool
    thinks_unasked: bool
    thinks_always: bool
    samples_only_unthinking: bool
    thinks_adaptively: bool
    """How much it thinks is asked for in a word, not in tokens."""


def traits(model: "Model[Any]", endpoint: Endpoint) -> Traits:
    known: dict[str, Any] = dict(model.profile)
    is_known = endpoint.vendor in _KNOWN
    shape = endpoint.served_by.shape
    return Traits(
        senses=Senses(
            images=endpoint.takes_images,
            sounds=is_known and bool(known.get("supports_audio_file_input")),
            documents=is_known and bool(known.get("supports_document_input")),
        ),
        system=model.system,
        id_length=known.get("tool_call_id_length"),
        refuses_sampling=bool(known.get("anthropic_disallows_sampling_settings")),
        thinks_unasked=bool(known.get("thinking_enabled_by_default")),
        thinks_always=bool(known.get("thinking_always_enabled")) or (shape == "openai" and not _can_stop(known)),
        samples_only_unthinking=shape == "anthropic" or bool(known.get("openai_supports_reasoning")),
        thinks_adaptively=shape != "anthropic" or bool(known.get("anthropic_supports_adaptive_thinking")),
    )


def _can_stop(known: dict[str, Any]) -> bool:
    """Thinking, where it thinks at all."""
    if not known.get("openai_supports_reasoning"):
        return True
    efforts = known.get("openai_reasoning_efforts")
    return "none" in efforts if efforts is not None else bool(known.get("openai_supports_reasoning_effort_none"))
