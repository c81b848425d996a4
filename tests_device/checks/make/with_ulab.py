"""float32 in ulab's vectors, on the unix port with 30-bit floats and no kernels: make test-ulab ULAB_DIR=<clone>."""

import struct
import zlib
from array import array

import machines
import numpy as np
import pytest
from digests import DIGITS, on_the_pc

import odt
from odt.reference import vectors


class Ulab(machines.UnixFloat30):
    name = "unix_ulab"
    make = "make unix-ulab ULAB_DIR=<clone>"
    image = "unix_ulab/micropython"


@pytest.fixture(scope="module")
def machine():
    with Ulab() as opened:
        yield opened


def bits(seed, count):
    """Random float32 numbers as words, some zero."""
    random = np.random.default_rng(seed)
    values = random.normal(size=count) * 10.0 ** random.integers(-3, 3, count) * (random.random(count) > 0.1)
    return [int(word) for word in values.astype("float32").view("uint32")]


SHAPE = {"B": 2, "H": 5, "W": 6, "C": 3, "KH": 3, "KW": 2, "SH": 2, "SW": 1, "PT": 1, "PL": 0, "OH": 3, "OW": 5}
# Instruction, sizes, floats of each operand; results first.
CASES = [
    ("dense_f32", {"M": 5, "K": 7, "N": 4, "relu": 1}, {"y": 20, "x": 35, "w": 28, "b": 4}),
    ("dense_dx_f32", {"M": 5, "K": 7, "N": 4}, {"dx": 35, "e": 20, "w": 28}),
    ("dense_dw_f32", {"M": 5, "K": 7, "N": 4, "at": 1, "R": 2}, {"dw": 14, "e": 20, "x": 35}),
    ("bias_dw_f32", {"M": 5, "N": 4}, {"db": 4, "e": 20}),
    ("conv2d_f32", dict(SHAPE, N=4, relu=0), {"y": 120, "x": 180, "w": 72, "b": 4}),
    ("conv2d_dx_f32", dict(SHAPE, N=4), {"dx": 180, "e": 120, "w": 72}),
    ("conv2d_dw_f32", dict(SHAPE, N=4, at=0, R=4), {"dw": 72, "e": 120, "x": 180}),
    ("relu_f32", {"N": 40}, {"y": 40, "x": 40}),
    ("relu_dx_f32", {"N": 40}, {"dx": 40, "e": 40, "y": 40}),
    ("add_f32", {"N": 40, "relu": 1}, {"y": 40, "a": 40, "b": 40}),
    ("accumulate_f32", {"N": 40}, {"y": 40, "d": 40}),
    ("momentum_f32", {"N": 40, "mu": 0x3F666666}, {"v": 40, "d": 40}),
    (
        "adam_f32",
        {"N": 40, "b1": 0x3F666666, "c1": 0x3DCCCCCD, "b2": 0x3F7FBE77, "c2": 0x3A83126F, "eps": 0x33D6BF95},
        {"d": 40, "m": 40, "v": 40},
    ),
    ("apply_f32", {"N": 40}, {"w": 40, "d": 40}),
]
SCRIPT = """
from array import array
from odt.reference import vectors
class O:
    pass
o = O()
o.rate = array("i", [0x3C23D70A, 0x3F800000])
for name in %r:
    setattr(o, name, %r[name])
for name in %r:
    setattr(o, name, array("f", bytes(array("I", %r[name]))))
vectors.FASTER[%r](o)
import binascii
print(vectors.name, binascii.crc32(bytes(getattr(o, %r))))
"""


@pytest.mark.parametrize("name, sizes, operands", CASES, ids=lambda value: value if isinstance(value, str) else "")
def test_instruction_gives_the_bits_of_numpy(machine, name, sizes, operands):
    words = {operand: bits(index, count) for index, (operand, count) in enumerate(operands.items())}
    if name == "adam_f32":  # the mean of squares
        words["v"] = [word & 0x7FFFFFFF for word in words["v"]]
    first = next(iter(operands))
    script = SCRIPT % (list(sizes), sizes, list(words), words, name, first)
    o = type("O", (), {})()
    o.rate = [0x3C23D70A, 0x3F800000]
    for key, value in sizes.items():
        setattr(o, key, value)
    for key, value in words.items():
        setattr(o, key, array("f", struct.pack("<%dI" % len(value), *value)))
    vectors.FASTER[name](o)
    assert machine.exec(script) == "ulab %d\n" % zlib.crc32(bytes(getattr(o, first)))


def test_float32_trains_as_on_the_pc_but_for_the_two_bits(machine):
    args = {"steps": 4, "train": 96, "dtype": "float32"}
    text = machine.run(DIGITS / "train.py", cwd_files=DIGITS, args=args, timeout=300)
    assert "with the ulab executor" in text
    loss, expected = (
        float(found.split("loss ")[1].split(",")[0]) for found in (text, on_the_pc(DIGITS / "train.py", args))
    )
    assert loss == pytest.approx(expected, rel=1e-4)


def test_ulab_arrays_are_data_as_they_are(machine):
    source = """
import odt
from ulab import numpy as np
model = odt.Sequential([odt.Input((2,)), odt.Dense(8, activation="relu"), odt.Dense(2)])
model.compile(odt.Adam(0.05), batch_size=4, seed=1, dtype="int8")
x = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], dtype=np.float)
y = np.array([0, 1, 1, 0], dtype=np.uint8)
model.fit(x, y, epochs=60, verbose=0)
print("%08x" % model.digest())
scores = np.frombuffer(model.predict(x), dtype=np.float).reshape((4, 2))
print(list(np.argmax(scores, axis=1)))
"""
    model = odt.Sequential([odt.Input((2,)), odt.Dense(8, activation="relu"), odt.Dense(2)])
    model.compile(odt.Adam(0.05), batch_size=4, seed=1, dtype="int8")
    model.fit(
        np.array([[0, 0], [0, 1], [1, 0], [1, 1]], "float32"), np.array([0, 1, 1, 0], "uint8"), epochs=60, verbose=0
    )
    assert machine.exec(source) == "%08x\n[0, 1, 1, 0]\n" % model.digest()


def test_ulab_arrays_of_another_type_are_refused(machine):
    source = """
import odt
from ulab import numpy as np
model = odt.Sequential([odt.Input((2,), dtype="uint8"), odt.Dense(2)])
model.compile(batch_size=2)
try:
    model.fit(np.zeros((2, 2), dtype=np.uint16), bytes(2))
except TypeError as error:
    print(error)
"""
    text = machine.exec(source)
    assert text.startswith("x: elements are of type 'H', expected uint8"), text
