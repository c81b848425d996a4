"""Readers give what the arrays gave; their RAM does not grow; what is damaged is refused by name."""

import re
import struct
import tracemalloc
from array import array as buffer
from fractions import Fraction

import numpy as np
import pytest

import odt
from odt.continual import Reservoir
from odt.data import Column, CsvReader, Normalizer, NpyReader, RawReader
from odt.data.readers import parse

RANDOM = np.random.default_rng(2)
X = RANDOM.normal(size=(45, 5)).astype("float32")
Y = RANDOM.integers(0, 3, 45).astype("uint8")
DTYPES = ("int8", "float32")


def network(dtype="int8", kind="float32", loss="sparse_categorical_crossentropy"):
    model = odt.Sequential([odt.Input((5,), kind), odt.Dense(6, "relu"), odt.Dense(3)])
    model.compile(odt.Adam(0.01), loss, dtype=dtype, batch_size=4, seed=1)
    return model


def trained(*data, dtype="int8", kind="float32", **options):
    model = network(dtype, kind, options.pop("loss", "sparse_categorical_crossentropy"))
    history = model.fit(*data, epochs=2, verbose=0, **options).history
    return model.digest(), history


def npy(tmp_path, x=X, y=Y):
    np.save(tmp_path / "x.npy", x)
    np.save(tmp_path / "y.npy", y)
    return str(tmp_path / "x.npy"), str(tmp_path / "y.npy")


def csv(tmp_path, x=X, y=Y, heading="a,b,c,d,e,label\n", end="\n"):
    path = tmp_path / "data.csv"
    rows = [",".join([repr(float(v)) for v in row] + [str(label)]) for row, label in zip(x, y)]
    path.write_text(heading + end.join(rows) + end)
    return str(path)


def raw(tmp_path):
    """Records of a label, 5 floats, and a byte that is nothing."""
    path = tmp_path / "data.bin"
    records = [bytes([label]) + row.tobytes() + b"?" for row, label in zip(X, Y)]
    path.write_bytes(b"HEAD" + b"".join(records))
    return Column(str(path), "float32", 5, 5, 22), Column(str(path), "uint8", 1, 4, 22)


@pytest.mark.slow
@pytest.mark.parametrize("shuffle", (True, False))
@pytest.mark.parametrize("dtype", DTYPES)
def test_every_reader_trains_to_the_digest_of_the_arrays(dtype, shuffle, tmp_path):
    expected = trained(X, Y, dtype=dtype, shuffle=shuffle, validation_data=(X[:9], Y[:9]))
    x, y = npy(tmp_path)
    held = NpyReader(*npy_held(tmp_path), batch_size=4)
    for reader in (
        NpyReader(x, y, 4), NpyReader(x, list(Y), 4), RawReader(*raw(tmp_path), batch_size=4),
        CsvReader(csv(tmp_path), 4),
    ):  # fmt: skip
        assert trained(reader, dtype=dtype, shuffle=shuffle, validation_data=held) == expected
        reader.close()
        assert trained(reader, dtype=dtype, shuffle=shuffle, validation_data=held) == expected


def npy_held(tmp_path):
    folder = tmp_path / "held"
    folder.mkdir()
    return npy(folder, X[:9], Y[:9])


@pytest.mark.slow
@pytest.mark.parametrize("kind", ("int8", "uint8", "int16", "int32"))
def test_integers_stay_what_they_are(kind, tmp_path):
    x = RANDOM.integers(0, 100, (45, 5)).astype(kind)
    for labels in ("uint8", "int8", "int16", "int32"):
        reader = NpyReader(*npy(tmp_path, x, Y.astype(labels)), batch_size=4)
        assert trained(reader, kind=kind) == trained(x, Y, kind=kind)


