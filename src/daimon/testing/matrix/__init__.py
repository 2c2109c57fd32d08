"""A real Matrix homeserver on loopback, what stands in front of it to make faults, and people who use it."""
