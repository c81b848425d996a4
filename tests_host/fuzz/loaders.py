"""What Python reads and may be damaged, fuzzed by Atheris: ``python loaders.py TARGET [libFuzzer's options]``.

Whatever the bytes: a ValueError or OSError that leaves the model as it was, or something that holds.
``python loaders.py TARGET --lines FOLDER MODULE..`` runs the files of a folder alone, and prints of each module of odt
how many lines were reached and how many there are.
"""

import atexit
import contextlib
import gc
import importlib
import io
import os
import random
import re
import shlex
import shutil
import struct
import sys
import tempfile
from fractions import Fraction
from pathlib import Path

import atheris

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "helpers"))

import checkout  # noqa: E402, F401

reached = set()  # (file, line)


def trace(frame, event, _):
    if event == "call":
        return trace if (os.sep + "odt" + os.sep) in frame.f_code.co_filename else None
    reached.add((frame.f_code.co_filename, frame.f_lineno))
    return trace


counts_lines = "--lines" in sys.argv
if counts_lines:
    sys.settrace(trace)

# corpus.py imports this for its inputs alone.
counts_edges = __name__ == "__main__" and not counts_lines
with atheris.instrument_imports(include=["odt"]) if counts_edges else contextlib.nullcontext():
    import damage
    import model_files

    import odt
    from odt import executor, slots
    from odt.data import readers
    from odt.files import checkpoint, frozen
    from odt.host import info, monitor
    from odt.host.boards import board, install
    from odt.reference import program as reference
    from odt.run import replace

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
    return model.digest(), model.epoch, model.session.underway, model.session.calibrated, model.session.steps()


def load_or_refuse(model, place):
    """Load; a refusal leaves the model as before. What loads, trains on, is saved and loaded."""
    before = condition(model)
    try:
        model.load(place)
    except (ValueError, OSError):
        assert condition(model) == before
        return False
    loaded = condition(model)
    saved = slots.Bytes(bytearray(2 * (checkpoint.HEADER + len(model.session.state))))
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
    start = bytes(model.session.state)
    crc = executor.engine.crc32

    def test(data):
        if len(data) < 2:
            return
        kind, data = data[0], data[1:]
        if kind & 1 and len(data) >= checkpoint.HEADER:  # a writer that errs, not a disk: the CRC holds
            data = bytearray(data)
            if kind & 2:
                struct.pack_into("<4sIII", data, 0, b"ODTM", 2, crc(model.session.plan.code), len(start))
            head, state = bytes(data[:60]), bytes(data[64:])
            data = head + struct.pack("<I", crc(state, crc(head))) + state
        checkpoint.open = Files(**{"m": bytes(data)}).open
        replace.restore(model.session, start, 1)
        load_or_refuse(model, "m")

    return test


def slots_target():
    model = network()
    start = bytes(model.session.state)

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
        replace.restore(model.session, start, 1)
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
        replace.restore(model.session, start, 1)
        model.load(place)
        assert model.digest() == digest

    return test


def frozen_target():
    """Weights in flash: refused, or those that the model then has."""
    model = half_frozen()
    size, layers = model.session.plan.constants, bytes(frozen.pack(model)[4:8])

    def test(data):
        if not data:
            return
        kind, data = data[0], bytearray(data[1:])
        if kind & 1 and len(data) >= frozen.HEADER:  # as above: the CRC holds
            data[:8] = b"ODTF" + layers if kind & 2 else data[:8]
            data[8:12] = struct.pack("<I", executor.engine.crc32(data[frozen.HEADER :]))
        before = model.digest()
        try:
            frozen.check(bytes(data), model.session.plan)
        except ValueError:
            accepted = False
        else:
            accepted = True
            assert len(data) == size
        if kind & 0xF4 != 0xF4:  # compile() takes 0.1 s here, and should say the same
            return
        try:
            model.compile(odt.Adam(0.01), batch_size=2, seed=1, frozen=bytes(data))
        except ValueError:
            assert not accepted and model.digest() == before
            return
        assert accepted and frozen.pack(model) == bytes(data)
        assert len(model.predict(X)) == 3 * len(X)

    return test


