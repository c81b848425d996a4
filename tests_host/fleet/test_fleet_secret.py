"""Secure aggregation: the vectors of RFC 7748, masks that cancel, and what one node's update looks like."""

import random
import struct
from array import array

import numpy as np
import pytest
from fleet_node import network, node, samples

from odt.fleet import Node, frames, secret
from odt.host.fleet import Fleet, FleetError, Twin
from odt.host.fleet.sums import masked


def of(text):
    return bytes.fromhex(text)


# RFC 7748, section 5.2: scalar, point, result.
VECTORS = [
    ("a546e36bf0527c9d3b16154b82465edd62144c0ac1fc5a18506a2244ba449ac4",
     "e6db6867583030db3594c1a424b15f7c726624ec26b3353b10a903a6d0ab1c4c",
     "c3da55379de9c6908e94ea4df28d084f32eccf03491c71f754b4075577a28552"),
    ("4b66e9d4d1b4673c5ad22691957d6af5c11b6421e0ea01d42ca4169e7918ba0d",
     "e5210f12786811d3f4b7959d0538ae2c31dbe7106fc03c3efc4cd549c715a493",
     "95cbde9476e8907d7aade45cb4b873f88b595a68799fa152e6f8f7647aac7957"),
]  # fmt: skip


@pytest.mark.parametrize("scalar, point, result", VECTORS)
def test_x25519_gives_the_vectors_of_the_rfc(scalar, point, result):
    assert secret.x25519(of(scalar), of(point)) == of(result)


def test_x25519_repeated_a_thousand_times_gives_the_rfcs_value():
    key = point = b"\x09" + bytes(31)
    for _ in range(1000):
        key, point = secret.x25519(key, point), key
    assert key == of("684cf59ba83309552800ef566f2f4d3c1c3887c49360e3875f2eb94d99532c51")


def agreed(count, number=1):
    masks = [secret.Masks() for _ in range(count)]
    keys = b"".join([each.public for each in masks])
    for place, each in enumerate(masks):
        each.agree(struct.pack("<IB", number, place) + keys)
    return masks


def test_masks_cancel_in_the_sum_and_one_update_is_random():
    masks, drawn = agreed(4), random.Random(2)
    values = [array("i", [drawn.randrange(-3000, 3000) for _ in range(1001)]) for _ in masks]
    wanted = [round(sum(column) / 4 + 1e-9) for column in zip(*values)]
    sent = [list(struct.unpack("<1001i", each.masked(array("i", own)))) for each, own in zip(masks, values)]
    assert np.abs(np.array(masked(sent, [1] * 4)) - wanted).max() <= 1
    for one, own in zip(sent, values):
        words = np.array(one, "int64") & 0xFFFFFFFF
        assert abs(np.corrcoef(words, own)[0, 1]) < 0.15
        bits = np.unpackbits(words.astype("<u4").view("uint8"))
        assert abs(bits.mean() - 0.5) < 0.02
    other = agreed(4, 2)[0].masked(array("i", values[0]))
    assert bytes(other) != struct.pack("<1001i", *sent[0])


def test_what_is_too_large_stays_on_the_node():
    values = array("i", [1 << 24, -(1 << 24), 5])
    agreed(3)[0].masked(values)
    assert list(values) == [1 << 23, -(1 << 23), 0]


def test_keys_are_checked():
    one, others = secret.Masks(), [secret.Masks().public for _ in range(2)]
    keys = [one.public, *others]
    head = struct.pack("<IB", 1, 0)
    for body in (
        head + b"".join(keys[:2]), head + b"".join(keys)[:-1], head + b"".join(keys * 6),
        struct.pack("<IB", 1, 1) + b"".join(keys), struct.pack("<IB", 1, 3) + b"".join(keys),
        head + keys[0] + others[0] * 2, head + keys[0] + others[0] + bytes(32),
    ):  # fmt: skip
        with pytest.raises(ValueError, match="key"):
            one.agree(body)
    assert one.round == 0
    one.agree(head + b"".join(keys))
    assert one.round == 1


def private(number):
    return Node(network(), *samples(number), name="corner %d" % number, secret=True)


def test_a_secret_fleet_has_the_model_of_one_without_masks():
    """Nodes have equally many samples here, so that a mean that weighs nodes alike is the usual one."""
    plain = Fleet(network(), [Twin(node(number)) for number in range(4)], "whole")
    hidden = Fleet(network(), [Twin(private(number)) for number in range(4)], "whole", secret=True)
    for _ in range(3):
        assert hidden.run_round().digest == plain.run_round().digest


def test_masked_random_entries_are_those_of_the_whole_update_and_no_others():
    """After a round each entry is that of a fleet that sends all of them, or as it was."""
    begin = Fleet(network(), [], "whole").weights
    plain = Fleet(network(), [Twin(node(number)) for number in range(3)], "whole")
    hidden = Fleet(network(), [Twin(private(number)) for number in range(3)], "random", 0.25, secret=True)
    plain.run_round()
    parts = hidden.run_round().parts.values()
    assert [part.size for part in parts] == [4 * 27] * 3  # a quarter of 108
    sent = [here != before for here, before in zip(hidden.weights, begin)]
    assert 20 <= sum(sent) <= 27
    assert [here for here, taken in zip(hidden.weights, sent) if taken] == [
        there for there, taken in zip(plain.weights, sent) if taken
    ]


def test_a_private_node_sends_nothing_without_masks():
    nodes = [Twin(private(number)) for number in range(3)]
    with pytest.raises(FleetError, match="this node sends masked updates alone"):
        Fleet(network(), nodes, "whole").run_round()
    with pytest.raises(FleetError, match="round 1: 2 nodes, masks need 3 to 15"):
        Fleet(network(), nodes[:2], "whole", secret=True).run_round()
    for options in ({"form": "int8"}, {"form": "whole", "combine": "median"}):
        with pytest.raises(ValueError, match="secret is of form whole or random, and combine mean"):
            Fleet(network(), nodes, secret=True, **options)


class Failing(Twin):
    """Does not answer requests of one kind."""

    def __init__(self, node, kind):
        super().__init__(node)
        self.kind = kind

    def write(self, data):
        frame = frames.unpack(data[1:-1])
        if frame[0] != self.kind:
            super().write(data)


@pytest.mark.parametrize("kind", [frames.KEY, frames.MASK])
def test_a_node_that_fails_before_the_round_is_left_out_of_the_masks(kind):
    links = [Twin(private(number)) for number in range(3)] + [Failing(private(3), kind)]
    hidden = Fleet(network(), links, "whole", secret=True, timeout=0.3)
    plain = Fleet(network(), [Twin(node(number)) for number in range(3)], "whole")
    assert hidden.run_round().digest == plain.run_round().digest


def test_a_node_that_fails_within_the_round_makes_it_void():
    links = [Twin(private(number)) for number in range(3)] + [Failing(private(3), frames.GET)]
    hidden = Fleet(network(), links, "whole", secret=True, timeout=0.3)
    before = hidden.digest()
    with pytest.raises(FleetError, match="round 1 is void, masks do not cancel:\ncorner 3: no answer"):
        hidden.run_round()
    assert hidden.digest() == before
    links[3].kind = None
    assert hidden.run_round().number == 2