@pytest.mark.slow
def test_what_numpy_makes_when_it_is_not_asked_is_read_as_32_bits(tmp_path):
    exponents = RANDOM.integers(-50, 30, (45, 5))
    x = RANDOM.normal(size=(45, 5)) * 2.0**exponents
    # at the middle of two float32 and next to it: even and odd below, and where the next one is a power of two
    below = X[20:].view("uint32") | np.repeat(np.uint32([0, 1, 0x7FFFFF, 0, 0]), 5)[:, None]
    middle = below.view("float32").astype("float64").view("uint64") | 1 << 28
    x[20:] = (middle + RANDOM.integers(-1, 2, (25, 5)).astype("uint64")).view("float64")
    x[20:25], x[25:30] = middle[:5].view("float64"), middle[5:10].view("float64")
    read = [(np.array(a), np.array(b)) for a, b in NpyReader(*npy(tmp_path, x, Y.astype("int64")), batch_size=4)]
    assert np.concatenate([a for a, _ in read]).tobytes() == x.astype("float32").tobytes()
    assert np.concatenate([b for _, b in read]).tolist() == Y.tolist()
    assert trained(NpyReader(*npy(tmp_path, x, Y == 1), batch_size=4)) == trained(
        x.astype("float32"), (Y == 1).astype("uint8")
    )
    special = np.array([[0.0, -0.0, 1e-320, 2.0**-140, -1e-45]] * 45)
    assert {bytes(a) for a, _ in NpyReader(*npy(tmp_path, special), batch_size=1)} == {
        np.array([0.0, -0.0, 0.0, 0.0, -0.0], "float32").tobytes()
    }
    for value in (1e39, np.inf, np.nan):
        special[7, 2] = value
        with pytest.raises(ValueError, match="sample 3, element 2 is NaN or infinite"):
            trained(NpyReader(*npy(tmp_path, special), batch_size=4), shuffle=False)
    wide = np.array([-(2**31), 2**31 - 1, -1, 2**31, -(2**31) - 1])
    reader = NpyReader(*npy(tmp_path, X[:5], wide), batch_size=1)
    batches = iter(reader)
    assert [next(batches)[1][0] for _ in range(3)] == wide[:3].tolist()
    with pytest.raises(ValueError, match="y.npy: sample 3, element 0 does not fit into int32"):
        next(batches)


@pytest.mark.slow
def test_targets_are_read_too(tmp_path):
    t = RANDOM.normal(size=(45, 3)).astype("float32")
    expected = trained(X, t, loss="mse")
    assert trained(NpyReader(*npy(tmp_path, X, t), batch_size=4), loss="mse") == expected
    path = tmp_path / "t.csv"
    rows = [";".join(repr(float(v)) for v in [*row, 7, *target]) for row, target in zip(X, t)]
    path.write_text("\r\n".join(rows))
    reader = CsvReader(str(path), 4, targets=[-3, -2, -1], skip=[5], separator=";")
    assert trained(reader, loss="mse") == expected


@pytest.mark.parametrize("block", (1, 2, 3, 7, 45, 100))
@pytest.mark.parametrize("key", (0, 12345, 99))
def test_each_sample_is_read_once_whatever_the_block(block, key, tmp_path):
    x = np.arange(45, dtype="int32").repeat(5).reshape(45, 5)
    reader = NpyReader(*npy(tmp_path, x, Y), batch_size=4, block=block)
    reader.order = key
    seen = [(np.array(a)[::5].tolist(), np.array(b).tolist()) for a, b in reader]
    assert [len(a) for a, _ in seen] == [4] * 11 + [1]
    flat = sum((a for a, _ in seen), [])
    assert sorted(flat) == list(range(45)) and sum((b for _, b in seen), []) == Y[flat].tolist()
    assert (flat == list(range(45))) == (key == 0 or block >= 45)
    assert [a for a, _ in seen] == [np.array(a)[::5].tolist() for a, _ in reader]
    steps = [b - a for a, b in zip(flat, flat[1:])]
    assert steps.count(1) >= 45 - 1 - 45 / block