def half_frozen():
    model = odt.Sequential([odt.Input((2,)), odt.Dense(4, "relu", trainable=False), odt.Dense(3)])
    model.compile(odt.Adam(0.01), batch_size=2, seed=1)
    data = frozen.pack(model)
    model.compile(odt.Adam(0.01), batch_size=2, seed=1, frozen=data)
    return model


def info_target():
    """Whatever the file: lines of text, or the reason why not."""
    models = network(), half_frozen()
    crc = executor.engine.crc32

    class Path:
        def __init__(self, data):
            self.data = bytes(data)

        def __str__(self):
            return "file"

        def read_bytes(self):
            return self.data

    info.Path = checkpoint.open = lambda data, mode=None: Path(data) if mode is None else io.BytesIO(given[0])
    info.compiled_by = lambda script: script
    given = [b""]

    def test(data):
        if not data:
            return
        kind, data = data[0], bytearray(data[1:])
        if kind & 1 and data[:4] == b"ODTF":
            data[8:12] = struct.pack("<I", crc(data[frozen.HEADER :]))
        elif kind & 1 and len(data) >= checkpoint.HEADER:
            if kind & 2:
                struct.pack_into(
                    "<4sIII", data, 0, b"ODTM", 2, crc(models[0].session.plan.code), len(data) - checkpoint.HEADER
                )
            data[60:64] = struct.pack("<I", crc(data[checkpoint.HEADER :], crc(data[:60])))
        given[0] = bytes(data)
        model = models[kind >> 3 & 1] if kind & 4 else None
        try:
            for line in info.describe(data, model):
                assert line.isprintable(), line
        except (ValueError, OSError):
            pass

    return test


