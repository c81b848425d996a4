"""A fleet of zeroth order: one number of each node for a step, and the same weights everywhere, to the bit."""

import random
import struct

import numpy as np
import pytest
from fleet_node import network, node, samples, zeroth_node

import odt
from odt.fleet import ZerothNode, frames
from odt.host.boards.board import BoardError
from odt.host.fleet import Fleet, FleetError, Twin, ZerothFleet


def fleet(count=3, links=None, steps=20, dtype="int8", sign=True, **options):
    links = links or [Twin(zeroth_node(number, dtype, sign)) for number in range(count)]
    return ZerothFleet(zeroth_node(99, dtype, sign), links, steps, timeout=5, **options)


def digests(fleet, rounds=2):
    found = [fleet.run_round() for _ in range(rounds)]
    assert not [part.why for each in found for part in each.parts.values() if part.why]
    return [each.digest for each in found]


@pytest.mark.parametrize("dtype", ["int8", "float32"])
@pytest.mark.parametrize("sign", [True, False])
def test_a_fleet_of_one_node_does_what_fit_does(dtype, sign):
    one = zeroth_node(0, dtype, sign)
    found = fleet(links=[Twin(one)], steps=24, dtype=dtype, sign=sign)
    digests(found, 1)
    alone = network(dtype, optimizer=odt.ZerothOrder(0.01, sign=sign))
    alone.fit(*samples(0), epochs=3, verbose=0)  # 64 samples, batches of 8
    far = 0 if dtype == "int8" else 1e-5  # scalars are in units of 2^-20; the next step's measurement rounds weights
    for own, pc, wanted in zip(one.model.get_weights(), found.model.get_weights(), alone.get_weights()):
        assert np.array_equal(own, pc) and np.abs(np.array(own) - np.array(wanted)).max() <= far


@pytest.mark.parametrize("dtype", ["int8", "float32"])
def test_all_have_the_same_weights_in_whatever_order_nodes_answer(dtype):
    nodes = [zeroth_node(number, dtype) for number in range(3)]
    found = digests(fleet(links=[Twin(each) for each in nodes], dtype=dtype))
    assert digests(fleet(links=[Twin(zeroth_node(n, dtype)) for n in (2, 0, 1)], dtype=dtype)) == found
    sums = {struct.unpack("<I", node._answer(frames.SUM, b""))[0] for node in nodes}
    assert sums == {found[-1]} and len(set(found)) == 2


def test_a_step_takes_8_bytes_of_each_node_and_8_to_it():
    found = fleet().run_round()
    assert {part.size for part in found.parts.values()} == {8 * 20}
    assert struct.calcsize(frames.SCALAR) == 8
    framed = 3 * 21 * (8 + 6 + 2)  # kind, number, CRC-32, 0xC0 twice
    hello = 3 * 100
    assert framed <= found.down < 1.1 * framed + hello and framed <= found.up < 1.1 * framed + 2 * hello


def test_steps_learn():
    learning = fleet(4, steps=150)
    losses = [learning.run_round().loss for _ in range(4)]
    x, y = [b"".join(parts) for parts in zip(*[samples(number) for number in range(20, 28)])]
    assert losses[-1] < losses[0] / 2 and learning.model.evaluate(x, y)[1] > 0.9


def test_the_median_withstands_a_liar():
    class Liar(Twin):
        def read(self, timeout):
            kind, sequence, body = frames.unpack(super().read(timeout)[1:-1])
            if len(body) == 8:
                number, own = struct.unpack(frames.SCALAR, body)
                body = struct.pack(frames.SCALAR, number, max(-(2**31) + 1, min(2**31 - 1, -1000 * own)))
            return frames.pack(kind, sequence, body)

    losses = {}
    for combine in ("mean", "median"):
        links = [Liar(zeroth_node(0)), *[Twin(zeroth_node(number)) for number in range(1, 5)]]
        found = fleet(links=links, steps=150, combine=combine)
        losses[combine] = [found.run_round().loss for _ in range(2)][-1]
    assert losses["median"] < 1 < losses["mean"]


