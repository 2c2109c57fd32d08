"""Descriptors that the tool forgot to close: each is a way out that no wall stands before."""

from lab.escape.attack import Attack, python, reached, told

_OPEN = """
import os
for number in range(3, 4096):
    try:
        os.fstat(number)
    except OSError:
        continue
    print("REACHED", number)
"""
_READ = """
import os
for number in range(3, 4096):
    try:
        print(os.pread(number, 100, 0))
    except OSError:
        pass
"""
_UPWARDS = """
import os
for number in range(3, 4096):
    for path in ("canary", "../canary", "../../home/owner/canary"):
        try:
            print(os.read(os.open(path, 0, dir_fd=number), 100))
        except OSError:
            pass
for name in os.listdir("/proc/self/fd"):
    try:
        print(open(os.path.join(os.path.dirname(os.readlink("/proc/self/fd/" + name)), "canary")).read())
    except OSError:
        pass
"""
_STREAMS = "for f in /proc/self/fd/*; do cat $(dirname $(readlink $f))/canary; done"

ATTACKS = (
    Attack(name="any above the three", command=python(_OPEN), judge=reached),
    Attack(name="read through each", command=python(_READ), judge=told("home")),
    Attack(name="upwards from each", command=python(_UPWARDS), judge=told("home")),
    Attack(name="by their names", command=_STREAMS, judge=told("home")),
    Attack(name="those of everybody", command="cat /proc/[0-9]*/fd/[3-9]* 2>/dev/null < /dev/null & sleep 1; kill $!", judge=told("home")),
    Attack(name="one's own, reopened", command="for f in /proc/self/fd/*; do [ -f $f ] && cat $f; done", judge=told("home")),
)
