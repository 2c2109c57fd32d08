"""Memory in the browser: found, edited, taken back, deleted, each with what it did to the memory behind it."""

import re
from typing import Any
from urllib.parse import quote

import pytest
from playwright.sync_api import Locator, Page, expect
from tests.room.rig import PHONE, Room, axe

HOSTILE = "<img src=x onerror=alert(1)>"
MANY = 10_000
TABS = ("notebook", "facts", "notes", "things", "sources", "everything", "rewind")


def note(room: Room, text: str, **more: bool) -> dict[str, Any]:
    return kept(room, "/v1/memory/items", {"text": text, **more})


def fact(room: Room, subject: str, statement: str, about: str = "") -> dict[str, Any]:
    return kept(room, "/v1/memory/facts", {"subject": subject, "statement": statement, "about": about})


def kept(room: Room, path: str, body: dict[str, Any]) -> dict[str, Any]:
    answer = room.live.call("POST", path, body)
    assert answer.status == 201, answer.body
    made: dict[str, Any] = answer.json
    return made


def brought(room: Room, source: str, *texts: str) -> None:
    """By a stranger."""
    label = {"origins": [{"author": "stranger", "source": source}], "readers": ["owner"]}
    about = {"kind": "note", "at": "2026-01-02T00:00:00Z", "label": label, "source": "elsewhere"}
    items = [{"id": f"note_{source}_{n}", "text": text, **about} for n, text in enumerate(texts)]
    for start in range(0, len(items), 5_000):
        assert room.live.call("POST", "/v1/memory/import", {"items": items[start : start + 5_000]}).status == 200


def item(room: Room, id_: str) -> Any:
    return room.live.get(f"/v1/memory/items/{quote(id_, safe='')}")["item"]


def dialog(page: Page) -> Locator:
    return page.get_by_role("dialog")


def panel(page: Page) -> Locator:
    return page.get_by_role("complementary", name="The item")


def toast(page: Page) -> Locator:
    return page.locator(".toast").last


def offered(page: Page, text: str) -> Locator:
    """The way back, in a toast that says this. It stays as long as it is looked at."""
    shown = page.locator(".toast", has_text=text)
    shown.hover()
    return shown.get_by_role("button", name="Undo")


def press(page: Page, name: str) -> None:
    page.get_by_role("button", name=name, exact=True).click()


def more(page: Page, what: str) -> None:
    panel(page).get_by_role("button", name="More").click()
    page.get_by_role("menuitem", name=what).click()


def test_a_search_shows_why_each_was_found_and_stands_in_the_address(room: Room) -> None:
    note(room, "The quokka sleeps in the attic.")
    page = room.tab("/memory")
    page.get_by_role("searchbox", name="Search memory").wait_for()
    page.keyboard.press("/")
    page.keyboard.type("quokka")
    first = page.get_by_role("region", name="What was found").get_by_role("listitem").first
    expect(first).to_contain_text("The quokka sleeps in the attic.")
    expect(first).to_contain_text(re.compile(r"Found by its words \(place 1\)"))
    expect(page).to_have_url(re.compile(r"q=quokka"))
    page.reload()
    expect(first).to_contain_text("The quokka sleeps in the attic.")
    assert axe(page) == []


def test_a_note_goes_into_the_notebook_and_is_taken_off_and_that_is_undone(room: Room) -> None:
    page = room.tab("/memory")
    page.get_by_role("button", name="Add a note").first.click()
    dialog(page).get_by_label("Note", exact=True).fill("Never wake me before eight.")
    press(page, "Keep it")
    notebook = page.get_by_role("region", name="Stands in every prompt")
    expect(notebook).to_contain_text("Never wake me before eight.")
    expect(toast(page)).to_contain_text("Kept")
    press(page, "Take off")
    undo = offered(page, "Off the notebook")
    expect(notebook).not_to_contain_text("Never wake me")
    assert room.live.get("/v1/memory/page")["notes"] == []
    undo.click()
    expect(notebook).to_contain_text("Never wake me before eight.")
    room.live.call("DELETE", f"/v1/memory/items/{room.live.get('/v1/memory/page')['notes'][0]['id']}")


def test_a_note_that_does_not_fit_is_refused_with_why(room: Room) -> None:
    full = note(room, "x" * 3_900, on_page=True)
    page = room.tab("/memory")
    page.get_by_role("button", name="Add a note").first.click()
    dialog(page).get_by_label("Note", exact=True).fill("y" * 200)
    press(page, "Keep it")
    expect(dialog(page).get_by_role("alert").last).to_contain_text("the page holds 4000 characters")
    expect(dialog(page).get_by_label("Note", exact=True)).to_have_value("y" * 200)
    room.live.call("DELETE", f"/v1/memory/items/{full['id']}")
    room.forgiven = ("400",)


