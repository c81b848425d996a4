"""Labels and samples as memoryviews, which on MicroPython do not tell of what they are.

Runs on a machine, and on CPython.

ODT_ARGS: ``executor``, "reference" where there are no kernels, as on CircuitPython.
"""

from array import array

import odt
from odt.continual import Reservoir
from odt.reference import program as reference

try:
    ARGS = ODT_ARGS
except NameError:
    ARGS = {}

odt.executor.use(ARGS.get("executor", "reference"))

for code, values in (
    ("b", [-1, 5]), ("B", [200, 5]), ("h", [-1, 5]), ("h", [1, 5]), ("H", [40000, 5]), ("i", [-1, 5]), ("i", [1, 5]),
    ("I", [0x80000000, 5]), ("f", [0.5, 5]),
):  # fmt: skip
    data = array(code, values + values)
    assert reference.typecode(data) == code, (code, reference.typecode(data))
    for view in (memoryview(data), memoryview(data)[1:3]):
        assert reference.typecode(view) == code, (code, reference.typecode(view))
        assert reference.nbytes(view) * len(data) == reference.nbytes(data) * len(view)
assert reference.typecode(memoryview(array("i"))) in "Bi"


def network(dtype):
    model = odt.Sequential([odt.Input((5,), dtype), odt.Dense(3)])
    model.compile(odt.SGD(0.1), batch_size=8, seed=1)
    return model


def digest(dtype, x, y):
    model = network(dtype)
    model.train_step(x, y)
    return model.digest()


labels = [i % 3 for i in range(8)]
for dtype, code in (("float32", "f"), ("int8", "b"), ("uint8", "B"), ("int16", "h"), ("int32", "i")):
    x = array(code, [(7 * i + i // 5) % 100 for i in range(40)])
    expected = digest(dtype, x, bytes(labels))
    print("%s digest %08x" % (dtype, expected))
    assert digest(dtype, memoryview(x), labels) == expected
    for kind in "bBhHiIlLqQ" if code == "b" else "":
        for given in (array(kind, labels), memoryview(array(kind, [2] + labels))[1:]):
            assert digest(dtype, x, given) == expected, kind
    if code != "B":
        try:
            network("int32" if code != "i" else "float32").predict(memoryview(x))
            assert code == "b"  # bytes of some kind are taken as they are
        except (TypeError, ValueError) as error:
            assert "x" in str(error)

kept = Reservoir(8, 5, seed=3)
for i in range(30):
    kept.add([i / 8, 1, i % 7, 0, -1], i % 3)
print("reservoir digest %08x" % digest("float32", kept.x, kept.y))
