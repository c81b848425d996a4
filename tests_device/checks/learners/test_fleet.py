"""A fleet of emulated Picos, MicroPython's unix port and CPython: one digest, that of twins in this process."""

import contextlib
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "tests_host" / "helpers"))

import machines
import pytest
import supernodes
from checkout import ROOT
from fleet_node import network, node, zeroth_node

from odt.base import executor
from odt.host.fleet import Fleet, Process, Serial, Twin, ZerothFleet
from odt.host.fleet.command import served

SCRIPT = ROOT / "tests_host" / "helpers" / "fleet_node.py"
ROUNDS = 3


def digests(links, **options):
    fleet = Fleet(network(), links, timeout=120, **options)
    try:
        found = [fleet.run_round() for _ in range(ROUNDS)]
    finally:
        fleet.close()
    assert not [part.why for each in found for part in each.parts.values() if part.why], found
    return [each.digest for each in found]


def twins(count, **options):
    return digests([Twin(node(number)) for number in range(count)], **options)


def test_two_picos_are_two_twins_and_go_on_after_a_reset():
    with machines.open("rp2040") as first, machines.open("rp2040") as second:
        for machine in (first, second):
            machine.exec("pass")  # it is on from now
        ports = [machine._port for machine in (first, second)]
        links = [Serial(port, SCRIPT, (number, 2)) for number, port in enumerate(ports)]
        assert digests(links) == twins(2)
        links = [Serial(port, SCRIPT, (number, 2)) for number, port in enumerate(ports)]
        fleet = Fleet(network(), links, form="top", share=0.2, momentum=0.5, timeout=120)
        fleet.run_round()
        links[1].write(b"\x03")  # Ctrl-C still stops a node's script
        parts = fleet.run_round().parts
        assert [(part.why, part.reset) for part in parts.values()] == [("", False), ("", True)]
        fleet.close()


def test_a_pico_masks_its_update():
    with machines.open("rp2040") as pico:
        pico.exec("pass")
        links = [Serial(pico._port, SCRIPT, (0, 3)), Twin(node(1)), Twin(node(2))]
        assert digests(links, form="whole", secret=True) == twins(3, form="whole")


@pytest.mark.parametrize("form", ["whole", "random"])
def test_micropython_is_a_twin(form):
    python = [str(machines.BUILD / "unix" / "micropython")]
    links = [Process(SCRIPT, (0, 3), python=python), Process(SCRIPT, (1, 3), python=python), Process(SCRIPT, (2, 3))]
    assert digests(links, form=form) == twins(3, form=form)


@pytest.fixture
def zeroth_script(tmp_path):
    """The same script, of nodes of zeroth order."""
    path = tmp_path / "zeroth.py"
    source = SCRIPT.read_text()
    path.write_text(source.replace("    node(place[0]).serve()", "    zeroth_node(place[0]).serve()"))
    assert path.read_text() != source
    return path


def test_a_pico_micropython_and_twins_of_zeroth_order_have_one_set_of_weights(zeroth_script):
    with machines.open("rp2040") as pico:
        pico.exec("pass")
        python = [str(machines.BUILD / "unix" / "micropython")]
        links = [Serial(pico._port, zeroth_script, (0, 3)), Process(zeroth_script, (1, 3), python=python)]
        found = []
        for nodes in ([*links, Twin(zeroth_node(2))], [Twin(zeroth_node(number)) for number in range(3)]):
            fleet = ZerothFleet(zeroth_node(3), nodes, steps=12, timeout=60)
            try:
                rounds = [fleet.run_round() for _ in range(2)]
            finally:
                fleet.close()
            assert not [part.why for each in rounds for part in each.parts.values() if part.why], rounds
            found.append([each.digest for each in rounds])
    assert found[0] == found[1] and len(set(found[0])) == 2


def test_two_picos_and_two_twins_in_flowers_run_have_the_digest_of_four_twins(tmp_path):
    """One host has two emulated Picos, the other two twins; the SuperLink waits for neither in an order."""
    import _odt

    if executor.backend == "native":
        (tmp_path / Path(_odt.__file__).name).symlink_to(_odt.__file__)
    with machines.open("rp2040") as first, machines.open("rp2040") as second:
        for machine in (first, second):
            machine.exec("pass")
        hosts = ("--connect", first._port, second._port), ("--twins", 2)
        text = supernodes.run(tmp_path, SCRIPT, hosts, 4, rounds=2)
    assert text.split("\ndigest ")[1][:8] == "%08x" % twins(4)[1]


TIMED = """
import time
import odt
from odt.fleet import Node, frames

def network():
    model = odt.Sequential([
        odt.Input((8, 8, 1), dtype="uint8", scale=1 / 16), odt.Conv2D(8, 3, padding="same", activation="relu"),
        odt.MaxPool2D(), odt.Conv2D(16, 3, padding="same", activation="relu"), odt.MaxPool2D(), odt.Flatten(),
        odt.Dense(10),
    ])
    model.compile(odt.Adam(0.004), batch_size=16, seed=0)
    return model

if __name__ == "__main__":
    node = Node(network(), bytes([i * i % 16 for i in range(64 * 64)]), bytes([i % 10 for i in range(64)]))
    plain, seen = node.answer, {}

    def answer(kind, sequence, body):
        now = time.ticks_ms()
        seen.setdefault(kind, now)
        if kind == frames.QUIT:
            print("took %d %d" % (seen[frames.TRAIN] - seen[frames.PUT], now - seen[frames.GET]))
        return plain(kind, sequence, body)

    node.answer = answer
    node.serve()
"""


def test_the_bytes_of_a_round_take_a_pico_two_seconds_of_its_time_at_most(tmp_path):
    """A model of 7,592 bytes comes, its update of 1,904 goes: the default form. Its clock is the emulator's."""
    script, known = tmp_path / "timed.py", {}
    script.write_text(TIMED)
    exec(TIMED, known)
    with machines.open("rp2040") as pico:
        pico.exec("pass")
        fleet = Fleet(known["network"](), [Serial(pico._port, script, (0, 1))], timeout=120)
        found = fleet.run_round()
        fleet.close()
    assert found.parts["node"].why == "" and fleet.shared.count == 1898
    put, get = [int(word) for word in fleet.remotes[0].text.split("took ")[1].replace("\\x0d", "").split()[:2]]
    assert 0 < put + get <= 2000, (put, get)


def test_four_picos_and_twelve_processes_are_sixteen_twins():
    """examples/fleet/sixteen.py, two rounds."""
    script = ROOT / "examples" / "fleet" / "sixteen.py"
    with contextlib.ExitStack() as stack:
        picos = [stack.enter_context(machines.open("rp2040")) for _ in range(4)]
        for pico in picos:
            pico.mpremote("cp", str(ROOT / "examples" / "digits" / "digits.bin"), ":digits.bin")
        links = [Serial(pico._port, script, (number, 16)) for number, pico in enumerate(picos)]
        links += [Process(script, (number, 16)) for number in range(4, 16)]
        found = []
        for nodes in (links, [Twin(served(script, number, 16)) for number in range(16)]):
            fleet = Fleet(served(script, 16, 16).model, nodes, timeout=120, workers=16)
            try:
                rounds = [fleet.run_round() for _ in range(2)]
            finally:
                fleet.close()
            assert not [part.why for each in rounds for part in each.parts.values() if part.why], rounds
            found.append([each.digest for each in rounds])
    assert found[0] == found[1]
