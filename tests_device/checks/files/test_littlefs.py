"""Checkpoints in a littlefs (MicroPython's own, VfsLfs2) survive power cuts and a lack of room."""

import re

import machines


def test_no_power_cut_in_a_littlefs_loses_a_checkpoint():
    with machines.open("unix") as machine:
        text = machine.run("tests_device/scripts/littlefs.py", args={"saves": 12}, timeout=120)
    cuts, old, new = map(int, re.search(r"(\d+) power cuts: the old one (\d+) times, the new one (\d+)", text).groups())
    assert cuts == old + new > 400 and old > 100 and new > 5
    written, refused = map(int, re.search(r"(\d+) saves into what was free, (\d+) refused", text).groups())
    assert written > 5 and refused > 1
