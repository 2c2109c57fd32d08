"""`daimon policy` and `daimon agents`, as an owner uses them."""

import json
import signal

from tests.cli.processes import Daimon, finish

FORBID = '@id("own.no")\n@says("Not on my watch.")\nforbid (principal, action, resource == Tool::"remember");\n'


def write(daimon: Daimon, name: str, text: str) -> None:
    file = daimon.home / "policy" / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")


def test_every_policy_is_shown_in_words(daimon: Daimon) -> None:
    write(daimon, "own.cedar", FORBID)
    told = json.loads(daimon.run("policy", "show", "--json").out)
    own = next(policy for policy in told["policies"] if policy["id"] == "own.no")
    assert (own["effect"], own["says"], told["warnings"]) == ("forbid", "Not on my watch.", [])
    assert "Not on my watch." in daimon.run("policy", "show").out


def test_good_files_are_called_good_and_broken_ones_are_told_with_their_line(daimon: Daimon) -> None:
    write(daimon, "own.cedar", FORBID)
    assert daimon.run("policy", "check").code == 0
    write(daimon, "other.cedar", "\n\nforbid (principal, action, resource) when { context.base };")
    done = daimon.run("policy", "check")
    assert done.code == 78
    assert "other.cedar:3: attribute `base`" in done.err
    assert json.loads(daimon.run("policy", "check", str(daimon.home / "policy" / "own.cedar"), "--json").out)["ok"]
    assert "other.cedar:3" in json.loads(daimon.run("policy", "show", "--json").out)["warnings"][0]


def test_tests_of_policies_pass_and_fail_with_an_exit_code(daimon: Daimon) -> None:
    assert daimon.run("policy", "test").code == 0
    write(daimon, "own.cedar", FORBID)
    case = '[[case]]\nname = "notes"\ntool = "remember"\nbasis = "harmless"\nexpect = "{}"\n'
    write(daimon, "tests/notes.toml", case.format("deny"))
    assert daimon.run("policy", "test").code == 0
    write(daimon, "tests/notes.toml", case.format("allow"))
    done = daimon.run("policy", "test")
    assert done.code == 1
    assert "notes.toml: case 1, notes: expected allow, found deny (own.no)" in done.out
    assert not json.loads(daimon.run("policy", "test", "--json").out)["ok"]


def test_a_call_that_was_made_is_explained(daimon: Daimon) -> None:
    daimon.run("chat", "remember that the key is under the mat")
    steps = json.loads(daimon.run("trace", "last", "--json").out)["steps"]
    n = next(step["n"] for step in steps if step["body"]["kind"] == "intent")
    told = json.loads(daimon.run("policy", "explain", f"last:{n}", "--json").out)
    assert (told["gate"]["verdict"], told["gate"]["by"]) == ("allow", "harmless")
    assert told["says"]["assistant.work"].startswith("An assistant may write")
    assert "allowed" in daimon.run("policy", "explain", f"last:{n}").out
    assert daimon.run("policy", "explain", "last:0").code == 3
    assert daimon.run("policy", "explain", "last").code == 4


def test_a_call_that_was_not_made_is_explained(daimon: Daimon) -> None:
    asked = ("policy", "explain", "--capability", "sends", "--json")
    assert json.loads(daimon.run(*asked, "--basis", "words").out)["verdict"] == "allow"
    assert json.loads(daimon.run(*asked, "--basis", "words", "--agent", "scout").out)["verdict"] == "ask"
    assert json.loads(daimon.run(*asked, "--basis", "off_plan").out)["verdict"] == "deny"
    assert daimon.run(*asked, "--basis", "luck").code == 4
    assert daimon.run("policy", "explain").code == 2


def test_agents_are_shown_with_what_follows(daimon: Daimon) -> None:
    daimon.configure('[agents.scout]\ntools = ["now", "rec*"]\ndescription = "looks things up"\n')
    told = {agent["agent"]: agent for agent in json.loads(daimon.run("agents", "--json").out)["agents"]}
    assert (told["daimon"]["role"], told["scout"]["role"]) == ("assistant", "reader")
    assert told["scout"]["tools"] == ["now", "recall"]
    assert (told["scout"]["private"], told["scout"]["acts"]) == (True, False)
    assert "scout" in daimon.run("agents").out


def test_tools_of_extensions_are_counted(daimon: Daimon) -> None:
    daimon.configure('extensions = ["lively"]\n')
    [agent] = json.loads(daimon.run("agents", "--json").out)["agents"]
    assert {"buy", "remember"} <= set(agent["tools"])
    assert agent["acts"]


def test_a_reload_reads_policies_and_a_broken_one_changes_nothing(daimon: Daimon) -> None:
    daimon.up()
    before = json.loads(daimon.run("reload", "--json").out)["policy"]
    write(daimon, "own.cedar", FORBID)
    after = json.loads(daimon.run("reload", "--json").out)["policy"]
    assert after != before
    write(daimon, "own.cedar", "forbid (principal")
    done = daimon.run("reload")
    assert done.code != 0
    assert "own.cedar:1: this policy cannot be read" in done.err
    assert "own.cedar:1" in json.loads(daimon.run("status", "--json").out)["warnings"][0]
    daimon.run("chat", "remember that I like tea")
    assert "forbid" in daimon.run("trace", "last").out


def test_a_policy_for_a_tool_that_nobody_has_is_remarked(daimon: Daimon) -> None:
    write(daimon, "own.cedar", FORBID.replace("remember", "remembr"))
    done = daimon.run("policy", "check")
    assert done.code == 0
    assert "own.cedar:1: no tool is called 'remembr'; did you mean 'remember'?" in done.err
    assert len(json.loads(daimon.run("policy", "check", "--json").out)["warnings"]) == 1


def test_a_start_with_a_broken_file_is_told_at_once(daimon: Daimon) -> None:
    write(daimon, "own.cedar", "forbid (principal")
    done = finish(daimon.up(), signal.SIGTERM)
    assert done.code == 0
    assert "own.cedar:1: this policy cannot be read" in done.err
    assert "only the policies that come with Daimon are in force" in done.err


def test_a_mended_policy_beside_a_broken_setting_is_not_in_force_and_nothing_says_that_it_is(daimon: Daimon) -> None:
    daimon.up()
    write(daimon, "own.cedar", "forbid (principal")
    daimon.run("reload")
    write(daimon, "own.cedar", FORBID)
    daimon.configure("[asking]\nundo_s = -1\n")
    assert "asking.undo_s" in daimon.run("reload").err
    assert "own.cedar:1" in json.loads(daimon.run("status", "--json").out)["warnings"][0]
