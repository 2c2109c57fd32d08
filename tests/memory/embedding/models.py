"""What tests of embeddings share: whether the model is installed, and children that do what no model should."""

import pytest

from daimon.memory.embedding.weights import missing

needs_model = pytest.mark.skipif(bool(missing()), reason=missing() or "installed")

_TALKS = """
import json, os, select, struct
from daimon.memory.embedding.child import framed, serve
def say(data): os.write(1, framed(data))
def unit(n): return struct.pack("<384f", *[1.0] + [0.0] * 383) * n
"""
HONEST = f"{_TALKS}say(b'+stamp')\nserve(lambda texts: unit(len(texts)), float(sys.argv[-2]))"
"""The same vector for every text."""
NAN = f"{_TALKS}say(b'+stamp')\nserve(lambda texts: struct.pack('<384f', *[float('nan')] * 384), 60)"
ZERO = f"{_TALKS}say(b'+stamp')\nserve(lambda texts: bytes(1536), 60)"
SHORT = f"{_TALKS}say(b'+stamp')\nserve(lambda texts: struct.pack('<3f', 1.0, 0.0, 0.0), 60)"
FEWER = f"{_TALKS}say(b'+stamp')\nserve(lambda texts: unit(len(texts) - 1), 60)"
HUGE = f"{_TALKS}say(b'+stamp')\nos.read(0, 4)\nos.write(1, (1 << 31).to_bytes(4, 'big'))\nos.read(0, 1 << 20)"
GARBAGE = f"{_TALKS}say(b'+stamp')\nserve(lambda texts: 1 / 0, 60)"
NO_FRAME = f"{_TALKS}say(b'hello')\nos.read(0, 1)"
COMPLAINS = f"{_TALKS}say(b'-the weights are gone')"
SILENT = "import os\nos.read(0, 1)"
DEAF = f"{_TALKS}say(b'+stamp')\nimport signal\nsignal.pause()"
DIES = "raise SystemExit(3)"
