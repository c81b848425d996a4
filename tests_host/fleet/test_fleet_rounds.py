"""Rounds of a fleet: sums to the bit, nodes that fail, and what is refused."""

import random
import struct
from array import array

import numpy as np
import pytest
from checkout import ROOT
from fleet_node import network, node, samples

from odt.fleet import Node, frames
from odt.host.boards.board import BoardError
from odt.host.fleet import Fleet, FleetError, Process, Twin, replay

SCRIPT = ROOT / "tests_host" / "helpers" / "fleet_node.py"


def fleet(count=3, links=None, **options):
    return Fleet(network(), links or [Twin(node(number)) for number in range(count)], timeout=5, **options)


def digests(fleet, rounds=3):
    return [fleet.run_round().digest for _ in range(rounds)]


class Changed(Twin):
    """A twin between which and the PC ``change(frame)`` stands: it changes an answer's (kind, sequence, body)."""

    def __init__(self, node, change):
        super().__init__(node)
        self.change = change

    def read(self, timeout):
        data = super().read(timeout)
        if not data:
            return data
        kind, sequence, body = frames.unpack(data[1:-1])
        found = self.change(kind, sequence, body)
        return frames.pack(*found) if found else b""


def test_one_round_is_the_mean_of_what_nodes_learn_alone():
    """FedAvg in NumPy's float64, of models that fit() trains without a fleet."""
    nodes = [node(number) for number in range(3)]
    start = np.concatenate([np.array(each, "float64") for each in network().get_weights()])
    learnt = []
    for number in range(3):
        model = network()
        first = Node(model, *samples(number)).shared
        values = array("i", bytes(4 * first.count))
        first.add_to(values)
        first.write(values)  # as a node begins: a kernel's row has the scale of set_weights
        model.fit(*samples(number), epochs=1, verbose=0)
        learnt.append(np.concatenate([np.array(each, "float64") for each in model.get_weights()]))
    found = fleet(links=[Twin(each) for each in nodes], form="whole")
    found.run_round()
    mean = start + np.average(np.array(learnt) - start, 0, [64, 64, 64])
    assert np.abs(np.array(found.weights) / 2**20 - mean).max() <= 2**-20
    assert np.abs(mean - start).max() > 0.01


@pytest.mark.parametrize("form", ["whole", "int8", "top", "random"])
def test_the_order_of_the_nodes_changes_nothing(form):
    forward = digests(fleet(form=form))
    assert digests(fleet(links=[Twin(node(number)) for number in (2, 0, 1)], form=form)) == forward
    assert len(set(forward)) == 3


def test_processes_are_twins_to_the_bit():
    with_processes = fleet(links=[Process(SCRIPT, (number, 3)) for number in range(3)])
    try:
        assert digests(with_processes) == digests(fleet())
    finally:
        with_processes.close()
    assert [remote.link._process.poll() is not None for remote in with_processes.remotes] == [True] * 3


def test_rounds_learn():
    learning = fleet(4, form="int8")
    losses = [learning.run_round().loss for _ in range(15)]
    x, y = [b"".join(parts) for parts in zip(*[samples(number) for number in range(20, 28)])]
    learning.model.calibrate(x)
    assert losses[-1] < losses[0] / 2 and learning.model.evaluate(x, y)[1] > 0.8


def test_a_process_that_dies_is_missed_for_a_round_and_starts_again():
    links = [Process(SCRIPT, (number, 3)) for number in range(3)]
    found = fleet(links=links)
    try:
        found.run_round()
        links[1]._process.kill()
        part = found.run_round().parts["corner 1"]
        assert part.why == "" and part.reset  # it was started again at once
        assert not found.run_round().parts["corner 1"].reset
    finally:
        found.close()


def test_a_script_that_fails_says_why(tmp_path):
    script = tmp_path / "bad.py"
    script.write_text("print('begin')\nraise ValueError('no such sensor \\x1b[31m')\n")
    found = fleet(links=[Twin(node(0)), Process(script, (1, 2))])
    try:
        parts = found.run_round().parts
    finally:
        found.close()
    assert parts["corner 0"].why == ""
    assert "its process has ended; it printed: ValueError: no such sensor \\x1b[31m" in parts["node 1"].why


def test_a_node_that_never_answers_is_left_out():
    class Silent(Twin):
        def read(self, timeout):
            return b""

    found = Fleet(network(), [Twin(node(0)), Silent(node(1))], timeout=0.1)
    parts = found.run_round().parts
    assert parts["corner 0"].why == "" and parts["node 1"].why == "node 1: no answer in 0.1 seconds"


def test_where_nobody_answers_the_model_stays():
    found = Fleet(network(), [Changed(node(0), lambda *frame: None)], timeout=0.1)
    before = found.digest()
    with pytest.raises(FleetError, match="round 1: no node sent an update:\nnode 0: no answer"):
        found.run_round()
    assert found.digest() == before


