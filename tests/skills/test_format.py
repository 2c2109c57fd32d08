import string
from pathlib import Path

import pytest
import skills_ref
from hypothesis import given
from hypothesis import strategies as st
from skills_ref.errors import ParseError
from skills_ref.parser import parse_frontmatter
from skills_ref.validator import validate_metadata
from tests.skills.written import bundle, put, skill_md

from daimon.abi.errors import BadInput, TooLarge
from daimon.abi.skill import Requires, Skill
from daimon.skills import format as form
from daimon.skills.bundle import Bundle, File, Packing, version_of
from daimon.skills.remarks import remarks_on
from daimon.skills.requirements import added, is_wider, worded

NAME = "read-feeds"


def fault(files: Bundle, folder: str = NAME) -> str:
    try:
        form.read(folder, files)
    except BadInput as refused:
        return str(refused)
    return ""


def theirs(tmp_path: Path, files: Bundle, folder: str = NAME) -> list[str]:
    try:
        return skills_ref.validate(put(tmp_path / folder, files))
    except UnicodeDecodeError:  # the reference falls over it
        return ["no UTF-8"]


ALIKE = {
    "plain": (skill_md(), ""),
    "all fields": (
        skill_md(more="license: MIT\ncompatibility: Linux\nallowed-tools: Read Bash(git add:*)\nmetadata:\n  author: me\n  version: 1.0\n"),
        "",
    ),
    "numbers are text": (skill_md(more="license: 2.0\n"), ""),
    "folded text": (skill_md(description=">\n  one\n  two"), ""),
    "Windows lines": (skill_md().replace("\n", "\r\n"), ""),
    "no head": ("# Hello\n", "first line"),
    "no end": ("---\nname: read-feeds\ndescription: x\n", "no end"),
    "a mark before the head": ("\ufeff" + skill_md(), "first line"),
    "no mapping": ("---\n- a\n---\n", "no list of fields"),
    "broken YAML": (skill_md(description="a: b: c"), "no YAML"),
    "tabs": ("---\nname:\t\tx\n\tdescription: y\n---\n", "no YAML"),
    "an alias": (skill_md(description="&a x", more="license: *a\n"), "anchor"),
    "a tag": (skill_md(description="!!python/name:os.system x"), "tag"),
    "braces": (skill_md(more="metadata: {a: b}\n"), "braces"),
    "a name twice": (skill_md(more="name: other\n"), "second time"),
    "an unknown field": (skill_md(more="version: 1\n"), "'version'"),
    "no description": ("---\nname: read-feeds\n---\n", "description is missing"),
    "an empty description": (skill_md(description=""), "description is empty"),
    "no name": ("---\ndescription: x\n---\n", "name is missing"),
    "another name than its folder's": (skill_md(name="read-mail"), "directory is called 'read-feeds'"),
    "capitals": (skill_md(name="Read-Feeds"), "small letters"),
    "two hyphens": (skill_md(name="read--feeds"), "single hyphens"),
    "a long name": (skill_md(name="a" * 65), "64 are the most"),
    "a long description": (skill_md(description="x" * 1025), "1,024 are the most"),
    "a long compatibility": (skill_md(more=f"compatibility: {'x' * 501}\n"), "500 are the most"),
    "no UTF-8": (skill_md().encode() + b"\xff\xfe", "byte "),
}


@pytest.mark.parametrize(("text", "told"), ALIKE.values(), ids=list(ALIKE))
def test_it_is_judged_as_the_reference_judges_it(tmp_path: Path, text: str | bytes, told: str) -> None:
    files = bundle(text)
    assert bool(theirs(tmp_path, files)) is bool(told)
    assert told in fault(files)
    assert bool(fault(files)) is bool(told)


