"""The sealed form: what comes out is what went in, or nothing at all."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from daimon.abi.errors import Misconfigured
from daimon.vault import seal

MATERIAL = bytes(range(32))
HEADER, DATA_KEY = seal.wrapped("file", "", 0, MATERIAL)
CONTENT = b'["something to hide"]'
SEALED = seal.sealed(HEADER, DATA_KEY, CONTENT)


def opened(data: bytes, material: bytes = MATERIAL) -> bytes:
    """As a reader does it: from bytes and the source's material alone."""
    found = seal.parsed(data, "the file")
    return seal.opened(found, seal.unwrapped(found.header, material))


@given(st.binary(max_size=20_000))
def test_what_was_sealed_is_opened_again(content: bytes) -> None:
    assert opened(seal.sealed(HEADER, DATA_KEY, content)) == content


@given(st.integers(0, len(SEALED) - 1), st.integers(1, 255))
def test_any_changed_byte_is_noticed(place: int, change: int) -> None:
    changed = bytearray(SEALED)
    changed[place] ^= change
    with pytest.raises((seal.Unopened, Misconfigured)):
        opened(bytes(changed))


@given(st.integers(0, len(SEALED) - 1))
def test_a_file_that_is_cut_is_refused(size: int) -> None:
    with pytest.raises((seal.Unopened, Misconfigured)):
        opened(SEALED[:size])


@given(st.binary(max_size=300))
def test_whatever_stands_there_is_refused_in_words(data: bytes) -> None:
    for bad in (data, b"daimon-vault 1\n" + data, b"daimon-vault 1\n{}\n" + data, SEALED + b"x" + data):
        with pytest.raises((seal.Unopened, Misconfigured)):
            opened(bad)


def test_the_header_of_one_vault_does_not_open_the_content_of_another() -> None:
    other, other_key = seal.wrapped("file", "", 0, MATERIAL)
    foreign = seal.parsed(seal.sealed(other, other_key, CONTENT), "")
    mine = seal.parsed(SEALED, "")
    with pytest.raises(seal.Unopened):
        opened(mine.head + foreign.body)


def test_another_key_opens_nothing() -> None:
    with pytest.raises(seal.Unopened):
        opened(SEALED, bytes(32))


def test_a_newer_format_is_told_from_a_damaged_one() -> None:
    with pytest.raises(Misconfigured, match=r"the file has format 2, and this release knows format 1 only"):
        seal.parsed(SEALED.replace(b"vault 1", b"vault 2", 1), "the file")


def test_the_size_does_not_tell_how_long_a_secret_is() -> None:
    assert {len(seal.sealed(HEADER, DATA_KEY, b"x" * size)) for size in (1, 100, 4_000)} == {len(SEALED)}


def test_a_header_cannot_ask_for_more_memory_than_there_is() -> None:
    with pytest.raises(Misconfigured, match="damaged"):
        seal.parsed(SEALED.replace(b'"work": 0', b'"work": 40', 1), "the file")


def test_words_are_made_a_key_with_scrypt_and_open_it_again() -> None:
    header, key = seal.wrapped("passphrase", "", seal.WORK, b"some words")
    assert seal.unwrapped(header, b"some words") == key
    with pytest.raises(seal.Unopened):
        seal.unwrapped(header, b"other words")
