"""Who may have what watched. A look costs no question, so it is decided when an automation is made and before each look.

What lies outside of the workspace, files by absolute path and repositories of this machine, is watched for the owner's own words only: an
automation that somebody else had a word in could make a brief of what it must not see. Addresses and commands have guards of their own,
the way out and the box.
"""

from daimon.abi.errors import Denied
from daimon.abi.label import Label
from daimon.abi.watch import Watch, WatchFiles, WatchRefs


def check(watch: Watch, label: Label) -> None:
    """`label` is that of the automation's task. Raises Denied."""
    if label.is_trusted:
        return
    if outside := _outside(watch):
        raise Denied(
            f"{outside} lies outside of the workspace, and only the owner's own words may have it watched; ask the owner to set it"
        )


def _outside(watch: Watch) -> str:
    match watch:
        case WatchFiles():
            return next((glob for glob in watch.globs if glob.startswith(("/", "~")) or ".." in glob.split("/")), "")
        case WatchRefs() if "://" not in watch.repository:
            return watch.repository
        case _:
            return ""