STRICTER = {
    "letters that only look like others": (skill_md(name="réad-feeds"), "réad-feeds", "small letters"),
    "a line turned round": (skill_md(description='"safe \\u202e nothing"'), NAME, "1 signs that nobody sees"),
    "letters for programs only": (skill_md(description="fine\U000e0041\U000e0042"), NAME, "2 signs that nobody sees"),
    "an end that readers do not agree on": (skill_md(description="one --- two"), NAME, "--- stands inside"),
    "a head on its first line": ("---name: read-feeds\ndescription: x\n---\n", NAME, "first line"),
    "metadata that is no mapping": (skill_md(more="metadata: words\n"), NAME, "metadata is no list"),
    "metadata below metadata": (skill_md(more="metadata:\n  a:\n    b: c\n"), NAME, "metadata is no list"),
    "a host with a star": (skill_md(more='metadata:\n  daimon-hosts: "*.example.org"\n'), NAME, "no host"),
    "an unknown grant": (skill_md(more="metadata:\n  daimon-files: all\n"), NAME, "none, read or write"),
    "more than can be read": (skill_md(body="x" * (10 << 20)), NAME, "262,144 are the most"),
    "a large head": (skill_md(more=f"metadata:\n  a: {'x' * 20_000}\n"), NAME, "16,384 are the most"),
}


@pytest.mark.parametrize(("text", "folder", "told"), STRICTER.values(), ids=list(STRICTER))
def test_it_is_stricter_than_the_reference_where_a_reader_could_be_led_astray(tmp_path: Path, text: str, folder: str, told: str) -> None:
    assert theirs(tmp_path, bundle(text), folder) == []
    assert told in fault(bundle(text), folder)


def test_a_file_of_another_case_is_named(tmp_path: Path) -> None:
    files = {"skill.md": File(skill_md().encode())}
    assert theirs(tmp_path, files) == []
    assert "it has skill.md, which must be called SKILL.md" in fault(files)


def test_too_much_is_said_to_be_too_much() -> None:
    with pytest.raises(TooLarge):
        form.read(NAME, bundle(skill_md(body="x" * (10 << 20))))


words = st.text(st.sampled_from(string.ascii_letters + string.digits + " -_.:#'\"[]{}&*!|>%@`,?\\\u00e4\u4e2d\n\t"), max_size=40)
lines = st.builds(
    lambda key, value: f"{key}: {value}\n",
    st.sampled_from(["name", "description", "license", "compatibility", "metadata", "allowed-tools", "other"]),
    words | st.just(NAME),
)


@given(st.lists(lines | words.map(lambda text: f"{text}\n"), max_size=5), st.booleans())
def test_it_is_never_looser_than_the_reference(some: list[str], is_whole: bool) -> None:
    text = (skill_md(more="".join(some)) if is_whole else f"---\n{''.join(some)}---\nSteps.\n").replace("\r", "")
    try:
        found = form.read(NAME, bundle(text))
    except BadInput:
        return
    metadata, body = parse_frontmatter(text)
    assert validate_metadata(metadata, Path(NAME)) == []
    assert (metadata["name"].strip(), metadata["description"].strip(), body) == (found.name, found.description, found.body)


@given(
    st.dictionaries(st.sampled_from(["license", "compatibility"]), st.text(string.ascii_letters + " .,-", max_size=60)), words, st.data()
)
def test_in_plain_words_both_agree(more: dict[str, str], name: str, data: st.DataObject) -> None:
    named = data.draw(st.sampled_from([NAME, name.strip()]))
    text = "---\n" + "".join(f'{key}: "{value}"\n' for key, value in more.items()) + f"description: fine\nname: {named}\n---\nSteps.\n"
    try:
        verdict = not validate_metadata(parse_frontmatter(text)[0], Path(named))
    except ParseError:
        verdict = False
    assert verdict is not bool(fault(bundle(text), named)) or not named.isascii() or "---" in text[4:].partition("\n---")[0]


@given(st.binary(max_size=400))
def test_any_bytes_are_a_skill_or_a_message(data: bytes) -> None:
    assert fault(bundle(data))
    assert fault(bundle(b"---\n" + data + b"\n---\n"))


def test_deep_nesting_and_aliases_cost_nothing() -> None:
    bombs = ["metadata:\n" + "".join(f"{' ' * n}a:\n" for n in range(1, 170)), "a: &a [x]\n" + "b: &b [*a,*a]\n" * 500, "? " * 4_000]
    for bomb in bombs:
        assert "SKILL.md" in fault(bundle(f"---\n{bomb}\n---\n"))


