"""What a board sends of an update: whole numbers, int8 with error feedback, its largest entries, or random ones.

``values`` is an array('i') of the update in units of 2^-20, to which what was not sent before is added already. What is
not sent now stays in it (error feedback: Seide et al., 2014; of the largest entries: Stich et al., 2018).
odt.host.fleet reads what is written here. All arithmetic is of integers.
"""

from array import array

from ..base.fixed import bit_length, hash32
from ..base.primitives import order
from ..base.regions import const

if 1 - 1:  # for type checkers alone
    from collections.abc import Iterator

WHOLE = const(0)  # int32 words
INT8 = const(1)  # of each array: a shift (one byte), and int8 numbers in units of 2^(shift - 20)
TOP = const(2)  # a shift, then of each entry that is sent its distance from the one before, and an int8 number
RANDOM = const(
    3
)  # a shift, then int8 numbers: of the entries that the round's number chooses, whose places are not sent
WORDS = const(4)  # of these entries int32 words: secret.py masks them
FORMS = const(5)
_FAR = const(255)  # a distance that says: so far without an entry
_DEEP = const(4)  # bits of a magnitude below its first that the choice of the largest looks at


def encode(
    form: "int",
    values: "array[int]",
    sizes: "array[int]",
    entries: "int",
    trend: "array[int] | None" = None,
    number: "int" = 0,
) -> "bytearray":
    """The bytes of an update; what they do not hold stays in ``values``.

    sizes: of each shared array, how many numbers; entries: how many TOP, RANDOM and WORDS send; trend: what the
    momentum of TOP keeps, which ends where an entry is sent (Lin et al., 2018); number: the round's, for RANDOM and
    WORDS.
    """
    if form >= RANDOM:
        return _random(form, values, entries, number)
    if form == WHOLE:
        out = bytearray(values)
        for index in range(len(values)):
            values[index] = 0
        return out
    if form == TOP:
        return _top(values, entries, trend)
    out = bytearray(len(values) + len(sizes))
    at = first = 0
    for size in sizes:
        largest = 0
        for index in range(first, first + size):
            largest = max(largest, abs(values[index]))
        shift = out[at] = _shift(largest)
        at += 1
        for index in range(first, first + size):
            number = _rounded(values[index], shift)
            out[at] = number & 255
            values[index] -= number << shift
            at += 1
        first += size
    return out


def chosen(number: "int", count: "int", entries: "int") -> "Iterator[int]":
    """Yield the places that a round sends of ``count`` numbers, the same on each node: at most ``entries``, each once.

    Random masks from a shared seed: Konecny et al. (2016).
    """
    key = hash32(number, count) | 1
    for index in range(min(entries, count)):
        yield order(index, count, key)


def _random(form, values, entries, number):
    part = array("i", [values[place] for place in chosen(number, len(values), entries)])
    if form == WORDS:
        out, shift = bytearray(part), 0
    else:
        shift = _shift(max([0] + [abs(value) for value in part]))
        out = bytearray((shift,))
    for index, place in enumerate(chosen(number, len(values), entries)):
        sent = part[index]
        if form == RANDOM:
            sent = _rounded(sent, shift)
            out.append(sent & 255)
        values[place] -= sent << shift
    return out


def _shift(largest):
    """The least s such that numbers up to ``largest``, divided by 2^s and rounded, are in -127..127."""
    shift = max(0, bit_length(largest) - 7)
    return shift if _rounded(largest, shift) < 128 else shift + 1


def _rounded(value, shift):
    """value / 2^shift, to nearest, half up; -127 at least."""
    return max(-127, value + (1 << shift >> 1) >> shift)


def _bucket(magnitude):
    """A number that grows with the magnitude: of its length in bits, and the bits below its first."""
    length = bit_length(magnitude)
    below = magnitude >> length - 1 - _DEEP if length > _DEEP else magnitude << _DEEP + 1 - length
    return (length << _DEEP) + (below & (1 << _DEEP) - 1)


def _top(values, entries, trend):
    """The ``entries`` largest magnitudes, within 1/16; of the smallest of these the first are taken. Zeros are not."""
    counts = array("I", bytes(4 * (33 << _DEEP)))
    largest = 0
    for value in values:
        if value:
            counts[_bucket(abs(value))] += 1
            largest = max(largest, abs(value))
    least, left = len(counts), entries  # buckets from ``least`` on are sent whole; of the one below ``left`` entries
    while least and left >= counts[least - 1]:
        least -= 1
        left -= counts[least]
    shift = _shift(largest)
    out = bytearray((shift,))
    last = -1
    for index in range(len(values)):
        value = values[index]
        if not value:
            continue
        bucket = _bucket(abs(value))
        if bucket < least - 1 or bucket < least and not left:
            continue
        if bucket < least:
            left -= 1
        number = _rounded(value, shift)
        if not number:
            continue
        distance = index - last
        while distance >= _FAR:
            out.append(_FAR)
            distance -= _FAR
        out.append(distance)
        out.append(number & 255)
        values[index] -= number << shift
        if trend is not None:
            trend[index] = 0
        last = index
    return out


def limit(values: "array[int]", most: "int") -> None:
    """Limit what stays to -most..most: then no sum leaves an int32."""
    for index in range(len(values)):
        value = values[index]
        if value > most or value < -most:
            values[index] = most if value > 0 else -most
