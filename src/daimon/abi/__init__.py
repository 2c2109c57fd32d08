"""What all rooms agree on: the data, the ports, the errors. No I/O, no imports from above."""
