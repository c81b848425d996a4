"""The emulated Pico: its firmware, its boot ROM's floats, its flash and its serial port."""

import time

import machines
import numpy as np
import pytest
from serial_repl import connect, read_until

FLOAT_SCRIPT = """
import struct
a = struct.unpack("<{n}f", bytes.fromhex("{a}"))
b = struct.unpack("<{n}f", bytes.fromhex("{b}"))
inf = float("inf")
for x, y in zip(a, b):
    quotient = x / y if y else inf
    print(struct.pack("<4f", x + y, x - y, x * y, quotient).hex(), x < y, x == y, int(x) if abs(x) < 1e9 else 0)
"""


@pytest.fixture(scope="module")
def board():
    with machines.open("rp2040") as m:
        yield m


def flush(x):
    """Subnormals are zeros to the RP2040's ROM, with the sign they had."""
    tiny = np.finfo(np.float32).tiny
    return np.where(np.abs(x) < tiny, np.copysign(np.float32(0), x), x).astype(np.float32)


def check_floats(board, a, b):
    n = len(a)
    out = board.exec(FLOAT_SCRIPT.format(n=n, a=a.tobytes().hex(), b=b.tobytes().hex()))
    a, b = flush(a), flush(b)
    with np.errstate(all="ignore"):
        quotient = np.where(b == 0, np.float32(np.inf), a / b)
        expected = flush(np.stack([a + b, a - b, a * b, quotient], axis=1).astype(np.float32))
    lines = out.splitlines()
    assert len(lines) == n
    for x, y, want, line in zip(a, b, expected, lines):
        bits, less, equal, whole = line.split()
        assert bits == want.tobytes().hex(), (
            x,
            y,
            np.frombuffer(bytes.fromhex(bits), np.float32),
        )
        assert (less, equal) == (str(bool(x < y)), str(bool(x == y))), (x, y)
        assert int(whole) == (int(x) if abs(x) < 1e9 else 0), x


def test_board_is_a_pico_of_the_port(board):
    out = board.exec("import sys\nprint(sys.platform, sys.implementation._machine, sys.byteorder)")
    assert out == "rp2 Raspberry Pi Pico with RP2040 little\n"


def test_heap_after_boot_is_a_picos(board):
    out = board.exec("import gc\ngc.collect()\nprint(gc.mem_free() + gc.mem_alloc())")
    assert 180_000 < int(out) < 250_000


def test_floats_are_numpys_float32_bit_for_bit(board):
    a = [
        1,
        1,
        0.1,
        -0.1,
        16777215,
        1e38,
        3.4e38,
        1e-20,
        2,
        -7.5,
        123456.789,
        1 / 3,
        2**-126,
    ]
    b = [3, 2**-24, 0.2, 0.1, 1.5, 10, 3.4e38, 1e-17, 7, 2.5, -123456.78, 3, 1]
    check_floats(board, np.array(a, np.float32), np.array(b, np.float32))


def test_random_floats_are_numpys_float32_bit_for_bit(board):
    bits = np.random.default_rng(1).integers(0, 2**32, (2, 200), dtype=np.uint32)
    a, b = bits.view(np.float32)
    normal = np.isfinite(a) & np.isfinite(b) & (np.abs(a) > 1e-37) & (np.abs(b) > 1e-37)
    a, b = a[normal], b[normal]
    check_floats(board, a, b)
    # Neighbours of every distance: their differences lose 1 to 24 bits.
    steps = np.float32(1) + np.exp2(-np.arange(len(a)) % 24).astype(np.float32) / 2**24
    with np.errstate(over="ignore"):
        b = np.where(np.abs(a) < 1e38, a * steps, a).astype(np.float32)
    check_floats(board, a, b)


def test_subnormal_floats_are_zeros(board):
    tiny = np.finfo(np.float32).tiny
    a = np.array([tiny, tiny, 1e-40, -1e-40, 1e-40, 1e-40, 1.5 * tiny], np.float32)
    b = np.array([0.5, -0.5, 1e-40, 1, 2, 1e10, -tiny], np.float32)
    check_floats(board, a, b)


def test_roots_and_conversions_are_exact(board):
    out = board.exec("import math\nprint(math.sqrt(2.0) == 1.4142135, 2.5e9 // 1, float(2**40))")
    assert out == "True 2.5e+09 1.099512e+12\n"


def test_file_outlives_soft_reset_and_watchdog_reset(board):
    board.exec("with open('/kept.bin', 'wb') as f:\n    f.write(bytes(range(256)) * 40)")
    check = "print(sum(open('/kept.bin', 'rb').read()))"
    assert board.mpremote("soft-reset")[0] == 0
    assert board.exec(check) == f"{sum(range(256)) * 40}\n"
    assert board.mpremote("exec", "--no-follow", "import machine; machine.reset()")[0] == 0
    assert board.exec(check) == f"{sum(range(256)) * 40}\n"


def test_much_text_is_lost_in_neither_direction(board):
    data = "".join(chr(33 + i * 7 % 90) for i in range(20000)).replace("\\", "/").replace("'", "-")
    assert board.exec(f"print('{data}')") == data + "\n"
    out = board.exec("for i in range(5000):\n    print(i, 'x' * 20)")
    assert out == "".join("{} {}\n".format(i, "x" * 20) for i in range(5000))


def test_ctrl_c_interrupts_a_loop(board):
    board.exec("")
    with connect(board) as line:
        line.sendall(b"while True: pass\r\r\r\r")
        time.sleep(0.5)
        line.sendall(b"\x03")
        assert b"KeyboardInterrupt" in read_until(line, b">>> ")
    assert board.exec("print(1)") == "1\n"