OTHERS = [
    (lambda: Node(network("float32"), *samples(1), name="other"), "other: its model is float32, the PC's int8"),
    (lambda: Node(network(seed=6), *samples(1), name="other"), "other: its model has seed 6, the PC's 5"),
    (
        lambda: Node(network(), *samples(1), name="other", personal=("dense",)),
        "other: another model: it shares 40 weights, in arrays of [36, 4]; the PC 108, of [36, 4]",
    ),
]


@pytest.mark.parametrize("other, why", OTHERS)
def test_a_node_with_another_model_is_refused(other, why):
    found = fleet(links=[Twin(node(0)), Twin(other())])
    parts = found.run_round().parts
    assert parts["other"].why == why
    alone = fleet(1)
    alone.run_round()
    assert found.digest() == alone.digest()


def test_int8_and_float32_together_if_asked_for():
    found = fleet(links=[Twin(node(0)), Twin(Node(network("float32"), *samples(1), name="f"))], mixed=True)
    assert [part.why for part in found.run_round().parts.values()] == ["", ""]


def test_two_nodes_of_one_name_are_both_refused():
    parts = fleet(links=[Twin(node(0)), Twin(node(1)), Twin(node(1))]).run_round().parts
    assert parts["corner 0"].why == ""
    assert [part.why for name, part in parts.items() if name != "corner 0"] == ["corner 1: 2 nodes have this name"] * 2


def version(kind, sequence, body):
    return kind, sequence, b"\x02" + body[1:] if len(body) > 22 and body[0] == 1 else body


def not_a_number(kind, sequence, body):
    return kind, sequence, struct.pack("<f", float("nan")) + body[4:] if len(body) == 16 else body


def no_samples(kind, sequence, body):
    return kind, sequence, body[:4] + bytes(4) + body[8:] if len(body) == 16 else body


def longer(kind, sequence, body):
    return kind, sequence, body[:8] + b"\xff\xff\xff\x7f" + body[12:] if len(body) == 16 else body


def changed(kind, sequence, body):
    return kind, sequence, body[:-1] + bytes((body[-1] ^ 1,)) if len(body) == 112 else body


def shorter(kind, sequence, body):
    return kind, sequence, body[:-1] if len(body) == 112 else body


def cut(kind, sequence, body):
    return kind, sequence, body[:-1] if len(body) == 16 else body


@pytest.mark.parametrize(
    "change, why", [
        (version, "corner 1: version 2, the PC has 1"), (not_a_number, "corner 1: a loss of nan"),
        (no_samples, "corner 1: an update of 0 samples"),
        (longer, "corner 1: an update of 2147483647 bytes, at most 112 are expected"),
        (changed, "corner 1: an update whose CRC-32 is not the one that it said"),
        (shorter, "corner 1: 111 bytes of an update, asked for 112"), (cut, "corner 1: a damaged answer"),
    ],
)  # fmt: skip
def test_what_a_node_says_is_checked(change, why):
    found = fleet(links=[Twin(node(0)), Changed(node(1), change)])
    assert found.run_round().parts["corner 1"].why.startswith(why)
    alone = fleet(1)
    alone.run_round()
    assert found.digest() == alone.digest()


def ask(node, kind, body):
    return frames.unpack(node.answer(kind, 1, body)[1:-1])[::2]


def test_a_node_refuses_older_rounds_and_what_is_no_request():
    one = node(0)
    fleet(links=[Twin(one)]).run_round()
    digest = one.model.digest()
    data = bytes(one.base)
    task = struct.pack(frames.TASK, 1, 0, 1, 0, 5)
    for kind, body, why in [
        (frames.PUT, struct.pack("<II", 1, 0) + data[:40], "ValueError: round 1: this node has trained round 1"),
        (frames.TRAIN, task, "ValueError: round 1: this node has trained round 1"),
        (frames.PUT, struct.pack("<II", 2, 105) + data[:16], "ValueError: words 105 to 109 of a model of 108"),
        (frames.PUT, b"1234567890123", "ValueError: 13 bytes are no part of a model"),
        (frames.TRAIN, struct.pack(frames.TASK, 2, 5, 1, 0, 5), "ValueError: the model that was received has CRC-32"),
        (frames.TRAIN, struct.pack(frames.TASK, 2, 5, 5, 0, 5), "ValueError: there is no form 5 of an update"),
        (frames.TRAIN, b"", "ValueError: 0 bytes are no task"),
        (frames.GET, struct.pack("<IIH", 2, 0, 1), "ValueError: round 2: the last update is of round 1"),
        (frames.GET, struct.pack("<IIH", 1, 100, 13), "ValueError: bytes 100 to 113 of an update of 112"),
        (frames.GET, b"", "ValueError: 0 bytes are no request for an update"),
        (frames.EVALUATE, struct.pack("<IB", 7, 1), "ValueError: the model that was received has CRC-32"),
        (frames.EVALUATE, b"", "ValueError: 0 bytes are no request to evaluate"),
        (frames.HELLO, b"\x09", "ValueError: this node speaks version 1"),
        (99, b"", "ValueError: there is no request 99"),
    ]:  # fmt: skip
        answer = ask(one, kind, body)
        assert answer[0] == frames.REFUSED and answer[1].decode().startswith(why), answer
    assert one.model.digest() == digest


