"""python -m odt info: what is in a model file, a checkpoint, frozen weights or a program. It changes nothing.

A checkpoint names its program by a CRC alone: the layers' names and shapes come from the script that
compiles the model (``--model train.py``), which is run until it has.
"""

import io
import struct
from pathlib import Path

from ..base import executor
from ..base.fixed import bits_to_float, get
from ..base.opcodes import REGION_SHIFT, STATE, VERSION, opcode
from ..files import checkpoint, frozen
from ..files.open import load_model
from ..inspect.packed import stored
from ..plan.program import HEADER_WORDS, SECTIONS, Prefixed, Program
from ..run import weights
from .boards.board import BoardError
from .chart import compiled_by
from .rows.packed import Flash
from .text import say

_RANGES = ("none yet", "of the forward pass", "all known")
_DTYPES = {"i8": "int8", "i16": "int16", "i32": "int32", "f32": "float32", "mul": "multiplier"}


def command(options):
    """Print it; returns 0. BoardError with the reason why not."""
    try:
        lines = list(describe(options.file, options.model))
    except (OSError, ValueError) as error:
        raise BoardError(str(error)) from None
    for line in lines:
        say(line)
    return 0


def describe(path, script=None):
    """The lines of what a file is. ValueError for a damaged one, an unknown kind, or another model's."""
    data = Path(path).read_bytes()
    for magic, kind in (
        (b"ODTN", _model),
        (b"ODTM", _checkpoint),
        (b"ODTF", _frozen),
        (b"ODT4", _frozen),
        (b"ODT1", _program),
    ):
        if data[:4] == magic:
            try:
                yield from kind(str(path), data, compiled_by(script) if script else None)
            except ValueError as error:
                raise error if str(path) in str(error) else ValueError("%s: %s" % (path, error)) from None
            return
    raise ValueError(
        "%s: no model file (ODTN), checkpoint (ODTM), frozen weights (ODTF, ODT4) or program (ODT1): it begins with %r"
        % (path, data[:4])
    )


def _model(path, data, _):
    model = load_model(data)
    session, plan = model.session, model.session.plan
    yield "model file, %d bytes, undamaged: %s, %s, batch %d%s" % (
        len(data),
        model.kind,
        model.dtype,
        model.batch_size,
        ", in parts of %d" % session.micro if session.micro else "",
    )
    name = getattr(session.optimizer, "name", None)
    yield "trains       " + ("by %s, loss %s" % (name, session.loss.name) if name else "no: to predict and to evaluate")
    yield "input        %s %s" % (session.input.dtype, session.input.shape)
    yield "output       %s%s" % (session.shape, ", " + ", ".join(model.labels) if model.labels else "")
    if model.features:
        yield "features     %r" % (model.features,)
    yield "memory       arena %d, state %d, program %d bytes, %d of frozen weights in the file" % (
        plan.arena,
        plan.state,
        len(plan.code),
        plan.constants,
    )
    yield "digest       %08x after %d steps, %d complete epochs" % (model.digest(), session.steps(), model.epoch)
    yield "ranges       %s" % _RANGES[session.calibrated]
    yield "layers"
    for name, kind, shape, parameters, *_ in plan.table:
        yield "  %-16s %-16s %-16s %8d" % (name, kind, shape, parameters)
    yield "tensors"
    yield from _weights(model)


def _checkpoint(path, data, model):
    engine = executor.engine
    words = checkpoint.check(io.BytesIO(data), path, engine)
    if len(data) != checkpoint.HEADER + words[2]:
        raise ValueError("%s is damaged: longer than %d bytes" % (path, checkpoint.HEADER + words[2]))
    if model is not None and words[1] != engine.crc32(model.program.code):
        raise ValueError("%s: saved by another network than that of the script, or one compiled otherwise" % path)
    state = data[checkpoint.HEADER :]
    if len(state) < 16:
        raise ValueError("%s is damaged: a state of %d bytes, expected 16 at least" % (path, len(state)))
    if model is not None:
        model.load(path)
    digest = engine.crc32(state) if model is None else model.digest()
    steps, seed, *powers = struct.unpack("<4I", state[:16])
    yield "checkpoint, format %d, %d bytes, undamaged" % (words[0], len(data))
    yield "program      CRC %08x" % words[1]
    yield "state        %d bytes, digest %08x%s" % (len(state), digest, "" if model else " (without frozen=)")
    yield "steps        %d, seed %d" % (steps, seed)
    where = ", and %d samples of the next" % words[5] if words[5] else ""
    yield "epochs       %d complete%s" % (words[4], where)
    yield "ranges       %s" % _RANGES[words[3]]
    if model is None:
        # Only Adam's betas move these powers from 1, in Q30.
        known = "SGD" if powers == [1 << 30, 1 << 30] else "Adam"
        known = known if steps else "unknown before the first step"
        yield "optimizer    %s" % known
        yield "tensors      give the script that compiles the model: --model train.py"
        return
    yield "optimizer    %s, dtype %s, batch_size %d" % (
        type(model.session.optimizer).__name__,
        model.dtype,
        model.batch_size,
    )
    yield "tensors"
    yield from _weights(model)


