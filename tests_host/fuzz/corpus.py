"""Inputs for the fuzzers to start from: for executor.c every instruction drawn a few times, and whole networks.

    python tests_host/fuzz/corpus.py TARGET FOLDER [ARCHIVE]

Adds the files of an archive, if it is there: programs in it get today's version, so that they are not refused for it.
"""

import os
import random
import struct
import sys
import tarfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "helpers"))

import checkout  # noqa: E402, F401
import instructions
import networks

from odt.base import opcodes

NETWORKS = 60
MOST = 8192  # bytes of an input: libFuzzer's -max_len


def pack(program, control, arena, state, constants, x, y, rows=0):
    x, y = x[:4095], y[:4095]
    head = struct.pack("<HHI", len(x) | rows << 12, len(y), 1)
    data = struct.pack("<I", len(program) // 4) + program + head + control + arena + state + constants + x + y
    return data[:MOST]


def instruction_inputs():
    rng = random.Random(1)
    for name in instructions.NAMES:
        for prefix in (None, None, "few", "each"):
            case = instructions.draw(rng, name, prefix if instructions.has_size(name) else None)
            parts = [bytes(region or b"") for region in case.regions]
            order = (opcodes.CONTROL, opcodes.ARENA, opcodes.STATE, opcodes.CONSTANTS, opcodes.X_DATA, opcodes.Y_DATA)
            yield pack(case.program, *[parts[region] for region in order], rng.choice((0, 2, 3, 4)))


def network_inputs():
    """Programs of compile() after a step, with the state and the control block that they then have."""
    for seed in range(NETWORKS):
        model, x, y = networks.fitted(seed)
        arena = bytes(model.session.arena)
        yield pack(
            model.session.plan.code,
            bytes(model.session.control),
            arena,
            bytes(model.session.state),
            b"",
            bytes(x),
            bytes(y),
            min(model.session.rows, 15),
        )


def programs():
    return [*instruction_inputs(), *network_inputs()]


def write(target, folder, archive=None):
    has_programs = target.startswith("executor") or target == "verifiers"
    if has_programs:
        inputs = programs()
    else:
        import loaders

        inputs = getattr(loaders, target + "_corpus")()
    files = {"seed_%03d" % number: bytes(data) for number, data in enumerate(inputs)}
    if archive and os.path.exists(archive):
        with tarfile.open(archive) as members:
            files.update({member.name: members.extractfile(member).read() for member in members})
    os.makedirs(folder, exist_ok=True)
    for name, data in files.items():
        if has_programs and len(data) >= 12:
            data = data[:8] + struct.pack("<I", opcodes.VERSION) + data[12:]
        with open(os.path.join(folder, name), "wb") as file:
            file.write(data)


if __name__ == "__main__":
    write(*sys.argv[1:])