class Unreliable(Twin):
    """A twin whose answers are lost and whose power fails."""

    def __init__(self, number, seed):
        super().__init__(zeroth_node(number))
        self.number, self.random, self.out, self.cut = number, random.Random(seed), False, 0

    def write(self, data):
        if self.random.random() < 0.015:
            self.node, self.out = zeroth_node(self.number), True
            self.cut += 1
        if self.out:
            raise BoardError("it is off")
        super().write(data)
        if self.random.random() < 0.015:
            self._answers.clear()
            self.out = True

    def read(self, timeout):
        if self.out:
            raise BoardError("it is off")
        return super().read(timeout)

    def restart(self):
        self.out = self.random.random() < 0.3


def test_nodes_that_fail_at_random_come_back_and_the_scalars_make_the_model(tmp_path):
    links = [Unreliable(number, 100 + number) for number in range(16)]
    first = fleet(links=links, steps=10, workers=1)
    found = [first.run_round() for _ in range(8)]
    parts = [part for each in found for part in each.parts.values()]
    assert 0.2 < sum([bool(part.why) for part in parts]) / len(parts) < 0.8
    assert sum([part.reset for part in parts]) > 5 and sum([link.cut for link in links]) > 5
    first.save(tmp_path / "scalars")
    again = fleet(1)
    again.load(tmp_path / "scalars")
    assert (again.digest(), again.number) == (first.digest(), 8)
    for link in links:
        link.random.random = lambda: 0.9
        link.restart = lambda link=link: setattr(link, "out", False)
    digests(first, 1)


def test_a_server_goes_on_from_its_file(tmp_path):
    nodes = [zeroth_node(number) for number in range(3)]
    first = fleet(links=[Twin(each) for each in nodes])
    before = digests(first, 1)
    first.save(tmp_path / "state")
    other = fleet(links=[Twin(each) for each in nodes])
    other.load(tmp_path / "state")
    assert before + digests(other, 1) == digests(fleet())
    with pytest.raises(ValueError, match="before the first round"):
        other.load(tmp_path / "state")
    without = fleet(links=[Twin(each) for each in nodes])
    with pytest.raises(FleetError, match="step 1: this node is at step 41"):
        without.run_round()


def test_another_state_is_refused(tmp_path):
    found, path = fleet(1), tmp_path / "state"
    digests(found, 1)
    found.save(path)
    data = path.read_bytes()
    fresh = fleet(1)
    for written, why in [(b"", "no state of a fleet of zeroth order"), (b"odtZ" + bytes(16), "another model"),
                         (data[:-4], "damaged"), (data[:-1] + bytes((data[-1] ^ 1,)), "damaged")]:  # fmt: skip
        path.write_bytes(written)
        with pytest.raises(ValueError, match=why):
            fresh.load(path)
    assert fresh.digest() == fleet(1).digest() and not fresh.scalars


def test_a_node_whose_weights_are_others_is_named_and_begins_again():
    links = [Twin(zeroth_node(number)) for number in range(3)]
    links[1].restart = lambda: setattr(links[1], "node", zeroth_node(1))
    found = fleet(links=links)
    found.run_round()
    weights = found.remotes[1].link.node.model.get_weights()
    links[1].node.model.set_weights([[0.5 * value for value in each] for each in weights])
    why = found.run_round().parts["corner 1"].why
    assert why.startswith("corner 1: its weights have CRC-32 ") and ", the fleet's %08x" % found.digest() in why
    digests(found, 1)


def ask(node, kind, body):
    return frames.unpack(node.answer(kind, 1, body)[1:-1])[::2]


