"""What of a shell is carried into another one, and that no text in it leads anywhere else."""

from pathlib import Path

from tests.sandbox.boxes import needs_bwrap
from tests.sandbox.terminal.shells import shell

from daimon.abi.box import Command
from daimon.sandbox.box import RunningBox
from daimon.sandbox.terminal.state import State

MAKE = r"""
mkdir -p "a b'c"; cd "a b'c"; umask 027; export E='quo"te $(echo no) `echo no`'; N=$'line\nline'; declare -A m=([k k]='v v' [n]=$'1\n2')
arr=(one 'two three'); declare -i num=7; f() { local x="$1"; cat <<X
f says $x
X
}
g() { echo 'single '"'quotes'"; }; alias hi="echo it\'s me"; set -o pipefail; shopt -s extglob; set -u
"""
CHECK = r"""
basename "$PWD"; umask; echo "$E"; echo "$N"; echo "${m[k k]}" "${m[n]}"; echo "${arr[1]}"; num=num+1; echo $num; f 1; g; hi
set -o | grep -E 'pipefail|nounset' | tr -d ' \t\n'; shopt extglob | tr -d ' \t'; sh -c 'echo "$E"'
"""
SAME = (
    "a b'c\n0027\nquo\"te $(echo no) `echo no`\nline\nline\nv v 1\n2\ntwo three\n8\nf says 1\nsingle 'quotes'\nit's me\n"
    'nounsetonpipefailonextglobon\nquo"te $(echo no) `echo no`'
)


@needs_bwrap
async def test_a_new_shell_knows_what_the_old_one_knew(box: RunningBox, tmp_path: Path) -> None:
    async with shell(box, tmp_path) as old:
        await old.says(MAKE)
        assert await old.says(CHECK) == SAME
        await old.says("num=7")
        saved = (await old.session.state()).to_json()
    async with shell(box, tmp_path, State.from_json(saved)) as new:
        assert await new.says(CHECK) == SAME


@needs_bwrap
async def test_the_state_is_asked_for_once_per_command(box: RunningBox, tmp_path: Path) -> None:
    async with shell(box, tmp_path) as sh:
        await sh.says("A=1")
        first = await sh.session.state()
        assert await sh.session.state() == first
        await sh.says("A=2")
        assert (await sh.session.state()).variables["A"] == 'declare -- A="2"'


@needs_bwrap
async def test_a_shell_leaves_the_workspace_and_comes_back(box: RunningBox, tmp_path: Path) -> None:
    async with shell(box, tmp_path) as sh:
        await sh.says("mkdir -p here/deep; cd here/deep")
        await sh.session.leave()
        assert await sh.session.enter()
        assert await sh.says("basename $PWD") == "deep"
        await sh.session.leave()
        await box.run(Command(argv=("rm", "-r", "here")))
        assert not await sh.session.enter()
        assert sh.session.directory == box.directory
        assert await sh.says("echo $PWD") == box.directory


@needs_bwrap
async def test_a_state_too_large_is_not_kept_and_harms_nobody(box: RunningBox, tmp_path: Path) -> None:
    async with shell(box, tmp_path) as sh:
        await sh.says("A=small")
        await sh.session.state()
        await sh.says("B=$(head -c 3000000 /dev/zero | tr '\\0' x); A=${#B}")
        assert (await sh.session.state()).variables["A"] == 'declare -- A="small"'
        assert await sh.says("echo $A") == "3000000"


def test_anything_is_read_as_a_state() -> None:
    for data in (None, 3, "x", [], {}, {"variables": 3}, {"variables": {"a": 1}}, {"directory": ["/"]}):
        assert State.from_json(data) == State()