def test_a_task_whose_answer_was_lost_is_not_trained_twice():
    lost = []

    def lose(kind, sequence, body):
        if len(body) == 16 and not lost:
            lost.append(body)
            return None
        return kind, sequence, body

    one = node(0)
    found = fleet(links=[Changed(one, lose)])
    import odt.host.fleet.remote as remote

    before, remote._PATIENCE = remote._PATIENCE, 0.01
    try:
        found.run_round()
    finally:
        remote._PATIENCE = before
    wanted = fleet(1)
    wanted.run_round()
    assert lost and found.digest() == wanted.digest() and one.round == 1


def test_training_that_diverges_is_reported_and_the_node_goes_on():
    one = node(1)
    found = fleet(links=[Twin(node(0)), Twin(one)])
    fit, calls = one.model.fit, []

    def diverge(*given, **named):
        calls.append(one)
        if len(calls) == 2:
            raise ArithmeticError("loss is not finite")
        return fit(*given, **named)

    one.model.fit = diverge
    whys = [found.run_round().parts["corner 1"].why for _ in range(3)]
    assert whys == ["", "corner 1: ArithmeticError: loss is not finite", ""]


def test_a_server_goes_on_from_its_file_as_if_it_had_not_stopped(tmp_path):
    nodes = [node(number) for number in range(3)]
    first = fleet(links=[Twin(each) for each in nodes])
    first.run_round()
    first.save(tmp_path / "state")
    other = fleet(links=[Twin(each) for each in nodes])
    other.load(tmp_path / "state")
    assert [first.digest(), *digests(other, 2)] == digests(fleet())
    without = fleet(links=[Twin(each) for each in nodes])
    with pytest.raises(FleetError, match="round 1: this node has trained round 3"):
        without.run_round()


def test_another_state_is_refused_and_nothing_changes(tmp_path):
    found, path = fleet(), tmp_path / "state"
    found.save(path)
    data = path.read_bytes()
    bad = [(b"", "no state of a fleet"), (b"odtF" + bytes(16), "another model"), (data[:-4], "damaged"),
           (data[:-1] + bytes((data[-1] ^ 1,)), "damaged")]  # fmt: skip
    for written, why in bad:
        path.write_bytes(written)
        with pytest.raises(ValueError, match=why):
            found.load(path)
    assert found.digest() == fleet().digest() and found.number == 0


@pytest.mark.parametrize(
    "options", [{"form": "int4"}, {"share": 0}, {"share": 1.5}, {"momentum": 1}, {"momentum": 0.5}, {"combine": "sum"}]
)
def test_arguments_of_a_fleet_are_checked(options):
    with pytest.raises(ValueError, match="%s is " % next(iter(options))):
        fleet(**options)


def test_a_port_that_is_none_is_named():
    from odt.host.fleet import Serial

    with pytest.raises(BoardError, match="/dev/no-such-port"):
        Serial("/dev/no-such-port", SCRIPT)


class Unreliable(Twin):
    """A twin whose link breaks and whose power fails, before or after a request."""

    def __init__(self, number, random):
        super().__init__(node(number))
        self.number, self.random = number, random
        self.out = False
        self.seen = {"lost": 0, "cut": 0}

    def write(self, data):
        if not self.out and self.random.random() < 0.05:
            self.node, self.out = node(self.number), True
            self.seen["cut"] += 1
        if self.out:
            raise BoardError("it is off")
        super().write(data)
        if self.random.random() < 0.06:
            self._answers.clear()
            self.out = True
            self.seen["lost"] += 1

    def read(self, timeout):
        if self.out:
            raise BoardError("it is off")
        return super().read(timeout)

    def restart(self):
        if self.random.random() < 0.7:
            self.out = False


@pytest.mark.parametrize("form", ["int8", "top"])
def test_sixteen_nodes_that_fail_at_random_end_with_the_digest_of_their_replay(form):
    links = [Unreliable(number, random.Random(100 + number)) for number in range(16)]
    first = fleet(links=links, form=form, workers=1)
    found = [first.run_round() for _ in range(12)]
    parts = [part for each in found for part in each.parts.values()]
    assert 0.2 < sum([bool(part.why) for part in parts]) / len(parts) < 0.5
    assert sum([part.reset for part in parts]) > 5
    assert sum([bool(part.trained and part.why) for each in first.journal.values() for part in each.values()]) > 5
    names = {"corner %d" % number: number for number in range(16)}
    again = Fleet(network(), [], form)
    assert list(replay(again, first.journal, lambda name: node(names[name]))) == [each.digest for each in found]
