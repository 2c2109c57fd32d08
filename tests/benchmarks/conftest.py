"""The laboratory is no package of the product: tests find it where the benchmarks lie."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
