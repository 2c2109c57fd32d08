"""What the benchmarks share: processes that can be killed, a world that counts, checkers that can say no."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[2]))  # what tests put together, benchmarks may use