def _frozen(path, data, model):
    engine = executor.engine
    if len(data) <= frozen.HEADER or len(data) % 4:
        raise ValueError("%s is damaged: %d bytes of frozen weights" % (path, len(data)))
    if struct.unpack("<I", data[8:12])[0] != engine.crc32(data[frozen.HEADER :]):
        raise ValueError("%s is damaged: its CRC does not match" % path)
    start = Flash(data) if frozen.is_four(data) else frozen.HEADER
    four = ", %d kernels of 4 bits" % start.bits.count(4) if frozen.is_four(data) else ""
    yield "frozen weights, %d bytes%s, undamaged" % (len(data), four)
    yield "layers       CRC %08x of their sizes" % struct.unpack("<I", data[4:8])[0]
    if model is None:
        yield "tensors      give the script that compiles the model: --model train.py"
        return
    if struct.unpack("<I", data[4:8])[0] != engine.crc32(frozen.layout(model.session.plan.weights)):
        raise ValueError("%s: another network's layers than those of the script" % path)
    found = list(_frozen_buffers(model, start))
    size = start + sum([size for _, size, _ in found])
    if len(data) != size:
        raise ValueError("%s is damaged: %d bytes, these layers take %d" % (path, len(data), size))
    yield "tensors"
    at = int(start)
    for buffer, size, text in found:
        scale = ", " + _scales(data, at, buffer.size // 4) if buffer.name.endswith(" scale") else ""
        yield "  %-24s %7d bytes%s%s" % (buffer.name, size if text else buffer.size, text, scale)
        at += size


def _frozen_buffers(model, start):
    """(buffer, bytes in the file, what is said of them) of frozen weights that begin at ``start``."""
    bits = list(getattr(start, "bits", ()))
    for _, kept in model.session.plan.weights:
        width = bits.pop(0) if bits and kept.kernel else 8
        for buffer in kept.frozen:
            if width == 4 and buffer is kept.kernel:
                yield buffer, stored(buffer.size), ", %d weights of 4 bits" % buffer.size
            else:
                yield buffer, (buffer.size + 3) & ~3, ""


def _weights(model):
    """One line per weight: name, shape, storage, scale and largest value."""
    int8 = model.dtype == "int8"
    for layer, kept in model.session.plan.weights:
        arrays = weights.read(layer, model.session.state, model.session.frozen, kept, int8)
        whole = weights.wholes(layer, kept, int8)
        for (name, shape), values, integers in zip(layer.weight_shapes(), arrays, whole):
            line = "  %-24s %-16s" % (layer.name + " " + name, tuple(shape))
            if int8 and name == "kernel":
                memory = weights.memory_of(model.session.state, model.session.frozen, kept.scale)
                line += " int8, " + _scales(memory, kept.scale.offset, kept.rows)
            else:
                line += " int32 / 2^20" if integers else " float32"
            yield line + ", largest %.4g" % max([abs(value) for value in values])


def _scales(memory, offset, count):
    scales = [bits_to_float(get(memory, offset + 4 * row)) for row in range(count)]
    text = "scale %.4g" % min(scales)
    return text if min(scales) == max(scales) else text + " to %.4g" % max(scales)


def _program(path, data, model):
    if len(data) % 4 or len(data) < 4 * HEADER_WORDS:
        raise ValueError("%s is damaged: a program has whole words, %d at least" % (path, HEADER_WORDS))
    try:
        executor.engine.load(data)
    except ValueError as error:
        raise ValueError("%s: no program that runs here: %s" % (path, error)) from None
    program = Program(data)
    found = list(program.walk(HEADER_WORDS, len(program.words)))
    yield "program, instruction set %d, %d bytes, verified" % (VERSION, len(data))
    yield "program      CRC %08x" % executor.engine.crc32(data)
    yield "memory       arena %d, state %d, constants %d bytes" % (program.arena, program.state, program.constants)
    for name in SECTIONS:
        start, stop = program.section(name)
        yield "%-12s %d instructions" % (name, len([at for at, _, _, _ in found if start <= at < stop]))
    names = [code.name.split("_")[0] for _, code, _, _ in found]
    yield "optimizer    %s" % next((name for name in ("adam", "nesterov", "momentum") if name in names), "sgd")
    yield "tensors of the state, by address"
    yield from _operands(found)


def _operands(found):
    """A line an address of the state: what the first instruction that names it takes it for."""
    tensors = {}
    for _, code, addresses, immediates in found:
        if isinstance(code, Prefixed):
            code = opcode(code.name)
        sizes = dict(zip(code.immediates, immediates))
        for (name, _, dtype, extent, _), address in zip(code.operands, addresses):
            if address >> REGION_SHIFT == STATE:
                shape = tuple([factor if isinstance(factor, int) else sizes[factor] for factor in extent])
                tensors.setdefault(
                    address & ((1 << REGION_SHIFT) - 1), (code.name, name, shape, _DTYPES.get(dtype, dtype))
                )
    for at, (instruction, name, shape, dtype) in sorted(tensors.items()):
        yield "  S+%-7d %-22s %-5s %-8s %s" % (at, instruction, name, dtype, shape)