@pytest.mark.parametrize("index", (1, 2, 3, 8))
def test_a_csv_of_more_lines_than_places_is_read_once_in_blocks(index, tmp_path):
    x = np.arange(45, dtype="float32").repeat(5).reshape(45, 5)
    path = csv(tmp_path, x, end="\n\n")
    for key in (0, 77):
        reader = CsvReader(path, 4, index=index)
        reader.order = key
        flat = [int(v) for a, _ in reader for v in np.array(a)[::5]]
        assert sorted(flat) == list(range(45)) and (flat == sorted(flat)) == (key == 0 or index == 1)
        assert len(reader._places) <= 2 * index + 1 and len(reader) == 12


@pytest.mark.slow
def test_ram_does_not_depend_on_the_file(tmp_path):
    peaks = []
    for times in (10, 200):
        x, y = npy(tmp_path, X.repeat(times, 0), Y.repeat(times))
        path = csv(tmp_path, X.repeat(times, 0), Y.repeat(times))
        list(NpyReader(x, y, 4)), list(CsvReader(path, 4))
        tracemalloc.start()
        for reader in (NpyReader(x, y, 4, block=4), CsvReader(path, 4)):
            reader.order = 5
            for _ in reader:
                pass
            reader.close()
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < peaks[0] + 2000


# What is damaged


def test_bad_files_are_refused_by_name(tmp_path):
    x, y = npy(tmp_path)
    data = (tmp_path / "x.npy").read_bytes()
    for name, content, words in (
        ("magic", b"hello" + data[5:], "not an .npy"),
        ("empty", b"", "not an .npy"),
        ("cut", data[:-1], "shape (45, 5) 44 samples"),
        ("header", data[:128], "no sample"),
        ("no descr", data.replace(b"'descr'", b"'DESCR'"), "gives no descr"),
        ("no dtype", data.replace(b"'<f4'", b"''   "), "dtype , expected"),
        ("no shape", data.replace(b"(45, 5)", b"[45, 5]"), "gives no shape"),
        ("open shape", data.replace(b"5), }", b"5 , }"), "gives no shape"),
        ("no numbers", data.replace(b"(45, 5)", b"(4b, 5)"), "no shape: '4b, 5'"),
        ("below none", data.replace(b"(45, 5)", b"(-5, 5)"), "shape (-5, 5) holds no sample"),
        ("no extents", data.replace(b"(45, 5)", b"()     "), "shape () holds no sample"),
        ("no text", data.replace(b"'shape'", b"'\xff\xfea'"), "no text"),
    ):
        path = tmp_path / name
        path.write_bytes(content)
        with pytest.raises(ValueError) as error:
            NpyReader(str(path), y, 4)
        assert name in str(error.value) and all(word in str(error.value) for word in words.split())
    twice = data.replace(b"{'descr'", b"{'shape': (1,), 'descr'", 1).replace(b" " * 15 + b"\n", b"\n", 1)
    (tmp_path / "twice").write_bytes(twice)
    assert (
        len(twice) == len(data)
        and NpyReader(str(tmp_path / "twice"), y, 4).samples == np.load(tmp_path / "twice").shape[0]
    )
    for array, words in (
        (X.astype("float16"), "f2 astype float64"), (X.astype(">f4"), ">f4"), (np.asfortranarray(X), "Fortran"),
        (X[:44], "44 samples 45"),
    ):  # fmt: skip
        np.save(tmp_path / "other.npy", array)
        with pytest.raises(ValueError) as error:
            NpyReader(str(tmp_path / "other.npy"), y, 4)
        assert all(word in str(error.value) for word in words.split()), str(error.value)
    with pytest.raises(FileNotFoundError):
        NpyReader(x + "?", y, 4)
    with pytest.raises(ValueError, match="batch_size"):
        NpyReader(x, y, 0)
    with pytest.raises(ValueError, match="block"):
        NpyReader(x, y, 4, block=0)
    with pytest.raises(ValueError, match="stride"):
        Column(x, "float32", 5, 0, 19)
    for count in (0, 46, 4.0):
        with pytest.raises(ValueError, match="samples is in 1..45, got"):
            Column(x, "float32", 5, 128, samples=count)
    with pytest.raises(ValueError, match="dtype.*int12"):
        Column(x, "int12")
    with pytest.raises(TypeError, match="x is a Column"):
        RawReader(x, y, 4)


