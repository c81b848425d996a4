"""Whatever odt keeps in a file survives power cuts in MicroPython's littlefs and FAT (VfsLfs2, VfsFat)."""

import re

import machines

from odt.host.boards import deploy


def test_no_power_cut_loses_what_is_kept_in_a_file():
    with machines.open("unix") as machine:
        machine.heap = "16M"
        args = {"settle": deploy._SETTLE, "take": deploy._TAKE}
        text = machine.run("tests_device/scripts/savers.py", args=args, timeout=300)
    rows = re.findall(r"^(.+), (Vfs\w+): (\d+) cuts, the old one (\d+) times, the new one (\d+) times", text, re.M)
    assert len(rows) == 26
    for name, _, cuts, old, new in rows:
        assert int(cuts) == int(old) + int(new) > 0 and int(old) > 0, name
    assert sum(int(row[2]) for row in rows) > 400 and sum(int(row[4]) for row in rows) > 10
