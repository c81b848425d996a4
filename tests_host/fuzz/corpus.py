"""Inputs for the fuzzers to start from: for executor.c every instruction drawn a few times, and whole networks.

    python tests_host/fuzz/corpus.py TARGET FOLDER
"""

import os
import random
import struct
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.dirname(HERE), os.path.dirname(os.path.dirname(HERE))]

import instructions
import networks

from odt import opcodes

NETWORKS = 60
MOST = 8192  # bytes of an input: libFuzzer's -max_len


def pack(program, control, arena, state, constants, x, y):
    x, y = x[:4095], y[:4095]
    head = struct.pack("<HHI", len(x), len(y), 1)
    data = struct.pack("<I", len(program) // 4) + program + head + control + arena + state + constants + x + y
    return data[:MOST]


def instruction_inputs():
    rng = random.Random(1)
    for name in instructions.NAMES:
        for prefix in (None, None, "few", "each"):
            case = instructions.draw(rng, name, prefix if instructions.has_size(name) else None)
            parts = [bytes(region or b"") for region in case.regions]
            order = (opcodes.CONTROL, opcodes.ARENA, opcodes.STATE, opcodes.CONSTANTS, opcodes.X_DATA, opcodes.Y_DATA)
            yield pack(case.program, *[parts[region] for region in order])


def network_inputs():
    """Programs of compile() after a step, with the state and the control block that they then have."""
    for seed in range(NETWORKS):
        model, options, x, y = networks.draw_case(networks.Random(random.Random(seed)))
        model.compile(**options)
        try:
            model.fit(x, y, verbose=0)
        except ArithmeticError:
            pass
        arena = bytes(model._arena)
        yield pack(model._plan.code, bytes(model._control), arena, bytes(model._state), b"", bytes(x), bytes(y))


def programs():
    return [*instruction_inputs(), *network_inputs()]


def write(target, folder):
    if target.startswith("executor"):
        inputs = programs()
    else:
        import loaders

        inputs = getattr(loaders, target + "_corpus")()
    os.makedirs(folder, exist_ok=True)
    for number, data in enumerate(inputs):
        with open(os.path.join(folder, "seed_%03d" % number), "wb") as file:
            file.write(data)


if __name__ == "__main__":
    write(*sys.argv[1:])