def test_a_fact_is_edited_and_the_edit_taken_back(room: Room) -> None:
    made = fact(room, "Zora", "Zora likes tea.")
    page = room.tab(f"/memory?tab=facts&item={made['id']}")
    panel(page).get_by_role("button", name="Edit").click()
    dialog(page).get_by_label("Fact").fill("Zora likes coffee.")
    press(page, "Replace it")
    undo = offered(page, "Replaced")
    expect(panel(page)).to_contain_text("It replaced")
    expect(panel(page)).to_contain_text("Zora likes coffee.")
    assert item(room, made["id"])["standing"] == "superseded"
    undo.click()
    expect(panel(page).locator(".item-whole")).to_have_text("Zora likes tea.")
    held = [row["item"]["text"] for row in room.live.get("/v1/room/memory/items?subject=Zora")["rows"]]
    assert held == ["Zora likes tea."]


def test_a_second_tab_that_edits_an_old_version_is_told_and_keeps_its_words(room: Room) -> None:
    made = note(room, "The meter stands at one.")
    page = room.tab(f"/memory?tab=notes&item={made['id']}")
    panel(page).get_by_role("button", name="Edit").click()
    assert room.live.call("PUT", f"/v1/room/memory/items/{made['id']}", {"text": "The meter stands at two."}).status == 200
    dialog(page).get_by_label("Note", exact=True).fill("The meter stands at three.")
    press(page, "Replace it")
    expect(dialog(page).get_by_role("alert").last).to_contain_text("holds no longer")
    expect(dialog(page).get_by_label("Note", exact=True)).to_have_value("The meter stands at three.")
    room.forgiven = ("409",)


def test_forgetting_one_keeps_it_as_history_and_is_undone(room: Room) -> None:
    made = fact(room, "Yuri", "Yuri sails.")
    page = room.tab(f"/memory?tab=facts&item={made['id']}")
    more(page, "Forget")
    undo = offered(page, "Forgotten")
    expect(panel(page)).to_contain_text("forgotten")
    assert item(room, made["id"])["standing"] == "forgotten"
    later = note(room, "kept in between")
    undo.click()
    expect(panel(page)).to_contain_text("holds")
    assert [row["item"]["text"] for row in room.live.get("/v1/room/memory/items?subject=Yuri")["rows"]] == ["Yuri sails."]
    assert item(room, later["id"])["standing"] == "holds"


def test_a_source_is_deleted_for_good_only_when_its_name_is_typed(room: Room) -> None:
    brought(room, "web:spam.example", "buy", "a boat")
    page = room.tab("/memory?tab=sources")
    press(page, "Delete all from web:spam.example")
    expect(dialog(page)).to_contain_text("2 notes")
    press(page, "Forget 2 items for good")
    expect(dialog(page).get_by_role("alert").last).to_have_text("Type web:spam.example to go on.")
    assert item(room, "note_web:spam.example_0") is not None
    dialog(page).get_by_role("textbox").fill("web:spam.example")
    press(page, "Forget 2 items for good")
    expect(toast(page)).to_contain_text("All from web:spam.example is gone for good")
    expect(page.get_by_role("link", name="web:spam.example")).to_have_count(0)
    assert item(room, "note_web:spam.example_0") is None


def test_memory_is_rewound_with_a_preview_and_the_rewinding_taken_back(room: Room) -> None:
    note(room, "before the mistake")
    wrong = note(room, "the mistake itself")
    page = room.tab("/memory?tab=rewind")
    page.get_by_role("listitem").filter(has_text="the mistake itself").get_by_role("button", name="Go to before this").click()
    expect(dialog(page)).to_contain_text("1 item ends.")
    expect(dialog(page).get_by_role("list", name="What would end")).to_have_text(re.compile("the mistake itself"))
    assert item(room, wrong["id"])["standing"] == "holds"
    press(page, "Rewind")
    undo = offered(page, "Rewound: 1 item ended")
    assert item(room, wrong["id"])["standing"] == "rewound"
    undo.click()
    expect(toast(page)).to_contain_text("Taken back")
    assert item(room, wrong["id"])["standing"] == "holds"


def test_an_entity_is_shown_with_its_neighbours_and_leads_to_them(room: Room) -> None:
    room.live.ask("Ingrid works at Contoso.", "entities")
    page = room.tab("/memory?tab=things")
    page.get_by_label("Part of a name").fill("ingr")
    page.get_by_role("link", name="Ingrid").click()
    relations = page.get_by_role("region", name="Relations of Ingrid")
    expect(relations).to_contain_text("WORKS_AT →")
    expect(page.get_by_role("region", name="Facts")).to_contain_text("Ingrid works at Contoso.")
    expect(relations.locator(".chip")).to_contain_text("you")
    assert axe(page) == []
    relations.get_by_role("link", name="Contoso").click()
    expect(page.get_by_role("region", name="Relations of Contoso")).to_contain_text("← WORKS_AT")
    page.go_back()
    expect(page.get_by_role("region", name="Relations of Ingrid")).to_be_visible()


