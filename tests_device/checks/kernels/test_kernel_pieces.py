"""Kernels by need on stock firmware: a program brings the pieces that it uses, and no file but odt's own is taken for
one.

build/venv/bin/python tests_device/checks/kernels/test_kernel_pieces.py   writes the table of docs/reference/costs.md
"""

import random
import re
import shutil
import sys
import zlib
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "tests_host" / "helpers"))

import checkout  # noqa: E402, F401
import instructions  # noqa: E402
import machines
import pytest
from executors import with_one_nan  # noqa: E402
from figures import near
from kernel_cases import run
from stock_files import MPY, give

from odt.host.boards import install  # noqa: E402
from odt.host.release.pieces import PIECES  # noqa: E402

PAGE = machines.ROOT / "docs" / "reference" / "costs.md"
TABLE = re.compile(r"(<!-- written by tests_device/checks/kernels/test_kernel_pieces.py -->\n)(.*?)(\n\n)", re.S)
FOLDERS = [
    "stock_unix x64", "stock_qemu_m3 armv7m", "stock_qemu_m3 armv6m", "stock_qemu_m4hf armv7emsp",
    "stock_qemu_rv32 rv32imc",
]  # fmt: skip

# The networks are those of docs/tutorials/pc.md and of the tests of memory; their steps end with the digest of the PC.
MODELS = """
import gc, sys
gc.collect()
import odt
gc.collect()
free = [gc.mem_free() if hasattr(gc, "mem_free") else 0]
image = odt.Input((8, 8, 1), dtype="uint8", scale=1 / 16)
models = {
    "dense": (16, lambda: [odt.Input((64,), dtype="uint8", scale=1 / 16), odt.Dense(32, "relu"), odt.Dense(10)]),
    "digits": (16, lambda: [
        image, odt.Conv2D(8, 3, padding="same", activation="relu"), odt.MaxPool2D(),
        odt.Conv2D(16, 3, padding="same", activation="relu"), odt.MaxPool2D(), odt.Flatten(), odt.Dense(10),
    ]),
    "separable": (2, lambda: [
        image, odt.Conv2D(8, 3), odt.BatchNorm(), odt.ReLU(), odt.DepthwiseConv2D(3), odt.GlobalAvgPool(),
        odt.Dense(10),
    ]),
    "dropped": (2, lambda: [odt.Input((64,), dtype="uint8", scale=1 / 16), odt.Dropout(0.5), odt.Dense(10)]),
    "transposed": (2, lambda: [image, odt.Conv2DTranspose(2, 3), odt.Flatten(), odt.Dense(10)]),
}
batch, layers = models[ODT_ARGS["model"]]
model = odt.Sequential(layers())
model.compile(odt.Adam(0.004), dtype=ODT_ARGS["dtype"], batch_size=batch, seed=7)
layers = models = None
gc.collect()
free.append(gc.mem_free() if hasattr(gc, "mem_free") else 0)
for step in range(2):
    model.train_step(bytes([(7 * i + step) % 17 for i in range(64 * batch)]), bytes([i % 10 for i in range(batch)]))
print(*sorted([name for name in sys.modules if name.startswith("_odt")]))
print("%08x" % model.digest(), *free)
"""
NEEDED = {
    ("dense", "int8"): "_odt",
    ("digits", "int8"): "_odt _odt_conv",
    ("separable", "int8"): "_odt _odt_conv _odt_depth _odt_norm",
    ("dropped", "int8"): "_odt _odt_more",
    ("transposed", "int8"): "_odt _odt_rare",
    ("dense", "float32"): "_odt _odt_f32",
    ("digits", "float32"): "_odt _odt_f32 _odt_f32_conv",
    ("separable", "float32"): "_odt _odt_f32 _odt_f32_conv _odt_f32_more",
}


def digest_of_the_pc(model, dtype, capsys):
    exec(MODELS, {"ODT_ARGS": {"model": model, "dtype": dtype}})
    return capsys.readouterr().out.split()[-3]


@pytest.fixture(scope="module", params=FOLDERS)
def stock(request):
    name, arch = request.param.split()
    with machines.open(name) as machine:
        give(machine, arch)
        machine.arch = arch
        yield machine


@pytest.mark.parametrize("model, dtype", NEEDED, ids=" ".join)
def test_a_model_loads_the_pieces_that_it_needs_and_no_other(stock, model, dtype, capsys):
    if stock.arch != "x64" and (model, dtype) not in (("separable", "int8"), ("digits", "float32")):
        pytest.skip("which pieces these are is the same everywhere")
    text = stock.exec(MODELS, args={"model": model, "dtype": dtype}, timeout=200)
    pieces, figures = text.splitlines()[-2:]
    assert pieces == NEEDED[model, dtype]
    assert figures.split()[0] == digest_of_the_pc(model, dtype, capsys)


