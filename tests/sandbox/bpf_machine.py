"""A machine for classic BPF: what the kernel would answer, for machines that this one is not."""

import struct
from dataclasses import dataclass
from functools import cache

from daimon.sandbox.syscalls import NUMBERS

ALLOW, KILL = "allow", "kill"
ARCHITECTURES = {"x86_64": 0xC000_003E, "aarch64": 0xC000_00B7}
LOWER_HALF = 0xFFFF_FFFF


@dataclass(frozen=True, slots=True)
class Filter:
    """One of the filters, for one machine."""

    program: bytes
    machine: str

    def asked(self, call: str | int, *arguments: int) -> str | int:
        """What it says about a call: `ALLOW`, `KILL`, or the number of an error."""
        number = NUMBERS[self.machine][call] if isinstance(call, str) else call
        return self.asked_from(ARCHITECTURES[self.machine], number, *arguments)

    def asked_from(self, architecture: int, number: int, *arguments: int) -> str | int:
        words = [argument & 0xFFFF_FFFF_FFFF_FFFF for argument in (*arguments, *[0] * 6)][:6]
        return verdict(run(self.program, struct.pack("<IIQ6Q", number & LOWER_HALF, architecture, 0, *words)))


def verdict(value: int) -> str | int:
    match value & 0xFFFF_0000:
        case 0x7FFF_0000:
            return ALLOW
        case 0x8000_0000:
            return KILL
        case 0x0005_0000:
            return value & 0xFFFF
    raise AssertionError(f"a filter says {value:#x}")


def run(program: bytes, data: bytes) -> int:
    """As the kernel does it: only forward, never past the end."""
    lines = instructions(program)
    at = accumulator = 0
    while True:
        code, then, other, value = lines[at]
        at += 1
        match code:
            case 0x20:
                accumulator = int(struct.unpack_from("<I", data, value)[0])
            case 0x54:
                accumulator &= value
            case 0x05:
                at += value
            case 0x15:
                at += then if accumulator == value else other
            case 0x35:
                at += then if accumulator >= value else other
            case 0x45:
                at += then if accumulator & value else other
            case 0x06:
                return value
            case _:
                raise AssertionError(f"instruction {at - 1} has the unknown code {code:#x}")


@cache
def instructions(program: bytes) -> list[tuple[int, int, int, int]]:
    return list(struct.iter_unpack("<HBBI", program))
