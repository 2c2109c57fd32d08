"""What the benchmarks share: processes that can be killed, a world that counts, checkers that can say no."""
