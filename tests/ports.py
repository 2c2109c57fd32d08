"""A port for a program that is told which one to take."""

from daimon.testing.ports import free_port as free_port
