"""Two threads on MicroPython, or both cores of an emulated RP2040: the digests of one, whatever else runs."""

import re
import signal
import subprocess
import time

import machines
import pytest
from digests import ROOT, on_the_pc

HERE = ROOT / "tests_device" / "scripts"
STEP = """
import odt
from machine import mem32
x = bytes([(7 * i + i // 5) % 17 for i in range(256 * 4)])
model = odt.Sequential([
    odt.Input((16, 16, 1), dtype="uint8", scale=1 / 16), odt.Conv2D(16, 3), odt.Conv2D(16, 3, strides=2),
    odt.Flatten(), odt.Dense(10)])
model.compile(odt.Adam(0.004), batch_size=4, seed=7)
odt.set_num_threads(THREADS)
y = bytes(range(4))
model.train_step(x, y)
mem32[0x4005800C] = 1
model.train_step(x, y)
mem32[0x4005800C] = 2
"""


@pytest.fixture(scope="module")
def expected():
    """Of the PC's, that of one thread."""
    lines = re.findall(r"(\w+) (\d) digest (\w{8})", on_the_pc(HERE / "two_threads.py", {"what": "main"}))
    assert [line[:2] for line in lines] == [
        ("alone", "1"), ("two", "2"), ("own", "2"), ("other", "2"), ("again", "1"), ("other", "1"),
    ]  # fmt: skip
    digest, other = lines[0][2], lines[-1][2]
    assert [line[2] for line in lines] == [digest, digest, digest, other, digest, other]
    return digest, other


def run(name, what):
    with machines.open(name) as machine:
        text = machine.run(HERE / "two_threads.py", args={"what": what}, timeout=120)
    return re.findall(r"(\w+) (\d) digest (\w{8})", text), text


@pytest.mark.parametrize("name", machines.UNIX)
def test_two_threads_train_to_the_pcs_digest_beside_a_thread_of_the_users(name, expected):
    lines, _ = run(name, "main")
    assert [line[1] for line in lines] == list("122211")
    assert [line[2] for line in lines] == [expected[line[0] == "other"] for line in lines]


@pytest.mark.parametrize("name", machines.UNIX)
def test_callbacks_that_predict_within_a_kernel_change_no_bit(name, expected):
    lines, text = run(name, "with_callbacks")
    assert lines and {line[1:] for line in lines} == {("2", expected[0])}
    assert text.endswith("predictions {True}\n")


@pytest.mark.parametrize("name", machines.UNIX)
def test_after_a_soft_reset_there_is_one_thread(name, expected):
    assert [line[1:] for line in run(name, "after_a_reset")[0]] == [("1", expected[0]), ("2", expected[0])]


def test_both_cores_of_a_pico_train_to_the_pcs_digest_and_one_at_a_time_has_the_second(expected):
    with machines.open("rp2040") as machine:
        for _ in range(2):  # a soft reset between them gives the core back
            text = machine.run(HERE / "two_threads.py", args={"what": "on_a_pico"}, timeout=120)
            lines = re.findall(r"(\w+) (\d) digest (\w{8})", text)
            assert lines == [(name, cores, expected[0]) for name, cores in (
                ("two", "2"), ("written", "2"), ("one", "1"), ("back", "2"))]  # fmt: skip
            assert text.count("core1 in use") == 2 and "sum %d\n" % sum(i % 7 for i in range(25000)) in text
            assert text.endswith("True\n")  # what was written while odt had the core
            assert machine.exec("import odt\nprint(odt.get_num_threads())") == "1\n"


def test_both_cores_take_less_time_than_one():
    with machines.open("rp2040") as machine:
        cycles = []
        for threads in (1, 2):
            before = len(machine.marks())
            machine.exec(STEP.replace("THREADS", str(threads)), timeout=60)
            (_, begin, *_), (_, end, *_) = machine.marks()[before:]
            cycles.append(end - begin)
    assert cycles[1] < 0.75 * cycles[0]


def test_ctrl_c_within_a_kernel_waits_for_the_other_half(expected):
    with machines.open("unix") as machine:
        script = machine.files / "script.py"
        script.write_text("ODT_ARGS = {'what': 'interrupted'}\n" + (HERE / "two_threads.py").read_text())
        process = subprocess.Popen([machine.image_path, script], stdout=subprocess.PIPE, text=True)
        for i in range(10):
            assert process.stdout.readline() == "fit\n"
            time.sleep(0.02 + 0.0013 * i)
            process.send_signal(signal.SIGINT)
        text = process.communicate(timeout=60)[0]
    assert process.returncode == 0
    assert "after 2 digest " + expected[0] in text and "interrupted True" in text