def test_a_part_of_a_file_trains_to_the_digest_of_that_part_of_the_arrays(tmp_path):
    """Records 10 to 29 of a file that goes on."""
    x, y = raw(tmp_path)
    x = Column(x.path, "float32", 5, 5 + 10 * 22, 22, samples=20)
    y = Column(y.path, "uint8", 1, 4 + 10 * 22, 22, samples=20)
    assert trained(RawReader(x, y, 4)) == trained(X[10:30], Y[10:30])


def test_a_file_that_shrinks_is_noticed(tmp_path):
    x, y = npy(tmp_path)
    reader = NpyReader(x, y, 4)
    with open(x, "r+b") as file:
        file.truncate(300)
    with pytest.raises(ValueError, match="x.npy ends within sample 8"):
        list(reader)


@pytest.mark.parametrize("line, words", (
    ("1,2,3,4,5", "line 47 has 5 columns, expected 6"),
    ("1,2,x,4,5,0", "line 47, column 2 is no number: 'x'"),
    ("1,2,nan,4,5,0", "line 47, column 2 is no number: 'nan'"),
    ("1,2,1e39,4,5,0", "column 2"),
    ("1,2,3,4,5,1.5", "line 47, column 5 is no whole number: '1.5'"),
    ("1,2,3,4,5," + 70000 * "1", "line 47 has more than 65536 bytes"),
))  # fmt: skip
def test_a_bad_line_of_a_csv_is_refused_with_its_place(line, words, tmp_path):
    path = csv(tmp_path)
    with open(path, "a") as file:
        file.write(line + "\n")
    with pytest.raises(ValueError) as error:
        list(CsvReader(path, 4))
    assert words in str(error.value) and path in str(error.value)


def test_bad_columns_of_a_csv_are_refused(tmp_path):
    path = csv(tmp_path)
    for options, word in (
        ({"label": 6}, "label"),
        ({"skip": [0, 1, 2, 3, 4]}, "no feature"),
        ({"targets": [9]}, "targets"),
    ):
        with pytest.raises(ValueError, match=word):
            CsvReader(path, 4, **options)
    (tmp_path / "empty.csv").write_text("a,b\n")
    with pytest.raises(ValueError, match="no line of numbers"):
        CsvReader(str(tmp_path / "empty.csv"), 4)


# Numbers


def test_decimals_become_the_nearest_float32():
    def near(text):
        guess = np.float32(text)  # by way of a double: maybe a neighbour
        near = [guess, np.nextafter(guess, np.float32(-9e37)), np.nextafter(guess, np.float32(9e37))]
        bits = [struct.unpack("<I", struct.pack("<f", value))[0] for value in near]
        exact = Fraction(text.strip())
        return min((abs(Fraction(float(v)) - exact), b & 1, b) for v, b in zip(near, bits))[2]

    texts = ["0", "1", "+1.5", " 3.14159 ", "-2e-3", "1E5", ".5", "16777217", "16777219", "33554435",
             "3.4028234e38", "1.17549435e-38", "0.1", "1e-30", "9007199791611905", "0.000000000000000000001",
             "0" * 60 + "5", "0" * 60 + "5e3", "00.5", "0." + "0" * 60 + "25e59"]  # fmt: skip
    texts += [repr(float(v)) for v in RANDOM.normal(size=300) * 10.0 ** RANDOM.integers(-30, 30, 300)]
    texts += ["%.9g" % v for v in RANDOM.normal(size=300)]
    for text in texts:
        assert parse(text) == near(text), text
    assert (parse("-0"), parse("5."), parse("1e-60")) == (0x80000000, 0x40A00000, 0)
    for text in (
        "",
        ".",
        "-",
        "nan",
        "inf",
        "1e",
        "e5",
        "0x10",
        "1 2",
        "1e40",
        "3.5e38",
        "--1",
        "1e  1",
        "1e1_0",
        "1_0",
    ):
        with pytest.raises(ValueError):
            parse(text)


