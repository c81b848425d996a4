"""Training on every machine ends with the bits of the PC."""

import re
import subprocess
import sys

import machines
import pytest
from digests import DIGITS, FLOAT32, INT8, ROOT, digest, on_the_pc


def run(name, args, timeout=900):
    with machines.open(name) as machine:
        return machine.run(DIGITS / "train.py", cwd_files=DIGITS, args=args, timeout=timeout)


@pytest.fixture(scope="module")
def pc():
    """Digests of the PC's native executor, computed once an argument set."""
    known = {}

    def lookup(args):
        key = str(args)
        if key not in known:
            text = on_the_pc(DIGITS / "train.py", args)
            assert "native executor" in text
            known[key] = digest(text)
        return known[key]

    return lookup


@pytest.mark.parametrize("name", machines.NATIVE)
def test_int8_steps_end_with_the_digest_of_the_pc(name, pc):
    text = run(name, INT8)
    assert "native executor" in text
    assert digest(text) == pc(INT8)


@pytest.mark.parametrize("name", machines.NATIVE)
def test_float32_steps_end_with_the_digest_of_the_pc(name, pc):
    text = run(name, FLOAT32)
    assert "native executor" in text
    assert digest(text) == pc(FLOAT32)


@pytest.mark.parametrize("name", ("pc", *machines.UNIX))
def test_the_reference_ends_with_the_digest_of_the_kernels(name, pc):
    args = {"steps": 3, "train": 64}
    expected = pc(args)
    args = dict(args, executor="reference")
    if name == "pc":
        text = on_the_pc(DIGITS / "train.py", args)
        import odt

        odt.executor.use("native")
    else:
        text = run(name, args)
    assert "reference executor" in text
    assert digest(text) == expected


def check_public_steps(text, block):
    """docs/reference/costs.md: train_step takes the float that it returns; in float32 two objects more, in int8 with
    mse an integer of 64 bits.
    """
    assert f"a float takes {block} bytes" in text
    taken = re.findall(r"train_step of (\w+), (\w+) takes (\d+) bytes", text)
    assert len(taken) == 8
    for dtype, loss, size in taken:
        if dtype == "int8" and loss == "mse" and block == 16:
            assert block < int(size) <= 13 * block
        else:
            assert int(size) == (3 * block if dtype == "float32" else block), (dtype, loss)
    # fit() collects garbage, so what is left of an epoch differs by some objects; 200 steps are far more than these.
    more = int(re.search(r"of fit, 100 batches more in each of two epochs take (-?\d+) bytes", text).group(1))
    assert more < 100 * block


@pytest.mark.parametrize("name", machines.NATIVE)
def test_a_step_allocates_nothing_and_the_arena_is_as_announced(name):
    with machines.open(name) as machine:
        text = machine.run(ROOT / "tests_device" / "scripts" / "steady.py", timeout=300)
    assert "100 steps took 0 bytes of heap" in text
    check_public_steps(text, 32 if name == "unix" else 16)
    announced = re.search(r"^arena +(\d+) bytes", text, re.M).group(1)
    assert re.search(r"allocated: arena (\d+)", text).group(1) == announced


def test_what_a_step_calls_keeps_its_names_on_the_c_stack(tmp_path):
    """MicroPython takes those of a call from the heap where names and operands are more than 11 words: py/vm.c."""
    words, source = {}, ROOT / "build" / "src" / "micropython"
    for module in ("run/network", "run/session", "run/predict"):
        compiled = tmp_path / "module.mpy"
        subprocess.run([ROOT / "build/mpy-cross/mpy-cross", ROOT / f"odt/{module}.py", "-o", compiled], check=True)
        command = [sys.executable, source / "tools/mpy-tool.py", "-d", compiled]
        listing = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        found = re.findall(r"simple_name: (\w+)\n.*?prelude: \((\d+),", listing, re.S)
        words.update({name: int(count) for name, count in found})
    for name in (
        "train_step", "bind", "point", "batch", "next_part", "clear", "train", "_train_parts", "_look_at_scale",
        "_run_piece", "mean",
        "step", "predict", "_new",
    ):  # fmt: skip
        assert words[name] <= 11, (name, words[name])


@pytest.mark.parametrize("name", machines.CORES)
def test_xor_is_learnt(name):
    with machines.open(name) as machine:
        text = machine.run(ROOT / "examples" / "xor" / "train.py", timeout=300)
    assert digest(text) == digest(on_the_pc(ROOT / "examples" / "xor" / "train.py", {}))
    assert [line.split("= ")[1] for line in text.splitlines() if " xor " in line] == list("0110")
