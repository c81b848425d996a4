"""Secure aggregation: masks on updates, which cancel in the sum of all nodes (Bonawitz et al., 2017).

Each pair of nodes agrees on a secret by X25519 (RFC 7748) over the PC, which sees public keys alone. From it and the
round's number both make the same random words (SHA-256 over a counter); one adds them, the other subtracts them, modulo
2^32. What the PC receives of one node is uniformly random to it; of all nodes the sum is exact. Assumed: a PC that
follows the protocol (it could send keys of its own for other nodes'), and one more node at least that does not give it
its secrets. A node that drops out after it was counted makes the round void: its masks are not recovered.
"""

import hashlib
import os
import struct

from ..base.regions import const

if 1 - 1:  # for type checkers alone
    from array import array

LEAST = const(3)  # nodes: of two, each would know the other's update
MOST = const(15)  # nodes, whose keys fit a frame
BOUND = const(1 << 23)  # of a masked number, 8.0: the sum of 15 fits an int32
_KEY = const(32)
_PRIME = (1 << 255) - 19
_A24 = const(121665)
_BASE = b"\x09" + bytes(31)


def x25519(secret: "bytes", point: "bytes") -> "bytes":
    """The function X25519 of RFC 7748: 32 bytes of two of 32 bytes. Not of constant time."""
    scalar = int.from_bytes(secret, "little")
    scalar = scalar >> 3 << 3 & (1 << 254) - 1 | 1 << 254
    x1 = int.from_bytes(point, "little") & (1 << 255) - 1
    x2, z2, x3, z3, swapped = 1, 0, x1, 1, 0
    for place in range(254, -1, -1):
        bit = scalar >> place & 1
        if bit != swapped:
            x2, z2, x3, z3 = x3, z3, x2, z2
            swapped = bit
        a, b, c, d = x2 + z2, x2 - z2, x3 + z3, x3 - z3
        aa, bb, da, cb = a * a % _PRIME, b * b % _PRIME, d * a % _PRIME, c * b % _PRIME
        e = aa - bb
        x3, z3 = (da + cb) * (da + cb) % _PRIME, x1 * ((da - cb) * (da - cb) % _PRIME) % _PRIME
        x2, z2 = aa * bb % _PRIME, e * (aa + _A24 * e) % _PRIME
    if swapped:
        x2, z2 = x3, z3
    inverse, power = 1, _PRIME - 2  # MicroPython's pow() takes two arguments
    while power:
        if power & 1:
            inverse = inverse * z2 % _PRIME
        z2 = z2 * z2 % _PRIME
        power >>= 1
    return (x2 * inverse % _PRIME).to_bytes(_KEY, "little")


class Masks:
    """A node's key pair, new after each start, and the masks of the round that was agreed on last."""

    def __init__(self) -> None:
        self._secret = os.urandom(_KEY)
        self.public = x25519(self._secret, _BASE)
        self.round = 0
        self._own = 0
        self._keys = ()
        self._seeds = {}  # by public key

    def agree(self, body: "bytes") -> None:
        """Take a round's number (4 bytes), this node's place (1 byte), and all public keys in their order.

        ValueError for fewer than three nodes or more than 15, for keys that are not different, and where this node's is
        not at its place; nothing has changed then.
        """
        count = (len(body) - 5) // _KEY
        if len(body) != 5 + _KEY * count or not LEAST <= count <= MOST:
            raise ValueError("%d bytes are no keys of %d to %d nodes" % (len(body), LEAST, MOST))
        number, own = struct.unpack_from("<IB", body)
        keys = [bytes(body[at : at + _KEY]) for at in range(5, len(body), _KEY)]
        if own >= count or keys[own] != self.public or len(set(keys)) < count:
            raise ValueError("the keys of round %d are not of different nodes, or not this one's" % number)
        seeds = {}
        for key in keys:
            if key != self.public:
                seeds[key] = self._seeds.get(key) or self._seed(key)
        self.round, self._own, self._keys, self._seeds = number, own, keys, seeds

    def _seed(self, key):
        shared = x25519(self._secret, key)
        if shared == bytes(_KEY):
            raise ValueError("a public key of small order")
        return hashlib.sha256(shared).digest()

    def masked(self, values: "array[int]") -> "bytearray":
        """The bytes of an update, int32 words, masked; what is beyond 8.0 stays in ``values``, and nothing else."""
        out = bytearray(4 * len(values))
        for index in range(len(values)):
            value = max(-BOUND, min(BOUND, values[index]))
            values[index] -= value
            struct.pack_into("<i", out, 4 * index, value)
        for place, key in enumerate(self._keys):
            if place == self._own:
                continue
            for block in range((len(values) + 7) // 8):
                text = self._seeds[key] + struct.pack("<II", self.round, block)
                words = struct.unpack("<8I", hashlib.sha256(text).digest())
                for index in range(8 * block, min(8 * block + 8, len(values))):
                    mask = words[index & 7]
                    word = struct.unpack_from("<I", out, 4 * index)[0]
                    word = word + mask if self._own < place else word - mask
                    struct.pack_into("<I", out, 4 * index, word & 0xFFFFFFFF)
        return out