def test_a_sample_that_is_no_number_is_named_and_teaches_the_normalizer_nothing():
    x = RANDOM.normal(size=(20, 5)).astype("float32")
    normalizer = Normalizer(5)
    normalizer.update(x)
    before = normalizer.to_bytes()
    for bad, error, words in (
        (np.nan, ValueError, "x: sample 3, feature 2: nan"), (np.inf, ValueError, "sample 3, feature 2: inf"),
        (-np.inf, ValueError, "sample 3, feature 2"),
        (1e30, ValueError, "sample 3, feature 2"),
    ):  # fmt: skip
        wrong = x.copy()
        wrong[3, 2] = bad
        for data in (wrong, wrong.ravel(), wrong.ravel().tolist(), buffer("f", wrong.ravel())):
            with pytest.raises(error, match=words):
                normalizer.update(data)
    for wrong in (x.T, x.reshape(-1, 4), x.ravel()[:7], x.reshape(2, 10, 5)):
        with pytest.raises(ValueError, match="^x: "):
            normalizer.update(wrong)
        with pytest.raises(ValueError, match="^x: "):
            normalizer.apply(wrong.copy())
    with pytest.raises(TypeError):
        normalizer.update([1, 2, "3", 4, 5])
    assert normalizer.to_bytes() == before
    normalizer.update(x)
    assert np.array(normalizer.mean) == pytest.approx(x.mean(0), abs=1e-5) and normalizer.count == 40


def test_a_file_of_records_names_what_reads_it(tmp_path):
    records = np.zeros(9, [("y", "u1"), ("x", "<i2", (3,)), ("t", "<f4")])
    records["y"], records["x"] = np.arange(9) % 2, np.arange(27).reshape(9, 3)
    path = str(tmp_path / "r.npy")
    np.save(path, records)
    with pytest.raises(ValueError, match=r"r.npy: records of fields, from byte \d+ on: RawReader\(Column") as error:
        NpyReader(path, [0] * 9, 4)
    begin = int(re.search(r"byte (\d+)", str(error.value)).group(1))
    size = records.dtype.itemsize
    x = Column(path, "int16", 3, begin + records.dtype.fields["x"][1], size)
    read = [(list(a), list(b)) for a, b in RawReader(x, Column(path, "uint8", 1, begin, size), 9)]
    assert read == [(list(range(27)), [k % 2 for k in range(9)])]


def test_samples_of_16_bits_are_read(tmp_path):
    x = RANDOM.integers(0, 65536, (45, 5)).astype("uint16")
    assert trained(NpyReader(*npy(tmp_path, x), 4), kind="uint16") == trained(x, Y, kind="uint16")


def test_labels_of_16_bits_are_read(tmp_path):
    x, y = npy(tmp_path, y=Y.astype("uint16"))
    assert trained(NpyReader(x, y, 4)) == trained(X, Y)


def test_the_normalizer_learns_mean_and_deviation_in_one_pass(tmp_path):
    x = (RANDOM.normal(size=(500, 5)) * [1, 10, 0.01, 100, 0] + [0, 1000, 0, -5, 3]).astype("float32")
    normalizer = Normalizer(5)
    for at in range(0, 500, 7):
        normalizer.update(x[at : at + 7].ravel().tolist())
    assert normalizer.count == 500
    assert np.array(normalizer.mean) == pytest.approx(x.mean(0, dtype="float64"), rel=1e-4, abs=1e-4)
    assert [normalizer.deviation(k) for k in range(4)] == pytest.approx(x.std(0, dtype="float64")[:4], rel=1e-3)
    found = np.array(normalizer.apply(x.ravel().copy())).reshape(-1, 5)
    assert abs(found.mean(0)).max() < 1e-3 and found.std(0)[:4] == pytest.approx(1, abs=2e-3)
    assert (found[:, 4] == 0).all()
    again = Normalizer.from_bytes(normalizer.to_bytes())
    assert again.mean == normalizer.mean and again.deviation(1) == normalizer.deviation(1)
    for damaged in (b"", normalizer.to_bytes()[:-1]):
        with pytest.raises(ValueError, match="no Normalizer"):
            Normalizer.from_bytes(damaged)
    reader = NpyReader(
        *npy(tmp_path, x, RANDOM.integers(0, 3, 500)[:500].astype("uint8")), batch_size=64, normalizer=normalizer
    )
    assert np.concatenate([np.array(a) for a, _ in reader]) == pytest.approx(found.ravel(), abs=1e-6)
    with pytest.raises(ValueError, match="normalizer"):
        NpyReader(*npy(tmp_path), batch_size=4, normalizer=Normalizer(4))


