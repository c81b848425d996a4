"""odt fleet: what it prints, what it keeps, and what it refuses."""

import re

import pytest
from checkout import ROOT
from fleet_node import network, node

from odt.host import commands
from odt.host.fleet import Fleet, Twin

SCRIPT = str(ROOT / "tests_host" / "helpers" / "fleet_node.py")


def odt(capsys, *words):
    """(status, what it printed) of the command."""
    status = commands.main(["fleet", *map(str, words)])
    return status, capsys.readouterr().out


def test_its_rounds_are_those_of_twins_and_go_on_where_they_ended(capsys, tmp_path):
    state = tmp_path / "state"
    status, text = odt(capsys, SCRIPT, "--processes", 2, "--rounds", 2, "--state", state)
    twins = Fleet(network(), [Twin(node(number)) for number in range(2)])
    wanted = ["%08x" % twins.run_round().digest for _ in range(3)]
    assert status == 0 and text.startswith("2 nodes share 108 weights of fleet_node.py\nround 1: 2 of 2 nodes, loss ")
    assert text.endswith("\ndigest %s\n" % wanted[1])
    accuracies = re.findall(r"accuracy ([\d.]+), on nodes ([\d.]+), worst ([\d.]+) \(corner [01]\), \d+ bytes up", text)
    assert len(accuracies) == 2 and all(0 <= float(worst) <= float(mean) <= 1 for _, mean, worst in accuracies)
    text = odt(capsys, SCRIPT, "--processes", 2, "--rounds", 1, "--state", state)[1]
    assert "\nround 3: 2 of 2 nodes" in text


def test_simulated_boards_in_this_process_beside_one_of_its_own(capsys):
    status, text = odt(capsys, SCRIPT, "--processes", 1, "--twins", 5, "--rounds", 2)
    twins = Fleet(network(), [Twin(node(number)) for number in range(6)])
    wanted = [twins.run_round().digest for _ in range(2)][-1]
    assert status == 0 and "round 2: 6 of 6 nodes" in text and text.endswith("digest %08x\n" % wanted)


def test_forms_and_sums_are_chosen(capsys):
    words = "--form", "top", "--share", 0.2, "--momentum", 0.5, "--robust", "median"
    text = odt(capsys, SCRIPT, "--processes", 3, "--rounds", 1, *words)[1]
    twins = Fleet(network(), [Twin(node(n)) for n in range(3)], "top", 0.2, 0.5, "median")
    assert text.endswith("digest %08x\n" % twins.run_round().digest)


def test_secret_rounds_that_are_void_are_said_and_end_the_command_after_three(capsys):
    status, text = odt(capsys, SCRIPT, "--processes", 3, "--rounds", 1, "--form", "whole", "--secret")
    twins = Fleet(network(), [Twin(node(n)) for n in range(3)], "whole")
    assert status == 0 and text.endswith("digest %08x\n" % twins.run_round().digest)
    status, text = odt(capsys, SCRIPT, "--processes", 2, "--form", "whole", "--secret")
    assert status == 1 and [line for line in text.splitlines() if line.startswith("odt: ")] == [
        "odt: round %d: 2 nodes, masks need 3 to 15" % number for number in (1, 2, 3)
    ]


def test_a_node_that_fails_is_named_and_its_text_is_escaped(capsys, tmp_path):
    script = tmp_path / "node.py"
    script.write_text(
        "import sys; sys.path.insert(0, %r)\nfrom fleet_node import node, place\n"
        "if place == (1, 2):\n    raise OSError('no sensor \\x1b[2J')\nnode(place[0]).serve()\n"
        % str(ROOT / "tests_host" / "helpers")
    )
    status, text = odt(capsys, script, "--processes", 2, "--rounds", 1)
    assert status == 0 and "round 1: 1 of 2 nodes" in text and "\x1b" not in text
    assert "node 1: its process has ended; it printed: OSError: no sensor \\x1b[2J" in text


@pytest.mark.parametrize(
    "words, why", [
        ((), "there is no node: give --connect PORT [PORT ..], --processes COUNT or --twins COUNT"),
        (("--processes", 1, "--rounds", 0), "--rounds is at least 1, got 0"),
        (("--processes", -1), "--processes is at least 0, got -1"),
        (("--twins", -2), "--twins is at least 0, got -2"),
        (("--processes", 1, "--share", 2), "share is in 0..1, got 2.0"),
        (("--processes", 1, "--momentum", 0.5), "momentum is in 0..0.99, and of form top, got 0.5"),
        (("--connect", "/dev/no-such"), "/dev/no-such: "),
    ],
)  # fmt: skip
def test_what_it_refuses(capsys, words, why):
    status, text = odt(capsys, SCRIPT, *words)
    assert status == 1 and "odt: " + why in text


def test_scripts_without_a_node_are_refused(capsys, tmp_path):
    script = tmp_path / "plain.py"
    script.write_text("print(1)\n")
    assert "plain.py: it calls no Node(..).serve()" in odt(capsys, script, "--processes", 1)[1]
    assert "none.py: no such script" in odt(capsys, tmp_path / "none.py", "--processes", 1)[1]


def test_a_state_of_another_model_is_refused(capsys, tmp_path):
    state = tmp_path / "state"
    state.write_bytes(b"odtF" + bytes(16))
    status, text = odt(capsys, SCRIPT, "--processes", 1, "--state", state)
    assert status == 1 and "the state of a fleet with another model" in text
