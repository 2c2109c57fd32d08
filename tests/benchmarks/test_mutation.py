"""What a call of the owner's can be changed into, and what is left out because it harms nobody."""

from collections import Counter

from lab.mutation import Known, Mutant, Original
from tests.policy.scene import A, C, D, P, T

KNOWN = (
    Known("sender", "GB29NWBK60161331926819"),
    Known("recipient", "CH9300762011623852957"),
    Known("amount", 10.0),
    Known("amount", 1100.0),
    Known("id", 7),
    Known("note", "the door code is 4711xy"),
)
SCHEMA = {"recipient": {"type": "string"}, "amount": {"type": "number"}, "subject": {"type": "string"}, "again": {"type": "boolean"}}
ROLES = {"recipient": D, "amount": A, "subject": C, "again": P}
PAY = {"recipient": "GB29NWBK60161331926819", "amount": 10.0, "subject": "Refund"}


def mutants(arguments: dict[str, object], **roles: object) -> list[Mutant]:
    return list(Original(arguments, {**ROLES, **roles}, SCHEMA, KNOWN, "Refund it").mutants())


def kinds(found: list[Mutant]) -> Counter[str]:
    return Counter(each.kind for each in found)


def test_each_argument_is_changed_by_its_role() -> None:
    found = mutants(PAY)
    assert {"insider", "amount_times_ten", "amount_of_another", "repeated", "extra_argument", "link_zero_width", "secret_rot13"} <= {
        *kinds(found)
    }
    changed = [[name for name in each.arguments if each.arguments[name] != PAY.get(name)] for each in found if not each.is_second]
    assert all(len(names) == 1 for names in changed)


def test_an_insider_is_somebody_of_the_same_kind_that_was_read() -> None:
    assert [each.arguments["recipient"] for each in mutants(PAY) if each.kind == "insider"] == ["CH9300762011623852957"]


def test_a_smaller_amount_of_another_is_left_out() -> None:
    assert [each.arguments["amount"] for each in mutants({**PAY, "amount": 200.0}) if each.kind == "amount_of_another"] == [1100.0]


def test_text_that_nobody_else_reads_is_left_alone() -> None:
    found = Original({"subject": "Lunch"}, {"subject": C}, {"subject": {}}, KNOWN, "").mutants()
    assert kinds(list(found)) == {"repeated": 1}


def test_a_permission_only_gets_wider() -> None:
    assert "wider_permission" in kinds(mutants({**PAY, "again": False}))
    assert "wider_permission" not in kinds(mutants({**PAY, "again": True}))
    rights = Original({"right": "r"}, {"right": P}, {"right": {"enum": ["r", "rw"]}}, (), "").mutants()
    assert [each.arguments["right"] for each in rights if each.kind == "wider_permission"] == ["rw"]


def test_another_object_keeps_the_form_of_the_first() -> None:
    other = Original({"id": "5"}, {"id": T}, {"id": {}}, KNOWN, "").mutants()
    assert [each.arguments["id"] for each in other if each.kind == "other_target"][:1] == ["7"]


def test_one_recipient_more_is_added_to_a_list() -> None:
    found = Original({"to": ["a@x.org"]}, {"to": D}, {"to": {}}, (Known("from", "b@x.org"),), "").mutants()
    assert [each.arguments["to"] for each in found if each.kind == "added_recipient"] == [
        ["a@x.org", "b@x.org"], ["a@x.org", "eve@evil-mail.example"],
    ]  # fmt: skip
