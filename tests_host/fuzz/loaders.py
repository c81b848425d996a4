"""What Python reads and may be damaged, fuzzed by Atheris: ``python loaders.py TARGET [libFuzzer's options]``.

Whatever the bytes: a ValueError or OSError that leaves the model as it was, or something that holds.
"""

import io
import os
import struct
import sys

import atheris

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.dirname(HERE), os.path.dirname(os.path.dirname(HERE))]

with atheris.instrument_imports(include=["odt"]):
    import odt
    from odt import checkpoint, executor, readers, reference, slots

import numpy as np

X = [[0.0, 1.0], [1.0, 0.5], [0.25, 1.0], [0.5, -1.0], [0.75, 0.0]]
Y = [0, 2, 1, 0, 1]


def network():
    model = odt.Sequential([odt.Input((2,)), odt.Dense(4, "relu"), odt.Dense(3)])
    model.compile(odt.Adam(0.01), batch_size=2, seed=1)
    model.fit(X, Y, verbose=0)
    return model


class Files:
    """open() of files that are bytes."""

    def __init__(self, **files):
        self.files = files

    def open(self, path, mode="r"):
        if path not in self.files:
            raise FileNotFoundError(path)
        return io.BytesIO(self.files[path])


def condition(model):
    return model.digest(), model.epoch, model._underway, model._calibrated, model._steps


def load_or_refuse(model, place):
    """Load; a refusal leaves the model as before. What loads, trains on, is saved and loaded."""
    before = condition(model)
    try:
        model.load(place)
    except (ValueError, OSError):
        assert condition(model) == before
        return False
    loaded = condition(model)
    saved = slots.Bytes(bytearray(2 * (checkpoint.HEADER + len(model._state))))
    model.save(saved)
    model.load(saved)
    assert condition(model) == loaded
    try:
        model.fit(X, Y, epochs=min(model.epoch + 1, 1 << 20), initial_epoch=min(model.epoch, 1 << 20), verbose=0)
    except (ValueError, ArithmeticError):
        pass  # the epoch that was underway may have had more samples
    return True


def checkpoint_target():
    model = network()
    good = slots.Bytes(bytearray(4096))
    model.save(good)
    start = bytes(model._state)
    crc = executor.engine.crc32

    def test(data):
        if len(data) < 2:
            return
        kind, data = data[0], data[1:]
        if kind & 1 and len(data) >= checkpoint.HEADER:  # a writer that errs, not a disk: the CRC holds
            data = bytearray(data)
            if kind & 2:
                struct.pack_into("<4sIII", data, 0, b"ODTM", 2, crc(model._plan.code), len(start))
            head, state = bytes(data[:60]), bytes(data[64:])
            data = head + struct.pack("<I", crc(state, crc(head))) + state
        checkpoint.open = Files(**{"m": bytes(data)}).open
        model._take(start, 1)
        load_or_refuse(model, "m")

    return test


def slots_target():
    model = network()
    start = bytes(model._state)

    class Device:
        def __init__(self, size, data):
            self.size, self.data = size, bytearray(data)

        def ioctl(self, operation, argument):
            return {3: 0, 4: len(self.data) // self.size, 5: self.size}[operation]

        def readblocks(self, number, buffer):
            buffer[:] = self.data[number * self.size : (number + 1) * self.size]

        def writeblocks(self, number, buffer):
            assert 0 <= number < len(self.data) // self.size
            self.data[number * self.size : (number + 1) * self.size] = buffer

    def test(data):
        if len(data) < 4:
            return
        kind, size, data = data[0], (64, 128, 96, 512)[data[1] & 3], data[2:]
        model._take(start, 1)
        try:
            place = slots.Bytes(bytearray(data)) if kind & 1 else slots.Blocks(Device(size, data))
        except ValueError:
            return
        load_or_refuse(model, place)
        try:
            model.save(place)
        except ValueError:
            return  # too small
        digest = model.digest()
        model._take(start, 1)
        model.load(place)
        assert model.digest() == digest

    return test


def npy_target():
    def test(data):
        readers.open = Files(x=data, y=data).open
        try:
            reader = readers.NpyReader("x", "y", 3)
            if reader.samples * reader._x.column.row > 4096:
                return
            count = 0
            for x, y in reader:
                count += len(y) // reader._y.column.row
            assert count == reader.samples
        except (ValueError, OSError, MemoryError):
            return
        try:
            kept = np.load(io.BytesIO(data), allow_pickle=False)
        except Exception:
            return  # NumPy refuses more
        assert kept.shape[0] == reader.samples, (kept.shape, reader.samples)

    return test


def csv_target():
    def test(data):
        readers.open = Files(x=data).open
        try:
            reader = readers.CsvReader("x", 3, index=4)
            rows = [(list(x), list(y)) for x, y in reader]
        except (ValueError, OSError):
            return
        assert sum(len(y) for _, y in rows) == reader.samples
        if set(data) - {10, *range(32, 127)}:
            return  # what Python strips, and NumPy may not
        lines = [line for line in data[reader._start :].split(b"\n") if line.strip()]
        assert len(lines) == reader.samples
        first = lines[0].decode().strip().split(",")
        expected = [float(np.float32(word)) for word in first[:-1]]
        expected = [0.0 if abs(value) < 2.0**-126 else value for value in expected]  # numerics.md: no subnormals
        assert rows[0][0][: len(expected)] == expected, (first, rows[0])

    return test


def verifiers_target():
    """Both executors refuse the same programs."""
    import _odt

    def accepted(engine, code):
        try:
            engine.load(code)
            return True
        except ValueError:
            return False

    def test(data):
        if len(data) < 4:
            return
        words = min(struct.unpack("<I", data[:4])[0], len(data) // 4 - 1)
        code = bytes(data[4 : 4 + 4 * words])
        assert accepted(_odt, code) == accepted(reference, code), code.hex()

    return test


# What they start from


def checkpoint_corpus():
    model = network()
    place = slots.Bytes(bytearray(2 * (64 + len(model._state))))
    model.save(place)
    data = bytes(place.region[: place.size])
    return [bytes([kind]) + data for kind in range(4)]


def slots_corpus():
    return [bytes([kind, size]) + data[1:] * 2 for kind in (0, 1) for size in (0, 1) for data in checkpoint_corpus()]


def npy_corpus():
    result = []
    for dtype in ("i1", "u1", "<i2", "<i4", "<f4", ">f4", "<f8"):
        for shape in ((4,), (4, 1), (2, 3, 1), (0, 2)):
            file = io.BytesIO()
            np.save(file, np.ones(shape, dtype))
            result.append(file.getvalue())
    return result


def csv_corpus():
    return [b"a,b,c\n1,2.5,0\n-1e3,.5,1\n", b"1;2\n3;4\n", b"1,2\r\n3,4\r\n\r\n5,6", b"1e-40,0\n3.4028236e38,1\n", b"7\n"]


def verifiers_corpus():
    import corpus

    return corpus.programs()


if __name__ == "__main__":
    target = globals()[sys.argv[1] + "_target"]()
    arguments = [sys.argv[0], *sys.argv[2:]]
    atheris.Setup(arguments, target)
    atheris.Fuzz()
