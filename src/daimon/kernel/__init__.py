"""Ring 0: the loop, the scheduler, the gate before every tool. Does no I/O of its own."""
