"""Instructions one at a time, of the reference or the native module, and formulas that they are compared with."""

import instructions
import numpy as np

from odt.base import opcodes
from odt.base.opcodes import ARENA, CONTROL, CONTROL_WORDS, REGION_SHIFT, X_DATA, Y_DATA
from odt.reference import program as reference

DTYPES = {"i8": np.int8, "i16": np.int16, "i32": np.int32, "mul": np.int32, "f32": np.float32}


def call(name, operands, engine=reference, **immediates):
    """Run one instruction on NumPy arrays by an engine; returns what it wrote, by operand name.

    An operand that is not given is zeros, a scale may be given as a float; all rows are taken where
    none are named.
    """
    op = opcodes.opcode(name)
    if "R" in op.immediates:
        immediates = dict({"at": 0, "R": immediates["N"]}, **immediates)
    elif "at" in op.immediates:
        immediates = dict({"at": 0}, **immediates)
    arena = bytearray()
    regions = [arena, None, bytearray(4 * CONTROL_WORDS), None, None, None]
    addresses = []
    for i, (operand, _, dtype, _, _) in enumerate(op.operands):
        data = operands.get(operand)
        if dtype == "buf":
            region = X_DATA if operand == "x" else Y_DATA
            regions[region] = np.ascontiguousarray(data).tobytes()
            addresses.append(region << REGION_SHIFT)
        elif operand == "c":
            words = np.asarray(data, np.int32).tobytes()
            regions[CONTROL][: len(words)] = words
            addresses.append(CONTROL << REGION_SHIFT)
        else:
            size = op.bytes(i, immediates)
            if isinstance(data, float):
                data = np.array([data], np.float32).view(np.int32)
            data = bytes(size) if data is None else np.asarray(data, DTYPES[dtype]).tobytes()
            assert len(data) == size, operand
            addresses.append(ARENA << REGION_SHIFT | len(arena))
            arena += data + bytes(-size % 4)
    program = instructions.assemble(op, addresses, immediates, len(arena), 0, 0)
    engine.run(engine.load(program), regions, 12, len(program) // 4)
    result = {}
    for i, (operand, access, dtype, _, _) in enumerate(op.operands):
        if access != ":":
            region, at = divmod(addresses[i], 1 << REGION_SHIFT)
            data = bytes(regions[region][at : at + op.bytes(i, immediates)])
            result[operand] = np.frombuffer(data, DTYPES[dtype])
    return result


def bits(x):
    return int(np.float32(x).view(np.int32))


def as_float(words):
    return np.asarray(words, np.int32).view(np.float32).astype(np.float64)


def control(**words):
    c = np.zeros(16, np.int32)
    for name, v in words.items():
        c[getattr(opcodes, name)] = bits(v) if isinstance(v, float) else v
    return c


def window_case(rng, v, kind):
    v = dict(v, C=v["N"]) if kind == "depthwise2d" else v
    w = (v["N"], v["KH"], v["KW"]) + (() if kind == "depthwise2d" else (v["C"],))
    return v, (v["B"], v["H"], v["W"], v["C"]), w, (v["B"], v["OH"], v["OW"], v["N"])


def softmax(x):
    p = np.exp(x - x.max(axis=1, keepdims=True))
    return p / p.sum(axis=1, keepdims=True)
