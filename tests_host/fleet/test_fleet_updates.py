"""Updates of a fleet: what is sent and what stays are together what was learnt, to the bit."""

from array import array

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from odt.fleet import updates
from odt.host.fleet import sums
from odt.host.fleet.updates import NAMES, decode, longest

NUMBERS = st.integers(-(1 << 30), 1 << 30) | st.integers(-300, 300) | st.just(0)


def coded(form, values, sizes, entries=5, trend=None):
    """(what the PC reads, what stays, bytes)"""
    values = array("i", values)
    data = bytes(updates.encode(NAMES[form], values, array("I", sizes), entries, trend))
    assert len(data) <= longest(NAMES[form], sizes, entries)
    return decode(NAMES[form], data, sizes, entries), list(values), len(data)


@pytest.mark.parametrize("form", NAMES)
@given(values=st.lists(NUMBERS, min_size=3, max_size=900), split=st.integers(1, 2), entries=st.integers(1, 40))
def test_nothing_is_lost(form, values, split, entries):
    found, left, _ = coded(form, values, [split, len(values) - split], entries)
    assert (np.array(found, "int64") + np.array(left, "int64")).tolist() == values


@given(values=st.lists(NUMBERS, min_size=1, max_size=300))
def test_int8_is_within_one_and_a_half_steps_of_255_of_the_range(values):
    _, left, size = coded("int8", values, [len(values)])
    assert size == len(values) + 1
    assert np.abs(np.array(left)).max() <= max(0, np.abs(np.array(values)).max() / 127)


@given(values=st.lists(NUMBERS, min_size=1, max_size=900), entries=st.integers(1, 60))
def test_top_sends_the_largest(values, entries):
    found, left, _ = coded("top", values, [len(values)], entries)
    sent = np.flatnonzero(found)
    assert len(sent) <= entries
    magnitudes = np.sort(np.abs(np.array(values, "int64")))[::-1]
    least = magnitudes[min(entries, len(values)) - 1]
    assert (np.abs(np.array(values, "int64"))[sent] * 17 >= least * 16).all()  # within 1/16 of the k-th largest
    unsent = np.abs(np.delete(np.array(values, "int64"), sent))
    step = magnitudes[0] / 127  # less than half of it is sent as 0
    assert not len(unsent) or unsent.max() <= max(least * 17 / 16, step)


def test_the_distance_between_entries_has_no_limit():
    values = [0] * 2000
    for index in (0, 254, 255 + 254, 3 * 255 + 254 + 1, 1999):
        values[index] = 5000 - index
    found, left, size = coded("top", values, [2000])
    assert np.flatnonzero(found).tolist() == np.flatnonzero(values).tolist()
    assert size == 1 + 2 * 5 + 1 + 2 + 3  # 255, 511 and 979 are one, two and three times 255, and a rest


@given(count=st.integers(1, 700), entries=st.integers(1, 800), number=st.integers(1, 1 << 32))
def test_random_entries_are_each_there_once_and_others_in_another_round(count, entries, number):
    places = list(updates.chosen(number & 0xFFFFFFFF, count, entries))
    assert len(places) == len(set(places)) == min(entries, count) and 0 <= min(places) <= max(places) < count
    if 20 < entries < count - 20:
        assert places != list(updates.chosen(number + 1 & 0xFFFFFFFF, count, entries))


def test_random_entries_reach_all_weights_alike():
    """Of 1000 rounds of 50 of 200 each weight is in 250 +- 13.7 (binomial): none beyond five deviations."""
    counts = np.zeros(200)
    for number in range(1, 1001):
        counts[list(updates.chosen(number, 200, 50))] += 1
    assert np.abs(counts - 250).max() < 5 * 13.7


def test_momentum_ends_where_an_entry_is_sent():
    trend = array("i", [7, 7, 7, 7])
    coded("top", [0, 1000, -3, 900], [4], 2, trend)
    assert list(trend) == [7, 0, 7, 0]


def test_words_of_random_entries_lose_nothing_and_are_int32():
    values = array("i", range(-5000, 5000, 100))
    before = np.array(values)
    data = updates.encode(updates.WORDS, values, array("I", [100]), 30, None, 7)
    found = decode(updates.WORDS, data, [100], 30, 7)
    assert len(data) == longest(updates.WORDS, [100], 30) == 120
    assert np.flatnonzero(np.array(values) == 0).size >= 30 and (np.array(found) + np.array(values) == before).all()


@pytest.mark.parametrize("form", NAMES)
@given(data=st.binary(max_size=60), sizes=st.lists(st.integers(1, 9), min_size=1, max_size=4))
def test_any_bytes_are_an_update_of_that_length_or_refused(form, data, sizes):
    try:
        found = decode(NAMES[form], data, sizes, 4)
    except ValueError:
        return
    assert len(found) == sum(sizes) and all(-(1 << 31) <= value < 1 << 31 for value in found)


