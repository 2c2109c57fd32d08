from dataclasses import replace

from daimon.abi.ids import OWNER
from daimon.abi.label import Author, Label, Origin
from daimon.abi.memory import Learn
from daimon.abi.tool import Call, Capability, Result
from daimon.tools.facts import fact_tools

STRANGER = Label.of(Origin(Author.STRANGER, "web:evil.example"), readers=(OWNER,))
LEARN = fact_tools()[0]


async def test_a_fact_takes_effect_with_the_outcome_and_is_the_same_when_run_again(call: Call) -> None:
    given = {"subject": "Anna", "statement": "Anna lives in Ulm.", "about": "city", "replaces": ["fact_1"]}
    result = await LEARN.run(given, call)
    assert isinstance(result, Result)
    (operation,) = result.operations
    assert isinstance(operation, Learn)
    assert (operation.subject, operation.statement, operation.about) == ("Anna", "Anna lives in Ulm.", "city")
    assert (operation.supersedes, result.data) == (("fact_1",), {"fact": operation.fact})
    assert await LEARN.run(given, call) == result
    assert LEARN.manifest.capabilities == (Capability.WRITES,)


async def test_what_is_learnt_among_a_strangers_words_is_a_strangers(call: Call) -> None:
    result = await LEARN.run({"subject": "Anna", "statement": "Anna lives in Ulm."}, replace(call, label=STRANGER))
    assert isinstance(result, Result)
    assert result.labels == {"": STRANGER}
