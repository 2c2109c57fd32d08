"""The write-ahead log: the only truth. Traces, costs, memory and pages are its readers."""
