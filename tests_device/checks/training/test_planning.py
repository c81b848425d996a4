"""On an emulated Pico: deep networks compile, and planning leaves the heap in one piece.

Nothing here is timed: bench/costs/planning.py is.
"""

import contextlib
import io
import re

import machines
import pytest

DIGITS = """
model = odt.Sequential([
    odt.Input((8, 8, 1), dtype="uint8", scale=1 / 16), odt.Conv2D(8, 3, padding="same", activation="relu"), odt.MaxPool2D(),
    odt.Conv2D(16, 3, padding="same", activation="relu"), odt.MaxPool2D(), odt.Flatten(), odt.Dense(10),
])
"""  # noqa: E501
DENSE = """
model = odt.Sequential([odt.Input((16,), dtype="uint8", scale=1 / 16)] + [odt.Dense(16, "relu") for _ in range(%d)] + [odt.Dense(10)])
"""  # noqa: E501
TRAINED = """
model.compile(odt.Adam(0.01), batch_size=16, seed=3)
for _ in range(2):
    model.train_step(bytes([i * 7 % 17 for i in range(16 * model.nodes[0].shape[0])]), bytes([i % 10 for i in range(16)]))
print("digest %08x" % model.digest())
"""  # noqa: E501
AGAIN = """
x, y = bytes([i * 7 % 17 for i in range(1024)]), bytes([i % 10 for i in range(16)])
for optimizer, batch in ((odt.Adam(0.01), 160), (odt.SGD(0.01), 160), (odt.Adam(0.01), 150)):
    model.compile(optimizer, batch_size=batch, seed=3)
    print("digest %08x" % model.digest())
    try:
        too_large and model.compile(optimizer, batch_size=too_large, seed=3)
    except MemoryError:
        pass
    for _ in range(2):
        model.train_step(x, y)
    print("digest %08x %08x" % (model.digest(), model.session.engine.crc32(bytes(model.predict(x[:64])))))
"""
# What is free before, what bytearray() gets at most and what is free after, and what the plan takes.
PIECES = (
    machines.PIECE
    + """
gc.collect()
print("before", gc.mem_free())
model.compile(odt.Adam(0.01), batch_size=%d, seed=3)
print("piece", piece())
print("after", gc.mem_free())
plan = model.session.plan
print("plan", plan.arena + plan.state + len(plan.code))
"""
)


@pytest.fixture(scope="module")
def pico():
    with machines.open("rp2040") as machine:
        yield machine


def figures(text):
    return {name: int(number) for name, number in re.findall(r"(\w+) (\d+)\n", text)}


@pytest.mark.parametrize("layers, optimizer", ((20, "Adam"), (40, "Adam"), (60, "SGD")))
def test_deep_networks_compile_on_a_pico_to_the_digest_of_the_pc(pico, layers, optimizer):
    source = "import odt\n" + DENSE % (layers - 1) + TRAINED.replace("Adam", optimizer)
    with contextlib.redirect_stdout(io.StringIO()) as out:
        exec(source, {})
    assert pico.exec(source, timeout=300) == out.getvalue()


def test_a_network_whose_arena_is_most_of_what_was_free_compiles_again(pico):
    """Another optimizer, then another batch; a batch that is too large changes nothing."""
    source = "import odt\n" + DIGITS + AGAIN
    with contextlib.redirect_stdout(io.StringIO()) as out:
        exec(source, {"too_large": None})
    assert pico.exec("too_large = 800\n" + source, timeout=300) == out.getvalue()


@pytest.mark.parametrize("network", (DIGITS, DENSE % 9, DENSE % 19))
def test_what_is_free_after_compile_is_one_piece_but_for_a_tenth(pico, network):
    found = figures(pico.exec("import odt\n" + network + PIECES % 16, timeout=300))
    assert found["piece"] > 0.9 * found["after"]


def test_four_fifths_of_what_was_free_before_may_be_digits_arena_state_and_program(pico):
    found = figures(pico.exec("import odt\n" + DIGITS + PIECES % 224, timeout=300))
    assert found["plan"] > 0.8 * found["before"]


def test_the_memory_of_data_is_free_after_the_call(pico):
    text = pico.exec(
        """
import gc, odt
model = odt.Sequential([odt.Input((64,), dtype="uint8", scale=1 / 16), odt.Dense(10)])
model.compile(batch_size=125)
def used(call, count, *y):
    call(bytearray(64 * count), *y)
def free():
    gc.collect()
    return gc.mem_free()
def fit(x, y):
    model.fit(x, y[: len(x) // 64], verbose=0)
def step(x, y):
    model.train_step(memoryview(x)[:8000], y[:125])
def evaluate(x, y):
    model.evaluate(x, y[: len(x) // 64])
labels = bytes([i % 10 for i in range(625)])
for call in (fit, step, evaluate):
    used(call, 125, labels)
    before = free()
    used(call, 625, labels)
    print(before - free() < 1000)
used(model.predict, 1)
before = free()
used(model.predict, 625)
print(before - free() < 1000)
""",
        timeout=300,
    )
    assert text.split() == ["True"] * 4
