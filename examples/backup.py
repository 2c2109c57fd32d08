"""Copy the journal of a home while it is in use, with SQLite's online backup, and check the copy.

    python examples/backup.py ~/.daimon /mnt/backup/daimon-2026-01-31

Copied are journal.db, its marker and daimon.toml. The notebook (memory.db) is rebuilt from the journal, the token is made anew. The copy
holds all that was ever said and is not encrypted: keep it as you keep the home.
"""

import os
import shutil
import sqlite3
import sys
from contextlib import closing
from pathlib import Path


def main(home: Path, target: Path) -> None:
    os.umask(0o077)
    target.mkdir(parents=True)  # an existing backup is never overwritten
    copy = target / "journal.db"
    with closing(sqlite3.connect(f"file:{home / 'journal.db'}?mode=ro", uri=True)) as source, closing(sqlite3.connect(copy)) as made:
        source.backup(made)
        made.execute("PRAGMA journal_mode = DELETE")  # one file, nothing beside it
        verdict = made.execute("PRAGMA integrity_check").fetchone()[0]
    if verdict != "ok":
        raise SystemExit(f"the copy {copy} is damaged: {verdict}")
    for name in ("journal.db.exists", "daimon.toml"):
        if (home / name).exists():
            shutil.copy(home / name, target / name)
    sys.stdout.write(f"{copy}: {copy.stat().st_size} bytes, checked\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]).expanduser(), Path(sys.argv[2]).expanduser())
