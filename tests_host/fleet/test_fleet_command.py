"""odt fleet: what it prints, what it keeps, and what it refuses."""

import re

import pytest
from checkout import ROOT
from fleet_node import network, node, zeroth_node

from odt.host import commands
from odt.host.fleet import Fleet, Robust, Twin, ZerothFleet

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


@pytest.mark.parametrize(
    "nodes, words, name",
    [(4, (), "median"), (5, (), "krum"), (7, ("--liars", 2), "krum"), (5, ("--liars", 2), "median")],
)
def test_robust_chooses_a_sum_and_says_what_it_withstands(capsys, nodes, words, name):
    text = odt(capsys, SCRIPT, "--twins", nodes, "--rounds", 1, "--robust", *words)[1]
    liars = int(words[1]) if words else 1
    assert "\nsum: %s withstands %s\n" % (name, "one liar" if liars == 1 else "2 liars") in text
    twins = Fleet(network(), [Twin(node(n)) for n in range(nodes)], combine=Robust(nodes, liars))
    assert text.endswith("digest %08x\n" % twins.run_round().digest)


def test_a_fleet_of_zeroth_order_runs_by_its_script(capsys, tmp_path):
    script, state = tmp_path / "node.py", tmp_path / "state"
    script.write_text(
        "import sys; sys.path.insert(0, %r)\nfrom fleet_node import zeroth_node\n"
        "from odt.fleet import place\nzeroth_node(place[0]).serve()\n" % str(ROOT / "tests_host" / "helpers")
    )
    words = "--twins", 2, "--processes", 1, "--steps", 10, "--state", state
    status, text = odt(capsys, script, *words, "--rounds", 2, "--robust")
    twins = ZerothFleet(zeroth_node(3), [Twin(zeroth_node(n)) for n in range(3)], 10, "median")
    wanted = ["%08x" % twins.run_round().digest for _ in range(3)]
    assert status == 0 and "sum: median withstands one liar\n" in text and text.endswith("digest %s\n" % wanted[1])
    assert odt(capsys, script, *words, "--rounds", 1, "--robust")[1].endswith("digest %s\n" % wanted[2])


def test_a_page_is_written_at_the_end_and_after_a_failure(capsys, tmp_path):
    page = tmp_path / "page.html"
    text = odt(capsys, SCRIPT, "--twins", 2, "--rounds", 2, "--report", page)[1]
    assert "odt: report in %s\n" % page in text
    digest = text.split()[-1]
    text = page.read_text()
    assert "<td>well</td>" in text and "<td>%s</td>" % digest in text and "<td>2 of 2</td>" in text
    script = tmp_path / "node.py"
    script.write_text(
        "import sys; sys.path.insert(0, %r)\nfrom fleet_node import node\nfrom odt.fleet import place\n"
        "one = node(place[0])\n"
        "put = one._put\ndef twice(body):\n    if one.round == 1:\n        raise OSError('<i>')\n    return put(body)\n"
        "one._put = twice\none.serve()\n" % str(ROOT / "tests_host" / "helpers")
    )
    assert odt(capsys, script, "--twins", 2, "--report", page)[0] == 1
    text = page.read_text()
    assert "<td>1 of 20</td>" in text and text.count("&lt;i&gt;") == 8 and "<i>" not in text


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
        (("--twins", 2, "--robust"), "a sum withstands fewer liars than half of the nodes, got 1 of 2"),
        (("--twins", 9, "--robust", "--liars", 5), "a sum withstands fewer liars than half of the nodes, got 5 of 9"),
        (("--twins", 9, "--robust", "median", "--liars", 1), "--liars is what --robust chooses by, without a name"),
        (("--twins", 1, "--report", "page.txt"), "--report ends with .html, got page.txt"),
        (("--twins", 1, "--steps", 0), "--steps is at least 1, got 0"),
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