class Draw(random.Random):
    """Chooses by bytes, then by zeros: what a mutation of the bytes changes is one choice."""

    def __new__(cls, data):
        return super().__new__(cls)

    def __init__(self, data):
        super().__init__(0)
        self.file = io.BytesIO(data)

    def getrandbits(self, count):
        size = -(-count // 8)
        return int.from_bytes(self.file.read(size).ljust(size, b"\0"), "little") >> (8 * size - count)

    def random(self):
        return self.getrandbits(16) / 65536


def model_target():
    """A model file with the CRCs right, in every reader: taken, or refused by its name."""
    folder = tempfile.mkdtemp()
    atexit.register(shutil.rmtree, folder, True)
    files = list(model_files.made(Path(folder)))
    path = os.path.join(folder, damage.NAME)

    def test(data):
        if len(data) < 2:
            return
        _, good, target = files[data[0] & 7]
        if data[0] & 128 and len(data) > 65:  # sections as they are
            sizes = [min(size, len(data)) for size in struct.unpack("<5I", data[13:33])]
            content = damage.written(damage.sections(data[1:13] + struct.pack("<5I", *sizes) + data[33:]))
        else:
            content = damage.damaged(good, Draw(data[1:]))
        damage.tried(content, path, [target], model_files.X, model_files.Y)

    return test


def numbers_target():
    """Decimals and float64 as float32 to nearest, against fractions and NumPy; what is no number is refused."""

    def decimal(text):
        try:
            bits = readers.parse(text)
        except ValueError:
            try:
                value = abs(float(text))
            except ValueError:
                return
            # What Python takes besides, and what is too large for a float32.
            assert not value < 2.0**128 - 2.0**103 or "_" in text or not text.isascii(), text
            return
        power = text.lower().partition("e")[2]
        if len(power) > 5:
            return  # a fraction of so many digits takes minutes
        exact, value = Fraction(text.strip()), Fraction(float(np.uint32(bits & 0x7FFFFFFF).view(np.float32)))
        assert bits >> 31 == (text.strip()[0] == "-")
        least = Fraction(2) ** -126
        if abs(exact) < least:  # no subnormals; what is next to the least normal number may be that
            assert value == 0 or (value == least and least - abs(exact) <= least * Fraction(2) ** -24), text
            return
        step = Fraction(2) ** ((bits >> 23 & 255) - 151)  # half of what lies between it and the next one
        below = step / 2 if bits & 0x7FFFFF == 0 else step  # of a power of two
        error = abs(exact) - value
        assert -below <= error <= step and (-below < error < step or bits & 1 == 0 or below != step), text

    def test(data):
        if data[:1] == b"n":
            try:
                assert readers.Normalizer.from_bytes(data[1:]).to_bytes() == data[1:]
            except ValueError:
                pass
        elif data[:1] == b"w":
            words = np.frombuffer(data[1 : 1 + (len(data) - 1) // 8 * 8], "<u4").reshape(-1, 2).tolist()
            for low, high in words:
                found = readers._float32(low, high)
                with np.errstate(all="ignore"):
                    wide = np.uint64(high << 32 | low).view(np.float64)
                    wanted = np.float32(wide)
                if abs(wide) < 2.0**-126:  # no subnormals, nor what rounds up from one
                    wanted = np.copysign(np.float32(0), wanted)
                finite = np.isfinite(wanted)
                assert found == wanted.view(np.uint32) if finite else found & 0x7F800000 == 0x7F800000, (low, high)
        else:
            decimal(data.decode("latin1"))

    return test


def monitor_target():
    """What a script or a serial line prints: curves that can be drawn, the rest as it is."""

    def test(data):
        if not data:
            return
        step, text = data[0] + 1, data[1:].decode("utf-8", "replace")
        run = monitor.Run("train.py", "board")
        for at in range(0, len(text), step):
            run.feed(text[at : at + step])
        run.feed("", True)
        monitor.picture(run, 80)
        for fit in run.curves.fits:
            assert all(1 <= epoch <= fit.epochs for epoch in fit.rows)
            assert all(monitor.figures(row) for row in fit.rows.values())
        if max([len(line) for line in re.split("[\r\n]", text)]) > 4000:
            return  # a line that is longer is cut where it was read
        whole = monitor.Run("train.py", "board")
        whole.feed(text, True)
        assert whole.damaged == run.damaged and whole.logged.events == run.logged.events
        assert all(each.count == run.logged.series[name].count for name, each in whole.logged.series.items())

    return test


def answers_target():
    """What a board answers to `install`: it is one, or the reason why not."""

    class Package:
        """Files whose headers are those of .mpy files for an armv6m."""

        def __truediv__(self, name):
            return Path(__file__)

    install.header = lambda file: (6, 3, 4)

    def test(data):
        text = data.decode("utf-8", "replace").replace("\r\n", "\n")
        device = board.Board("port")
        device.call = lambda *commands, timeout=0: text
        wanted = {"int8": "0123abcd", "float32": "89abcdef"}
        try:
            found = device.probe()
            assert install.describe(found)
            install.check(found, Package())
            install.kernels(found, Package())
        except board.BoardError:
            pass
        for backend in ("native", "reference"):
            try:
                assert install.selftest(device, backend, wanted) >= 0
            except board.BoardError:
                pass

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
    place = slots.Bytes(bytearray(2 * (64 + len(model.session.state))))
    model.save(place)
    data = bytes(place.region[: place.size])
    return [bytes([kind]) + data for kind in range(4)]


def slots_corpus():
    return [bytes([kind, size]) + data[1:] * 2 for kind in (0, 1) for size in (0, 1) for data in checkpoint_corpus()]


def frozen_corpus():
    data = frozen.pack(half_frozen())
    return [bytes([kind]) + data for kind in (0, 1, 3, 0xF4, 0xF7)]


def info_corpus():
    program = network().program.code
    files = [data[1:] for data in checkpoint_corpus()[:1] + frozen_corpus()[:1]] + [program]
    return [bytes([kind]) + bytes(data) for data in files for kind in (0, 1, 3, 4, 7, 12)]


def model_corpus():
    with tempfile.TemporaryDirectory() as folder:
        files = [data for _, data, _ in model_files.made(Path(folder))]
    choices = random.Random(1)
    return [bytes([128]) + data for data in files if len(data) < 8000] + [
        bytes([number & 7]) + choices.randbytes(60) for number in range(32)
    ]


def numbers_corpus():
    texts = [
        "0",
        "-1.5e3",
        ".5",
        "5.",
        "16777217",
        "3.4028236e38",
        "1.17549428e-38",
        "1e-46",
        "+9e40",
        "nan",
        "1_0",
        " 7 ",
    ]
    wide = [1.0, 1 + 2.0**-24, 1 + 3 * 2.0**-24, -(2.0**-126), 3.4028235677973366e38, np.inf, np.nan, 0.0]
    normalizer = readers.Normalizer(2)
    normalizer.update([1, 2, 3, 5])
    return [text.encode() for text in texts] + [b"w" + np.array(wide).tobytes(), b"n" + normalizer.to_bytes()]


def monitor_corpus():
    lines = [
        "epoch 1/3  loss 2.0562  acc 0.3130  val_loss 1.5000  val_acc 0.5000  2.1 ms/step  0:01 left",
        "epoch 2/3  5/63  loss nan  812 ms/step  1:01 left", "epoch 2/3  loss -inf  val_loss 0.5000  2.1 ms/step",
        "digest 62bea518", "epoch 3/3  17  loss 0.1000  acc 1.0000  9.9 ms/step",
    ]  # fmt: skip
    logged = ">score:0.0253\n>score threshold:4e-05\n>event:drift|t\n>score:nan\n>score:-inf\n" * 3
    texts = "\r".join(lines), "\n".join(lines), logged, logged + "\n".join(lines)
    return [b"\xff" + texts[0].encode(), *[b"\x06" + text.encode() for text in texts[1:]], b"\x20hello\x1b[31m\n\xff"]


def answers_corpus():
    found = {
        "name": "micropython", "version": (1, 25, 0), "machine": "Raspberry Pi Pico with RP2040", "mpy": 4870,
        "free": 241264, "libs": ["/lib"], "deflate": True, "disk": 868352, "block": 4096, "frozen": False,
    }  # fmt: skip
    rows = "odt-test native int8 0123abcd 84752\nodt-test native float32 89abcdef 84752\n"
    texts = ["\nodt-probe %r\n" % found, "\nodt-probe %r\n" % dict(found, name="circuitpython", libs=[], frozen=True)]
    return [text.encode() for text in (*texts, rows, rows.replace("native", "reference"), rows + texts[0])]


def npy_corpus():
    result = []
    for dtype in ("i1", "u1", "<i2", "<i4", "<f4", ">f4", "<f8"):
        for shape in ((4,), (4, 1), (2, 3, 1), (0, 2)):
            file = io.BytesIO()
            np.save(file, np.ones(shape, dtype))
            result.append(file.getvalue())
    return result


def csv_corpus():
    return [
        b"a,b,c\n1,2.5,0\n-1e3,.5,1\n",
        b"1;2\n3;4\n",
        b"1,2\r\n3,4\r\n\r\n5,6",
        b"1e-40,0\n3.4028236e38,1\n",
        b"7\n",
    ]


def verifiers_corpus():
    import corpus

    return corpus.programs()


def print_lines(test, folder, modules):
    for name in sorted(os.listdir(folder)):
        with open(os.path.join(folder, name), "rb") as file:
            test(file.read())
    sys.settrace(None)
    for module in modules:
        path = importlib.import_module("odt." + module).__file__
        with open(path) as file:
            codes = [compile(file.read(), path, "exec")]
        there = set()
        for code in codes:
            there |= {line for _, _, line in code.co_lines() if line}
            codes += [part for part in code.co_consts if hasattr(part, "co_code")]
        print(os.path.relpath(path), len(there & {line for file, line in reached if file == path}), len(there))


if __name__ == "__main__":
    target = globals()[sys.argv[1] + "_target"]()
    if counts_lines:
        print_lines(target, sys.argv[3], sys.argv[4:])
        sys.exit()
    gc.freeze()  # compile() collects
    # Merging, libFuzzer starts this anew, by a shell.
    arguments = [shlex.join([sys.executable, *sys.argv[:2]]), *sys.argv[2:]]
    atheris.Setup(arguments, target)
    atheris.Fuzz()
