"""The executor in C under the address and undefined-behaviour sanitizers, and contents that no run would leave."""

import struct
import subprocess

from odt.base import opcodes


def run(harness, cases, tmp_path):
    """(ran, refused, too large to be tried) of cases, each (program, regions or None)."""
    with open(tmp_path / "cases", "wb") as f:
        for program, regions in cases:
            regions = regions or [None] * opcodes.REGIONS
            sizes = [-1 if region is None else len(region) for region in regions]
            f.write(struct.pack("<7i", len(program) // 4, *sizes) + program)
            f.write(b"".join(region or b"" for region in regions))
    done = subprocess.run([harness, str(tmp_path / "cases")], check=False, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[:4000]
    return [int(word) for word in done.stdout.split()]


def spoil(rng, case):
    """The case's regions with contents that no run would leave: bad scales, control words, floats."""
    words = struct.pack("<8i", 0, -1, 1 << 31 - 1, -1 << 31, 0x7FC00000, 0x7F800000, 1, 0x80808080 - (1 << 32))
    regions = []
    for region in case.regions:
        kind = rng.randrange(4)
        if region is None or kind == 0:
            regions.append(region)
        elif kind == 1:
            regions.append(rng.randbytes(len(region)))
        elif kind == 2:
            at = 4 * rng.randrange(8)
            regions.append((words[at : at + 4] * (len(region) // 4 + 1))[: len(region)])
        else:
            region = bytearray(region)
            for _ in range(3):
                at = rng.randrange(len(region) // 4 + 1) * 4
                region[at : at + 4] = rng.randbytes(4)[: len(region) - at]
            regions.append(bytes(region))
    return regions
