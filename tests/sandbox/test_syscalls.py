"""The tables against the kernel's own headers, where they are installed."""

import re
from pathlib import Path

import pytest

from daimon.sandbox.profiles import FORBIDDEN, allowed
from daimon.sandbox.syscalls import NUMBERS

HEADERS = {
    "x86_64": (Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h"), Path("/usr/include/asm/unistd_64.h")),
    "aarch64": (Path("/usr/include/asm-generic/unistd.h"),),
}
DEFINED = re.compile(r"^#define __NR(3264)?_(\w+)\s+(\d+|__NR3264_\w+)", re.MULTILINE)
NOT_CALLS = {"syscalls", "arch_specific_syscall", "sync_file_range2"}
"""The count of them, the place for others, and what other machines than aarch64 have in the place of sync_file_range."""

FOR_32_BITS = range(403, 424)
NARROW = {"fcntl64", "statfs64", "fstatfs64", "truncate64", "ftruncate64", "llseek", "sendfile64", "fstatat64", "fstat64"}
NARROW |= {"mmap2", "fadvise64_64", "stat64", "lstat64"}


def numbers_of_headers(machine: str) -> dict[str, int]:
    header = next((path for path in HEADERS[machine] if path.exists()), None)
    if header is None:
        pytest.skip(f"no kernel headers for {machine}: {HEADERS[machine][0]}")
    found = DEFINED.findall(header.read_text())
    wide = {name: int(number) for is_wide, name, number in found if is_wide}
    plain = {name: number for is_wide, name, number in found if not is_wide}
    # What differs with the width of a word has its number under one name, and two names that refer to that.
    numbers = {
        name: wide.get(number.removeprefix("__NR3264_"), -1) if number.startswith("__") else int(number) for name, number in plain.items()
    }
    return {name: number for name, number in numbers.items() if number >= 0 and number not in FOR_32_BITS and name not in NOT_CALLS}


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_numbers_are_those_of_the_headers(machine: str) -> None:
    header = numbers_of_headers(machine)
    ours = NUMBERS[machine]
    assert len(header) > 250
    assert header.keys() - ours.keys() <= NARROW
    assert {name: ours[name] for name in header.keys() - NARROW} == {name: header[name] for name in header.keys() - NARROW}
    assert not {name for name, number in ours.items() if name not in header and number <= max(header.values())}


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_no_two_calls_have_one_number(machine: str) -> None:
    assert len(set(NUMBERS[machine].values())) == len(NUMBERS[machine])


def test_every_call_of_a_profile_has_a_number_somewhere() -> None:
    known = NUMBERS["x86_64"].keys() | NUMBERS["aarch64"].keys()
    assert not (allowed("debug") | allowed("build") | allowed("strict") | FORBIDDEN) - known


def test_each_profile_allows_more_than_the_one_before() -> None:
    assert allowed("strict") < allowed("build") < allowed("debug")
