"""Claim: nothing that runs on a model's word leaves its box, whoever started Daimon; and one can still work in it.
"""

import json
import os
import shutil
import sys
import tempfile
from pathlib import Path

from lab import ordinary, report

CHECKOUT = Path(__file__).resolve().parents[1]
SHADOW = "root:*:19000:0:99999:7:::"


def played(uid: int, arguments: list[str]) -> dict:
    """As this user, on a machine of its own."""
    place = tempfile.mkdtemp(prefix="daimon-escape-", dir="/var/tmp")
    try:
        _furnish(Path(place), uid)
        paths = [str(CHECKOUT / "src"), str(CHECKOUT / "benchmarks"), str(CHECKOUT)]
        environment = {
            "PATH": os.environ["PATH"], "LANG": "C.UTF-8", "PYTHONPATH": os.pathsep.join(paths), "PYTHONDONTWRITEBYTECODE": "1",
            "HOME": "/home/owner", "LAB_CANARY": os.urandom(12).hex(),
        }  # fmt: skip
        machine = ordinary.Machine(place, uid, ordinary.needed(CHECKOUT))
        ended = ordinary.run([sys.executable, "-m", "lab.escape.worker", *arguments], machine, environment)
        if ended.returncode:
            raise SystemExit(f"the worker of user {uid} ended with {ended.returncode}: {ended.stdout[-500:]}")
        return json.loads(ended.stdout.splitlines()[-1])
    finally:
        shutil.rmtree(place, ignore_errors=True)


def _furnish(place: Path, uid: int) -> None:
    place.chmod(0o755)
    etc = place / "etc"
    etc.mkdir()
    (etc / "resolv.conf").write_text("nameserver 127.0.0.1\noptions timeout:1 attempts:1\n")
    (etc / "nsswitch.conf").write_text("passwd: files\ngroup: files\nhosts: files dns\n")
    (etc / "hosts").write_text("127.0.0.1 localhost\n::1 localhost\n")
    (etc / "shadow").write_text(f"owner:{os.urandom(12).hex()}:19000:0:99999:7:::\n")
    (etc / "shadow").chmod(0o600)
    (place / "owner").mkdir()
    os.chown(place / "owner", uid, uid)


if __name__ == "__main__":
    for uid in (0, 12345):
      if str(uid) in sys.argv[1]:
        found = played(uid, sys.argv[2:])
        print(json.dumps(found["utility"]))
        for row in found["attacks"]:
            print(uid, row)