def test_what_is_ours_is_read_from_the_metadata() -> None:
    ours = "  daimon-triggers: what is new; news today ;\n  daimon-tools: read_page, remind\n  daimon-hosts: feeds.example.org:8443\n"
    text = skill_md(more=f"allowed-tools: Read Bash(git add:*)\nmetadata:\n{ours}  daimon-secrets: github\n  daimon-files: read\n")
    found = form.read(NAME, bundle(text, scripts__go="x"))
    assert found.triggers == ("what is new", "news today")
    assert found.requires == Requires(("read_page", "remind"), ("feeds.example.org:8443",), ("github",), "read")
    assert found.allowed_tools == ("Read", "Bash(git add:*)")
    assert found.scripts == ("scripts/go",)
    assert len(worded(found.requires)) == 4
    assert worded(Requires()) == ()


def test_less_is_not_wider_and_more_is() -> None:
    agreed = Requires(hosts=("a.org", "b.org"), files="read")
    assert not is_wider(Requires(hosts=("a.org",)), agreed)
    assert added(Requires(hosts=("a.org", "c.org"), files="write"), agreed) == Requires(hosts=("c.org",), files="write")


def test_a_circle_of_references_is_told_and_links_that_lead_nowhere() -> None:
    files = bundle(
        skill_md(body="See [a](references/a.md) and [gone](references/gone.md) and [web](https://example.org)."),
        references__a="[b](b.md)", references__b="[again](./a.md#top)",
    )  # fmt: skip
    files = {path + (".md" if path.startswith("ref") else ""): file for path, file in files.items()}
    told = remarks_on(form.read(NAME, files), files)
    assert told == (
        "'SKILL.md' names 'references/gone.md', which is not there",
        "'references/a.md' → 'references/b.md' → 'references/a.md': these references lead round in a circle",
    )
    assert remarks_on(form.read(NAME, bundle(skill_md())), bundle(skill_md())) == ()


def test_files_that_lead_to_each_other_on_endless_ways_are_walked_once() -> None:
    below = {f"l{n}{side}.md": f"[a](l{n + 1}a.md) [b](l{n + 1}b.md) " for n in range(200) for side in "ab"}
    files = {**bundle(skill_md(body="[a](l0a.md) [b](l0b.md)")), **{path: File(text.encode()) for path, text in below.items()}}
    assert len(remarks_on(form.read(NAME, files), files)) == 4  # what the last two name is not there
    files["l200a.md"] = File(b"[back](l0a.md)")
    (told,) = [each for each in remarks_on(form.read(NAME, files), files) if "circle" in each]
    assert len(told) < 300


def test_a_skill_without_ours_requires_nothing() -> None:
    assert form.read(NAME, bundle(skill_md())) == Skill(NAME, "Read feeds and tell what is new.", "Steps.")


# -- files


BAD_PATHS = [
    "../up", "a/../../up", "/etc/passwd", "C:/x", "a\\b", "a//b", "./a", "a\0b", "a\nb", "\u202egpj.exe", "a\u200bb",
    "n" * 121, "/".join("abcdefghijklm"), "d/" * 120 + "x", "\udcff",
]  # fmt: skip


@pytest.mark.parametrize("path", BAD_PATHS, ids=ascii)
def test_a_path_that_is_a_trick_is_refused(path: str) -> None:
    with pytest.raises(BadInput, match="the archive holds "):
        Packing("the archive").add(path, File(b""))


@pytest.mark.parametrize(("first", "second"), [("a", "A"), ("dir/x", "DIR/y"), ("a", "a"), ("a", "a/b"), ("a/b", "a"), ("ﬁ", "fi")])
def test_two_that_a_disk_takes_for_one_are_refused(first: str, second: str) -> None:
    packing = Packing("the archive")
    packing.add(first, File(b""))
    with pytest.raises(BadInput, match=r"rename one"):
        packing.add(second, File(b""))


def test_plain_paths_are_taken() -> None:
    packing = Packing("the archive")
    for path in ("SKILL.md", "scripts/go.py", "scripts/lib/x.py", "assets/Bild ü.png", ".hidden"):
        packing.add(path, File(b""))
    assert len(packing.files) == 5


def test_a_version_is_of_paths_contents_and_what_may_be_run() -> None:
    some = {"a": File(b"x"), "b": File(b"y")}
    others = [
        {"a": File(b"x")},
        {"a": File(b"xby"), "b": File(b"")},
        {"a": File(b"x", True), "b": File(b"y")},
        {"a": File(b"y"), "b": File(b"x")},
    ]
    assert version_of(some) == version_of(dict(reversed(some.items())))
    assert len({version_of(some), *map(version_of, others)}) == 5
