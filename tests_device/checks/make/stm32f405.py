"""Training on the emulated STM32F405. Its name keeps pytest from collecting it: `make test-stm32`,
which needs MPY_DIR, asks for it."""

import re
import subprocess

import machine_stm32
import pytest
from digests import DIGITS, FLOAT32, INT8, ROOT, digest, on_the_pc


@pytest.fixture(scope="module")
def board():
    with machine_stm32.STM32F405() as machine:
        yield machine


def test_prompt_is_the_stm32_ports_on_the_pyboards_chip(board):
    text = board.exec("import os, sys\nprint(sys.platform, os.uname().machine)")
    assert text == "pyboard QEMU olimex-stm32-h405 with STM32F405RG\n"


def test_floats_are_the_fpus_and_passed_in_its_registers(board):
    elf = str(board.image_path)
    command = ["arm-none-eabi-readelf", "-A", elf]
    attributes = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert "Tag_ABI_VFP_args: VFP registers" in attributes and "Tag_FP_arch: VFPv4-D16" in attributes
    enabled = board.exec("from machine import mem32\nprint(mem32[0xE000ED88] >> 20 & 15)")  # CPACR
    assert enabled == "15\n"


@pytest.mark.parametrize("args", (INT8, FLOAT32), ids=("int8", "float32"))
def test_training_ends_with_the_digest_of_every_other_machine(board, args):
    text = board.run(DIGITS / "train.py", cwd_files=DIGITS, args=args, timeout=300)
    assert "native executor" in text
    assert digest(text) == digest(on_the_pc(DIGITS / "train.py", args))


def test_example_trains_as_it_is_in_the_heap_of_a_pyboard(board):
    text = board.run(DIGITS / "train.py", cwd_files=DIGITS, timeout=300)
    small = {"train": 96, "test": 48, "batch": 2}  # what it takes where little memory is free
    assert digest(text) == digest(on_the_pc(DIGITS / "train.py", small))
    assert float(re.search(r"test accuracy ([0-9.]+) %", text).group(1)) > 90


def test_step_allocates_nothing(board):
    assert "100 steps took 0 bytes of heap" in board.run(ROOT / "tests_device" / "scripts" / "steady.py", timeout=300)
