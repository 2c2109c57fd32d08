"""The command line: parses, boots, prints; decides nothing.

`main` and `commands` import only what parsing needs; the modules that do the work, and all that is heavy (boot, pydantic, Rich), are
imported by the command that runs, because start-up time is a feature.
"""