@pytest.mark.parametrize(
    "form, data, says", [
        ("whole", b"1234567", "7 bytes, expected 8"), ("int8", b"1", "1 bytes, expected 3"),
        ("int8", b"\x1912", "units of 2"), ("top", b"", "0 bytes"), ("top", b"\x02\x01", "ends within"),
        ("top", b"\x02\x03\x01", "entry 2 of 2"), ("top", b"\x02\xff\x01\x01", "of 2"),
        ("top", b"\x02\x01\x01\x00\x05", "entry 0 of 2"), ("random", b"\x02\x01", "2 bytes, expected 3"),
        ("random", b"\x1a12", "units of 2"),
    ],
)  # fmt: skip
def test_other_bytes_are_refused_with_what_was_expected(form, data, says):
    with pytest.raises(ValueError, match=says):
        decode(NAMES[form], data, [2], 4)


COLUMNS = st.integers(1, 9).flatmap(
    lambda count: st.lists(
        st.lists(st.integers(-(1 << 30), 1 << 30), min_size=3, max_size=3), min_size=count, max_size=count
    )
)


@given(updates=COLUMNS, data=st.data(), combine=st.sampled_from(sorted(sums.SUMS)))
def test_no_order_changes_a_sum(updates, data, combine):
    order = data.draw(st.permutations(range(len(updates))))
    samples = [1 + 3 * number for number in range(len(updates))]
    found = sums.SUMS[combine](updates, samples)
    assert sums.SUMS[combine]([updates[n] for n in order], [samples[n] for n in order]) == found


@settings(deadline=None)  # it imports SciPy
@given(updates=COLUMNS)
def test_sums_are_those_of_numpy_and_scipy(updates):
    from scipy.stats import trim_mean

    samples = [5 + 3 * number for number in range(len(updates))]
    columns = np.array(updates, "float64")  # exact: 2^30 times 9 has 34 bits
    assert np.abs(np.average(columns, 0, samples) - sums.mean(updates, samples)).max() <= 0.5 + 1e-6
    assert np.abs(np.median(columns, 0) - sums.median(updates, samples)).max() <= 0.5
    if len(updates) in (5, 7):
        cut = 1 / len(updates) + 1e-9
        assert np.abs(trim_mean(columns, cut, 0) - sums.trimmed(updates, samples, 1)).max() <= 0.5 + 1e-6


def test_krum_leaves_out_what_lies_far_away():
    good = [[100 + n, -50 - n, n] for n in range(8)]
    liars = [[-100000, 5, 5], [7, 7, 99999]]
    mean = np.mean(good, 0)
    assert np.abs(np.array(sums.krum(good[:4] + liars + good[4:], [1] * 10)) - mean).max() <= 0.5


def test_a_cut_that_leaves_nothing_is_refused():
    with pytest.raises(ValueError, match="of 4 updates 2 cannot be cut"):
        sums.trimmed([[1]] * 4, [1] * 4, 2)


@pytest.mark.parametrize(
    "nodes, liars, name, withstands",
    [(3, None, "median", 1), (4, 1, "median", 1), (5, None, "krum", 1), (10, None, "krum", 1), (10, 3, "krum", 3),
     (10, 4, "median", 4), (40, None, "krum", 4), (64, None, "krum", 6), (65, None, "trimmed", 6),
     (1000, None, "trimmed", 100)],
)  # fmt: skip
def test_robust_withstands_what_it_says(nodes, liars, name, withstands):
    """Liars that send the same far away, whatever it is, do not move the sum out of the others' range."""
    robust = sums.Robust(nodes, liars)
    assert (robust.name, robust.liars) == (name, withstands) and str(robust).startswith(name + " withstands ")
    honest = [[100 + n % 7, -50 - n % 5] for n in range(nodes - withstands)]
    for lie in ([10**6, 10**6], [-(10**8), 3], [10**6, -50]):
        found = robust(honest + [lie] * withstands, [10**9] * nodes)
        assert all(min(column) <= value <= max(column) for value, column in zip(found, zip(*honest)))


def test_robust_of_scalars_is_the_median_and_of_fewer_updates_it_still_sums():
    assert sums.Robust(30, scalars=True).name == "median" and sums.Robust(30, scalars=True).liars == 14
    for nodes in (3, 12, 80):
        robust = sums.Robust(nodes)
        assert [len(robust([[1, 2]] * count, [1] * count)) for count in range(1, 5)] == [2] * 4


@pytest.mark.parametrize("nodes, liars", [(1, None), (2, None), (4, 2), (9, 5), (5, 0)])
def test_what_no_sum_withstands_is_refused(nodes, liars):
    with pytest.raises(
        ValueError, match="fewer liars than half of the nodes, got %d of %d" % (1 if liars is None else liars, nodes)
    ):
        sums.Robust(nodes, liars)