@pytest.mark.parametrize("dtype, targets", (("uint8", None), ("float32", 2)))
def test_a_sample_that_raises_is_none_of_the_reservoirs(dtype, targets):
    """Nothing is counted, kept or overwritten, whichever number is bad: it then goes on as one that never saw it."""
    plain, tried = Reservoir(4, 3, dtype, targets, seed=2), Reservoir(4, 3, dtype, targets, seed=2)
    refused = 0
    for k in range(40):
        good = [k, k + 1, k + 2], [k, -k] if targets else k
        for bad in ("a", None, [1], 1 << 70 if dtype == "uint8" else 1j):
            for at in range(3):
                before = bytes(tried.x), bytes(tried.y), len(tried), tried.seen
                x = [bad if at == index else 200 for index in range(3)]
                y = ([200, bad] if targets else bad) if bad != [1] else [200] * 3
                for sample in ((x, good[1]), (good[0], y)):
                    seen = tried.seen
                    try:
                        assert tried.add(*sample) is None  # let go, before it was looked at
                        tried.seen = seen
                    except (TypeError, ValueError, OverflowError):
                        refused += 1
                    assert (bytes(tried.x), bytes(tried.y), len(tried), tried.seen) == before
        assert plain.add(*good) == tried.add(*good)
        assert bytes(plain.x) == bytes(tried.x) and bytes(plain.y) == bytes(tried.y) and len(plain) == len(tried)
    assert refused > 100


def test_a_sample_added_when_ctrl_c_comes_has_its_own_label_or_is_not_there():
    from interrupting import Interrupt

    for count in (2, 9):  # a new place, and one that is taken again
        at = 1
        while True:
            reservoir = Reservoir(4, 2, "int16", seed=3)
            for k in range(count):
                reservoir.add([k, k], k)
            before = bytes(reservoir.x), reservoir.seen
            with Interrupt(at) as it:
                reservoir.add([count, count], count)
            if not it.raised:
                break
            assert reservoir.x.tolist()[::2] == reservoir.x.tolist()[1::2] == reservoir.y.tolist()
            assert (bytes(reservoir.x) == before[0]) == (reservoir.seen == before[1])
            at += 1
        assert at > 20 and count in reservoir.y


def test_the_reservoir_is_uniform_seeded_and_trains():
    counts = np.zeros(40)
    for seed in range(400):
        reservoir = Reservoir(8, 1, "int16", seed=seed)
        for k in range(40):
            place = reservoir.add([k], k)
            assert place is None or 0 <= place < 8
        assert reservoir.x.tolist() == reservoir.y.tolist() and len(set(reservoir.y)) == 8
        counts[list(reservoir.y)] += 1
    # Binomial: 80 of 400 expected, standard deviation 8.
    assert abs(counts - 80).max() < 4.5 * 8
    ours = []
    for seed in (1, 1, 2):
        reservoir = Reservoir(16, 5, seed=seed)
        assert len(reservoir) == 0
        for row, label in zip(X, Y):
            reservoir.add(row, label)
        ours.append(bytes(reservoir.x) + bytes(reservoir.y))
    assert ours[0] == ours[1] != ours[2]
    assert trained(reservoir.x, reservoir.y)[1]["loss"][0] > 0
    with pytest.raises(ValueError, match="4 and 1 numbers, expected 5 and 1"):
        reservoir.add([1, 2, 3, 4], 0)
    with pytest.raises(ValueError, match="capacity"):
        Reservoir(0, 5)
