"""Reads the updates of odt.fleet.updates, which came over a line: nothing in them is trusted."""

import struct

from ...base.regions import const
from ...fleet.updates import FORMS, INT8, RANDOM, TOP, WHOLE, WORDS, chosen

_SHIFTS = const(32)
NAMES = {"whole": WHOLE, "int8": INT8, "top": TOP, "random": RANDOM}
assert len(NAMES) + 1 == FORMS  # WORDS is what is masked of RANDOM


def longest(form, sizes, entries):
    """Bytes that an update has at most."""
    count = sum(sizes)
    if form == WHOLE:
        return 4 * count
    if form >= RANDOM:
        return 4 * min(entries, count) if form == WORDS else 1 + min(entries, count)
    return count + len(sizes) if form == INT8 else 1 + 2 * min(entries, count) + count // 255


def decode(form, data, sizes, entries, number=0):
    """The update of a round as a list of integers in units of 2^-20, each in -2^31..2^31 - 1; ValueError for others."""
    count = sum(sizes)
    if form == WHOLE:
        if len(data) != 4 * count:
            raise ValueError("an update of %d bytes, expected %d" % (len(data), 4 * count))
        return list(struct.unpack("<%di" % count, data))
    if form == TOP:
        return _top(data, count, entries)
    if form >= RANDOM:
        return _random(form, data, count, entries, number)
    if len(data) != count + len(sizes):
        raise ValueError("an update of %d bytes, expected %d" % (len(data), count + len(sizes)))
    found, at = [], 0
    for size in sizes:
        shift = _shift(data[at])
        found += [(byte ^ 128) - 128 << shift for byte in data[at + 1 : at + 1 + size]]
        at += 1 + size
    return found


def _shift(byte):
    if byte >= _SHIFTS - 7:
        raise ValueError("an update in units of 2^%d" % byte)
    return byte


def _random(form, data, count, entries, number):
    expected = longest(form, (count,), entries)
    if len(data) != expected:
        raise ValueError("an update of %d bytes, expected %d" % (len(data), expected))
    if form == WORDS:
        numbers = struct.unpack("<%di" % (expected // 4), data)
    else:
        shift = _shift(data[0])
        numbers = [(byte ^ 128) - 128 << shift for byte in data[1:]]
    found = [0] * count
    for place, value in zip(chosen(number, count, entries), numbers):
        found[place] = value
    return found


def _top(data, count, entries):
    if not data:
        raise ValueError("an update of 0 bytes")
    shift = _shift(data[0])
    found, index, at, seen = [0] * count, -1, 1, 0
    while at < len(data):
        while at < len(data) and data[at] == 255:
            index += 255
            at += 1
        if at + 2 > len(data):
            raise ValueError("an update that ends within an entry")
        index += data[at]
        if not 0 <= index < count or (seen and not data[at] and data[at - 1] != 255):
            raise ValueError("an update with entry %d of %d" % (index, count))
        found[index] = (data[at + 1] ^ 128) - 128 << shift
        at += 2
        seen += 1
    if seen > entries:
        raise ValueError("an update of %d entries, asked for %d" % (seen, entries))
    return found