def test_the_receipt_of_an_item_leads_to_the_run_that_it_came_from(room: Room) -> None:
    turn = room.live.ask("Olga works at Fabrikam.", "receipts")
    page = room.tab("/memory?tab=facts")
    page.get_by_role("link", name="Olga works at Fabrikam.").click()
    expect(panel(page).locator("blockquote")).to_have_text("Olga works at Fabrikam.")
    expect(panel(page).get_by_role("link", name="Open the run")).to_have_attribute("href", f"/runs/{turn['id']}")
    page.keyboard.press("Escape")
    expect(panel(page)).to_be_hidden()


def test_a_fact_takes_the_place_of_what_held_of_the_same_thing(room: Room) -> None:
    old = fact(room, "Milan", "Milan lives in Graz.", "city")
    page = room.tab("/memory?tab=things&thing=Milan")
    press(page, "Learn a fact about it")
    dialog(page).get_by_label("Which thing of it").fill("city")
    dialog(page).get_by_label("Fact").fill("Milan lives in Linz.")
    press(page, "Learn it")
    expect(page.get_by_role("region", name="Facts")).to_contain_text("Milan lives in Linz.")
    expect(page.get_by_role("region", name="Facts")).not_to_contain_text("Graz")
    expect(panel(page)).to_contain_text("It replaced")
    assert item(room, old["id"])["standing"] == "superseded"


def test_hostile_words_stay_text_everywhere_with_whose_they_are(room: Room) -> None:
    brought(room, f"web:{HOSTILE}", f"{HOSTILE} note", "javascript:alert(1)")
    fact(room, HOSTILE, f"{HOSTILE} fact", HOSTILE)
    for tab in TABS:
        page = room.tab(f"/memory?tab={tab}")
        expect(page.locator(".memory-view .card").first).to_be_visible()
        assert page.locator("img").count() == 0
    page = room.tab(f"/memory?tab=things&thing={quote(HOSTILE)}")
    expect(page.get_by_text(f"{HOSTILE} fact")).to_be_visible()
    page = room.tab(f"/memory?tab=everything&source={quote(f'web:{HOSTILE}')}")
    expect(page.locator(".items .chip.is-stranger")).to_have_count(2)
    page.get_by_text(f"{HOSTILE} note").click()
    expect(panel(page).locator(".item-whole")).to_have_text(f"{HOSTILE} note")
    assert page.locator("img").count() == 0


def test_right_to_left_words_run_from_the_right(room: Room) -> None:
    made = note(room, "אני אוהב תה ירוק 🍵")
    page = room.tab(f"/memory?tab=notes&item={made['id']}")
    assert panel(page).locator(".item-whole").evaluate("node => getComputedStyle(node).direction") == "rtl"


def test_an_item_of_a_hundred_thousand_characters_is_cut_in_lists_and_whole_when_opened(room: Room) -> None:
    brought(room, "web:long.example", "long " * 19_000)
    page = room.tab("/memory?tab=notes")
    row = page.get_by_role("link", name=re.compile("^long long")).first
    assert len(row.inner_text()) < 1_100
    row.click()
    expect(panel(page).locator(".item-whole")).to_have_text(re.compile(r"^(long ?){19000}$"))


def test_ten_thousand_items_come_in_pages(room: Room) -> None:
    brought(room, "web:many.example", *(f"many {n}" for n in range(MANY)))
    page = room.tab("/memory?tab=everything&source=web:many.example")
    expect(page.get_by_role("heading", name="10K items")).to_be_visible()
    expect(page.locator(".items > li")).to_have_count(50)
    press(page, "Show more of 10K")
    expect(page.locator(".items > li")).to_have_count(100)
    page.get_by_role("tab", name="Rewind").click()
    page.get_by_role("listitem").filter(has_text="many").first.get_by_role("button", name="Go to before this").click()
    expect(dialog(page)).to_contain_text("items end")
    expect(dialog(page).get_by_role("list", name="What would end").get_by_role("listitem")).to_have_count(101)
    assert room.live.call("DELETE", "/v1/memory/source?name=web:many.example").status == 200


@pytest.mark.parametrize("tab", TABS)
def test_on_a_phone_nothing_scrolls_sideways_and_axe_finds_nothing(room: Room, tab: str) -> None:
    fact(room, "w" * 150, "v" * 300)
    page = room.tab(f"/memory?tab={tab}", PHONE)
    expect(page.locator(".memory-view .card").first).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert axe(page) == []
