"""Nodes behind TCP ports: bytes go through, links that break are started again, addresses are checked."""

import os
import signal
import socket
import subprocess
import sys
import time

import pytest
from checkout import ROOT
from fleet_node import network, node

from odt.fleet import frames
from odt.host import commands
from odt.host.boards.board import BoardError
from odt.host.fleet import Fleet, Process, Socket, Twin
from odt.host.fleet.command import address
from odt.host.fleet.listen import Listener

SCRIPT = str(ROOT / "tests_host" / "helpers" / "fleet_node.py")


def digests(links, rounds=2):
    fleet = Fleet(network(), links, timeout=20)
    try:
        return [fleet.run_round().digest for _ in range(rounds)]
    finally:
        for link in links:
            link.close()


def test_nodes_behind_ports_are_twins_to_the_bit():
    behind = [Twin(node(0)), Process(SCRIPT, (1, 3)), Twin(node(2))]
    try:
        with Listener(behind, 0) as listener:
            found = digests([Socket("127.0.0.1", port) for port in listener.ports])
    finally:
        behind[1].close()
    assert found == digests([Twin(node(number)) for number in range(3)])


def test_a_pc_that_goes_and_comes_back_finds_the_node_as_it_was():
    one = node(0)
    with Listener([Twin(one)], 0) as listener:
        first = Socket("127.0.0.1", listener.ports[0])
        digests([first], 1)
        other = Fleet(network(), [Socket("127.0.0.1", listener.ports[0])], timeout=20)
        other.number = 1
        assert other.run_round().parts["corner 0"].why == "" and one.round == 2
        other.remotes[0].link.close()


def test_frames_may_come_in_pieces_and_noise_does_no_harm():
    with Listener([Twin(node(0))], 0) as listener:
        with socket.create_connection(("127.0.0.1", listener.ports[0]), 5) as line:
            frame = frames.pack(frames.HELLO, 7, bytes((frames.VERSION,)))
            line.sendall(b"GET / HTTP/1.1\r\n\r\n" + bytes(range(256)) * 20 + frame[:5])
            time.sleep(0.1)
            line.sendall(frame[5:])
            line.settimeout(5)
            data = b""
            while data.count(frames.END) < 2:
                data += line.recv(4096)
        assert frames.unpack(data.strip(frames.END))[:2] == (frames.ANSWER, 7)


def test_a_process_that_dies_is_started_again_and_its_connection_ends():
    behind = Process(SCRIPT, (0, 3))
    try:
        with Listener([behind], 0) as listener:
            fleet = Fleet(network(), [Socket("127.0.0.1", listener.ports[0])], timeout=20)
            fleet.run_round()
            behind._process.kill()
            behind._process.wait()
            part = fleet.run_round().parts["corner 0"]
            assert part.why == "" and part.reset
    finally:
        behind.close()


def test_the_command_serves_its_nodes_until_ctrl_c_and_another_takes_them(capsys):
    words = [sys.executable, "-m", "odt", "fleet", SCRIPT, "--twins", "2", "--listen", "0", "--of", "3"]
    served = subprocess.Popen(
        words, cwd=ROOT, stdout=subprocess.PIPE, text=True, env=dict(os.environ, PYTHONPATH=str(ROOT)),
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # which a shell's background jobs ignore
    )  # fmt: skip
    try:
        line = served.stdout.readline()
        assert line.startswith("nodes 0 to 1 of 3 on ports ")
        ports = line.split("ports ")[1].strip().split(", ")
        there = ["tcp://127.0.0.1:" + port for port in ports]
        assert commands.main(["fleet", SCRIPT, "--connect", *there, "--twins", "1", "--rounds", "1"]) == 0
    finally:
        served.send_signal(signal.SIGINT)
        assert served.wait(60) == 0
        served.stdout.close()
    text = capsys.readouterr().out
    wanted = digests([Twin(node(number)) for number in range(3)], 1)
    assert "round 1: 3 of 3 nodes" in text and text.endswith("digest %08x\n" % wanted[0])


def test_a_port_that_is_taken_and_one_where_nobody_is_are_named(capsys):
    with socket.create_server(("127.0.0.1", 0)) as door:
        port = door.getsockname()[1]
        assert commands.main(["fleet", SCRIPT, "--twins", "1", "--listen", str(port)]) == 1
        assert "odt: --listen %d: " % port in capsys.readouterr().out
    with pytest.raises(BoardError, match="127.0.0.1:%d: " % port):
        Socket("127.0.0.1", port)


@pytest.mark.parametrize(
    "words, why", [
        (("--twins", "2", "--listen", "0", "--first", "2", "--of", "3"), "nodes 2 to 3 of a fleet of 3"),
        (("--twins", "1", "--listen", "70000"), "--listen 70000: "),
        (("--twins", "1", "--first", "-1"), "--first is at least 0, got -1"),
        (("--connect", "tcp://here"), "an address is tcp://HOST:PORT, got tcp://here"),
    ],
)  # fmt: skip
def test_what_it_refuses(capsys, words, why):
    assert commands.main(["fleet", SCRIPT, *words]) == 1 and "odt: " + why in capsys.readouterr().out


@pytest.mark.parametrize("text", ["tcp://", "tcp://:1", "tcp://a:", "tcp://a:b", "a:1"])
def test_an_address_has_a_host_and_a_port(text):
    with pytest.raises(BoardError, match="an address is tcp://HOST:PORT, got "):
        address(text)