def test_a_node_refuses_other_steps_and_what_is_no_request():
    one = zeroth_node(0)
    digests(fleet(links=[Twin(one)], steps=2), 1)
    before = ask(one, frames.SUM, b"")
    for kind, body, why in [
        (frames.STEP, struct.pack("<Ii", 2, 0), "ValueError: step 2: this node is at step 3"),
        (frames.STEP, struct.pack("<Ii", 3, 123456), "ValueError: step 3: this node is at step 3"),
        (frames.STEP, struct.pack("<Ii", 5, 0), "ValueError: step 5: this node is at step 3"),
        (frames.STEP, b"1234567", "ValueError: 7 bytes are no step"),
        (frames.PUT, bytes(12), "ValueError: a node of zeroth order takes no request 80"),
        (frames.TRAIN, bytes(12), "ValueError: a node of zeroth order takes no request 84"),
        (frames.HELLO, b"\x09", "ValueError: this node speaks version 1"),
    ]:  # fmt: skip
        answer = ask(one, kind, body)
        assert answer[0] == frames.REFUSED and answer[1].decode().startswith(why), answer
    assert ask(one, frames.SUM, b"") == before


def test_an_answer_that_was_lost_is_given_again_without_another_step():
    one, other = zeroth_node(0), zeroth_node(0)
    task = struct.pack(frames.SCALAR, 1, 0)
    assert ask(one, frames.STEP, task) == ask(one, frames.STEP, task) == ask(other, frames.STEP, task)
    task = struct.pack(frames.SCALAR, 2, 77)
    assert ask(one, frames.STEP, task) == ask(one, frames.STEP, task) == ask(other, frames.STEP, task)
    assert ask(one, frames.SUM, b"") == ask(other, frames.SUM, b"")


def test_a_step_that_is_interrupted_is_refused_until_the_node_begins_again():
    one = zeroth_node(0)
    ask(one, frames.STEP, struct.pack(frames.SCALAR, 1, 0))
    session = one.model.session
    session.engine, engine = Breaking(session.engine, one._tick), session.engine
    answer = ask(one, frames.STEP, struct.pack(frames.SCALAR, 2, 500))
    assert answer == (frames.REFUSED, b"OSError: a sensor broke")
    session.engine = engine
    why = b"RuntimeError: step 1 ended half way (OSError): start the node again"
    assert ask(one, frames.HELLO, bytes((frames.VERSION,))) == (frames.REFUSED, why)


class Breaking:
    """An engine that fails where a step moves the weights."""

    def __init__(self, engine, at):
        self.engine, self.at = engine, at

    def run(self, loaded, regions, start, stop):
        if start == self.at:
            raise OSError("a sensor broke")
        self.engine.run(loaded, regions, start, stop)

    def __getattr__(self, name):
        return getattr(self.engine, name)


def test_nodes_of_another_kind_or_optimizer_are_refused():
    parts = fleet(links=[Twin(zeroth_node(0)), Twin(node(1))]).run_round().parts
    assert parts["corner 1"].why == "corner 1: it is a Node, the PC has a ZerothNode"
    parts = Fleet(network(), [Twin(node(0)), Twin(zeroth_node(1))]).run_round().parts
    assert parts["corner 1"].why == "corner 1: it is a ZerothNode, the PC has a Node"
    parts = fleet(links=[Twin(zeroth_node(0)), Twin(zeroth_node(1, sign=False))]).run_round().parts
    assert parts["corner 1"].why.startswith("corner 1: another model")
    parts = fleet(links=[Twin(zeroth_node(0)), Twin(zeroth_node(0)), Twin(zeroth_node(2))]).run_round().parts
    assert parts["corner 0"].why == "corner 0: 2 nodes have this name" and parts["corner 2"].why == ""


@pytest.mark.parametrize(
    "make, why", [
        (lambda: ZerothNode(network(), *samples(0)), "the optimizer is a ZerothOrder with tail=0, got Adam"),
        (lambda: ZerothNode(network(optimizer=odt.ZerothOrder(tail=1)), *samples(0)), "tail=0, got ZerothOrder"),
        (lambda: zeroth_node(0, count=63), "it has 63 samples, it needs 64"),
        (lambda: fleet(combine="krum"), "combine is mean or median, got 'krum'"),
        (lambda: fleet(steps=0), "steps is at least 1, got 0"),
    ],
)  # fmt: skip
def test_arguments_are_checked(make, why):
    with pytest.raises(ValueError, match=why.replace("(", r"\(")):
        make()
