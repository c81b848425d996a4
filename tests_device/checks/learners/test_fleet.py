"""A fleet of emulated Picos, MicroPython's unix port and CPython: one digest, that of twins in this process."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "tests_host" / "helpers"))

import machines
import pytest
from checkout import ROOT
from fleet_node import network, node

from odt.host.fleet import Fleet, Process, Serial, Twin

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