def test_every_instruction_is_in_a_piece_that_computes_it_as_the_pc_does(stock):
    native = pytest.importorskip("_odt")
    names = [name for name in instructions.NAMES if stock.arch == "x64" or not instructions.is_float(name)]
    assert len(names) > 70
    cases = [
        instructions.draw(random.Random("piece %s %d" % (name, seed)), name) for name in names for seed in range(3)
    ]
    lines = run(stock, cases, 0)
    assert len(lines) == len(cases)
    wrong = {}
    for case, line in zip(cases, lines):
        if [int(word) for word in line.split()] != [zlib.crc32(r) for r in case.run(native)[:3]]:
            wrong[case.name] = case
    for name, case in wrong.items():  # only which NaN it is is the processor's choice
        theirs = [bytes.fromhex(text) for text in run(stock, [case], 0, whole=True)[1].split(" ")]
        ours = case.run(native)
        assert instructions.is_float(name), name
        theirs = with_one_nan(case, theirs + ours[3:])
        assert theirs == with_one_nan(case, ours), name


@pytest.mark.parametrize("dtype", install.TESTED)
def test_installation_counts_the_pieces_that_its_self_test_loads(stock, dtype):
    if stock.arch != "x64":
        pytest.skip("one is enough")
    text = stock.exec(
        "dtypes = [%r]\n" % dtype
        + install.SELFTEST.read_text()
        + "\nimport sys\nprint(*[n for n in sys.modules if n[:4] == '_odt'])"
    )
    assert sorted(text.splitlines()[-1].split()) == sorted(install.TESTED[dtype])


# --- files that are not there, or are not what they should be
# -----------------------------------------------------------

REFUSED = """
import sys, gc
import odt
image = odt.Input((8, 8, 1), dtype="uint8", scale=1 / 16)
model = odt.Sequential([odt.Input((64,), dtype="uint8", scale=1 / 16), odt.Dense(10)])
model.compile(odt.SGD(0.1), batch_size=2, seed=7)
x, y = bytes([i % 17 for i in range(128)]), b"\\x01\\x02"
model.train_step(x, y)
before = model.digest()
other = odt.Sequential([image, odt.Conv2D(2, 3), odt.Flatten(), odt.Dense(10)])
for attempt in range(2):
    try:
        other.compile(odt.SGD(0.1), batch_size=2, seed=7)
    except (ImportError, ValueError) as error:
        print(error)
assert before == model.digest()
model.train_step(x, y)
print(before != model.digest(), "_odt_conv" in sys.modules)
"""
MENDS = "python -m odt install brings what is missing"


def refusal(change):
    """What compile says when ``change`` has had its way with the files."""
    with machines.open("stock_unix") as machine:
        give(machine, "x64")
        change(machine.files)
        first, second, state = machine.exec(REFUSED).splitlines()
        assert first == second and state.startswith("True ")
        start, _, reason = first.partition(", kernels that this program needs: ")
        if not reason:
            return first
        assert start == "_odt_conv.mpy" and reason.endswith("; " + MENDS)
        return reason[: -len("; " + MENDS)]


def test_a_piece_that_is_missing_is_named_and_the_model_before_trains_on():
    assert refusal(lambda files: (files / "_odt_conv.mpy").unlink()) == "no module named '_odt_conv'"


def test_a_piece_of_another_architecture_build_or_make_is_refused():
    def other_architecture(files):
        shutil.copy(MPY / "armv6m" / "_odt_conv.mpy", files)

    assert refusal(other_architecture).startswith("incompatible .mpy")

    def other_build(files):
        header = (machines.ROOT / "native" / "opcodes.h").read_text()
        stamp = bytes.fromhex(re.search(r"ODT_STAMP 0x(\w+)", header)[1])[::-1]
        piece = (files / "_odt_conv.mpy").read_bytes()
        assert piece.count(stamp) == 1
        (files / "_odt_conv.mpy").write_bytes(piece.replace(stamp, b"1234"))

    assert refusal(other_build) == "of another build than _odt"

    def other_make(files):
        (files / "_odt_conv.mpy").unlink()
        (files / "_odt_conv.py").write_text(
            "import _odt\ntry:\n    _odt._add(_odt.load)\nexcept TypeError:\n    pass\n"
        )

    assert refusal(other_make) == "_odt_conv is not odt's"

    def no_piece(files):
        (files / "_odt_conv.mpy").unlink()
        (files / "_odt_conv.py").write_text("")

    assert refusal(no_piece) == "_odt_conv is not odt's"