def test_marks_count_the_same_cycles_every_time(board):
    source = "from machine import mem32\nfor v in (7, 8):\n    mem32[0x4005800C] = v\n    sum(range(9999))"
    counts = []
    for _ in range(2):
        before = len(board.marks())
        board.exec(source)
        (first, begin), (second, end) = board.marks()[before:]
        assert (first, second) == (7, 8)
        counts.append(end - begin)
    assert abs(counts[0] - counts[1]) < counts[0] // 100


def test_sleep_takes_its_time_on_the_board_and_not_here(board):
    begin = time.monotonic()
    out = board.exec("import time\nt = time.ticks_ms()\ntime.sleep(20)\nprint(time.ticks_diff(time.ticks_ms(), t))")
    assert abs(int(out) - 20000) < 20
    assert time.monotonic() - begin < 15


def test_hard_fault_ends_the_script_and_the_next_one_finds_a_fresh_board():
    with machines.open("rp2040") as m:
        with pytest.raises(machines.MachineError, match="hard fault: load from 0x60000000"):
            m.exec("from machine import mem32\nprint(mem32[0x60000000])", timeout=20)
        assert m.exec("print(2)") == "2\n"


@pytest.mark.parametrize("name", ("rp2040_cached", "rp2040js"))
def test_a_second_core_is_refused_where_there_is_none_and_a_soft_reset_needs_none(name):
    with machines.open(name) as m:
        with pytest.raises(machines.MachineError, match="second core, which this machine does not have"):
            m.exec("import odt\nodt.set_num_threads(2)", timeout=60)
        assert m.exec("import odt\nprint(odt.get_num_threads())") == "1\n"


FIT = """
import odt
x = bytes([(7 * i + i // 5) % 17 for i in range(64 * 160)])
y = bytes([i % 10 for i in range(160)])
model = odt.Sequential([
    odt.Input((8, 8, 1), dtype="uint8", scale=1 / 16),
    odt.Conv2D(8, 3, padding="same", activation="relu"), odt.MaxPool2D(),
    odt.Conv2D(16, 3, padding="same", activation="relu"), odt.MaxPool2D(), odt.Flatten(), odt.Dense(10)])
model.compile(odt.Adam(0.004), dtype={dtype!r}, batch_size=16, seed=7)
class Say:
    def on_batch_end(self, step):
        print("end of step")
"""


@pytest.mark.parametrize("dtype", ("int8", "float32"))
def test_ctrl_c_within_a_step_is_back_at_the_prompt_in_100_ms_and_fit_goes_on(board, dtype):
    """In int8 an instruction of the digits' network takes up to 20 ms, in float32 over half a second."""
    board.exec("")
    with connect(board) as line:
        line.sendall(b"\x05")  # paste
        read_until(line, b"=== ")
        line.sendall(FIT.format(dtype=dtype).replace("\n", "\r").encode() + b"\x04")
        read_until(line, b"\n>>> ", 120)
        before = len(board.serial())
        for wait in (0.2, 0.6, 1.3, 2.5):
            line.sendall(b"model.fit(x, y, epochs=90, verbose=0, callbacks=[Say()])\r")
            read_until(line, b"end of step", 120)
            time.sleep(wait)
            line.sendall(b"\x03")
            assert b"KeyboardInterrupt" in read_until(line, b">>> ", 60)
        log = board.serial()[before:]
        line.sendall(b"steps = model.session.steps(); _ = model.fit(x, y, verbose=0); model.session.steps() - steps\r")
        assert b"\r\n10\r\n>>> " in read_until(line, b"\n>>> ", 300)
    sent = [at for direction, at, data in log if direction == "in" and data == b"\x03"]
    assert len(sent) == 4
    for at in sent:
        prompt = next(then for direction, then, data in log if direction == "out" and then > at and b">>> " in data)
        print("%s: %.1f ms" % (dtype, (prompt - at) / 1e6))
        assert prompt - at < 100e6


CALLBACKS = """
import odt, machine
x = bytes([(7 * i + i // 5) % 17 for i in range(64 * 32)])
y = bytes([i % 10 for i in range(32)])
def network(dtype):
    model = odt.Sequential([
        odt.Input((8, 8, 1), dtype="uint8", scale=1 / 16), odt.Conv2D(8, 3, padding="same", activation="relu"),
        odt.Conv2D(16, 3, activation="relu"), odt.MaxPool2D(), odt.Flatten(), odt.Dense(10)])
    model.compile(odt.Adam(0.004), dtype=dtype, batch_size=4, seed=7)
    return model
other = network("int8")
other.predict(x[:64])
model = network("float32")
calls, begun, data = 0, 0, bytearray(x)
def call(timer):
    global calls
    calls += 1
    other.predict(x[:64])
    if calls > begun + 1 and len(data) < 8000:  # the step has looked at it since
        data.extend(bytes(10 * 64))  # so that it moves now and then
if ODT_ARGS["watched"]:
    timer = machine.Timer(period=50, callback=call)
for _ in range(2):
    data, begun = bytearray(x[: 64 * 4]), calls
    model.train_step(data, y[:4])
if ODT_ARGS["watched"]:
    timer.deinit()
print(model.digest(), calls)
"""


def test_callbacks_run_within_an_instruction_and_may_run_programs_of_their_own(board):
    alone, none = board.exec(CALLBACKS, timeout=300, args={"watched": False}).split()[-2:]
    watched, calls = board.exec(CALLBACKS, timeout=300, args={"watched": True}).split()[-2:]
    assert watched == alone
    assert int(none) == 0 and int(calls) > 10  # an instruction takes up to a quarter of a second