def test_python_can_neither_make_a_piece_nor_lend_its_type():
    script = """
import sys, _odt
def attempt(*args):
    try:
        args[0](*args[1:])
        print("taken", args)
    except TypeError as error:
        print(error)
program = _odt.load.__class__
attempt(_odt._Piece)
attempt(_odt._Piece, 5)
attempt(lambda: type("Mine", (_odt._Piece,), {}))
attempt(object.__new__, _odt._Piece)
for value in (5, None, _odt._Piece, _odt.load, b"12345678", [], object()):
    attempt(_odt._add, value)
true = sys.modules["_odt"]
class _Piece:
    pass
class Other:
    pass
for lent in (_Piece, Other, list, int, object, type, 5, None, _odt.Program, bytearray, "_Piece"):
    Other._Piece, Other._add = lent, print
    sys.modules.pop("_odt_conv", None)
    sys.modules["_odt"] = Other
    attempt(__import__, "_odt_conv")
sys.modules["_odt"] = true
sys.modules.pop("_odt_conv", None)
import _odt_conv
print("ended")
"""
    with machines.open("stock_unix") as machine:
        give(machine, "x64")
        lines = machine.exec(script).splitlines()
    assert "taken" not in "".join(lines) and lines[-1] == "ended"
    assert lines[0] == lines[1] == "can't create '_Piece' instances" and lines.count("expected a piece") == 7
    assert lines.count("_odt is not odt's") == 11 and len(lines) == 4 + 7 + 11 + 1


def test_an_import_that_was_interrupted_or_had_no_memory_is_made_again():
    script = """
import sys, _odt
source = open("program", "rb").read()
class Empty:
    pass
sys.modules["_odt_conv"] = Empty  # as an import that did not end leaves it
print(_odt.load(source) is not None, "_odt_conv" in sys.modules)
"""
    case = instructions.draw(random.Random("piece"), "conv2d_i8")
    with machines.open("stock_unix") as machine:
        give(machine, "x64")
        (machine.files / "program").write_bytes(case.program)
        assert machine.exec(script) == "True True\n"
    script = """
import gc
import _odt
source = open("program", "rb").read()
name = open("program")
gc.collect()
kept = []
try:
    while True:
        kept.append(bytearray(1024))
except MemoryError:
    kept.pop()
    kept.pop()
try:
    _odt.load(source)
except MemoryError as error:
    kept = None
    print(error)
gc.collect()
print(_odt.load(source) is not None)
"""
    with machines.open("stock_qemu_m3") as machine:
        give(machine, "armv7m")
        (machine.files / "program").write_bytes(case.program)
        text, loaded = machine.exec(script).splitlines()
    assert text.startswith("_odt_conv.mpy, kernels that this program needs: memory allocation failed")
    assert loaded == "True"


# --- the heap of a stock Pico
# ------------------------------------------------------------------------------------------

COST = """
import gc
def cost(name):
    gc.collect()
    before = gc.mem_free()
    __import__(name)
    gc.collect()
    return before - gc.mem_free()
cost("sys")
for name in %r:
    print(name, cost(name))
"""


def measured(pico):
    """The table of docs/reference/costs.md, and {model: what it printed}."""
    code, output = pico.mpremote("exec", COST % (list(PIECES),))
    assert code == 0, output.decode()
    cost = {name: int(size) for name, size in [line.split() for line in output.decode().splitlines()]}
    rows = ["| file | holds | bytes | heap that it takes |", "|---|---|--:|--:|"]
    for name, about in PIECES.items():
        size = (MPY / "armv6m" / (name + ".mpy")).stat().st_size
        rows.append("| %s.mpy | %s | %s | %s |" % (name, about, format(size, ","), format(cost[name], ",")))
    said = {}
    for model in ("dense", "digits"):
        script = "ODT_ARGS = %r\n%s" % ({"model": model, "dtype": "int8"}, MODELS)
        code, output = pico.mpremote("exec", script, timeout=200)
        assert code == 0, output.decode()
        said[model] = output.decode().split()
    return "\n".join(rows), cost, said


def test_a_stock_pico_pays_for_what_its_model_uses(capsys):
    with machines.open("stock_rp2040") as pico:
        give(pico, "armv6m")
        table, cost, said = measured(pico)
    found = TABLE.search(PAGE.read_text())[2]
    assert near(found, table, 64), "%s says\n%s\nand it is\n%s" % (PAGE.name, found, table)
    assert said["dense"][:1] == ["_odt"] and said["digits"][:2] == ["_odt", "_odt_conv"]
    for model, words in said.items():
        assert words[-3] == digest_of_the_pc(model, "int8", capsys)
    assert cost["_odt"] < 30000 and cost["_odt"] + cost["_odt_conv"] < 36000  # all in one file: 70,000
    free = {model: int(words[-1]) for model, words in said.items()}  # with the model ready to train
    assert free["dense"] > 90000 and free["digits"] > 77000, free


if __name__ == "__main__":
    with machines.open("stock_rp2040") as pico:
        give(pico, "armv6m")
        table, cost, said = measured(pico)
    PAGE.write_text(TABLE.sub(lambda match: match[1] + table + match[3], PAGE.read_text()))
    print(table, said, sep="\n")
