"""Cycles, or instructions, of a training step on a board, estimated from the plan, without a board or an emulator.

    model.compile(odt.Adam(0.004), batch_size=16)
    print(cycles(model))                  # of one train_step(), on the RP2040
    print(by_instruction(model))          # {instruction: cycles}

Each instruction costs a sum of products of its sizes, each times a factor: the products of most are in their rows
(traits/), those of convolutions and dense layers in int8, whose kernels choose between loops, in m0.py and m4.py. The
factors are measured (bench/costs/cost.py, on the emulated boards): the RP2040's cycles lie in rp2040.py, instructions
of a Cortex-M4 with an FPU in m4f.py (a Cortex-M33 and a Cortex-M7 run as many), those of a RISC-V core in rv32.py. A
real core takes some more cycles than instructions. What is not estimated: how data
steers a kernel (a shift more, a zero that is skipped), the garbage collector, and the loop around the step.
"""

from array import array

from ...base.fixed import get
from ...base.regions import REGION_SHIFT, SAMPLES
from ...run.replace import resume
from ...run.session import batch, bind, clear, is_untrained, next_part, pieces
from ..traits import TRAITS
from . import m0, m4
from .m4f import FACTORS as M4F
from .rp2040 import FACTORS as RP2040
from .rv32 import FACTORS as RV32

MACHINES = {
    "rp2040": (RP2040, m0.LOOPS, "cycles of an RP2040"),
    "cortex-m4f": (M4F, m4.LOOPS, "instructions of a Cortex-M4"),
    "rv32": (RV32, m0.LOOPS, "instructions of an RV32IMC core"),
}  # factors, the loops that they are of, and the unit

SAMPLED = 32  # positions

# The terms of a row are its sizes and: P = B * OH * OW, T = KH * KW, J = N / 32 rounded up, V: N modulo 4, I: taps of
# all outputs that are inside the image; E and X: elements that are not 0, Q and D: their part.


class Unknown(ValueError):
    """A machine or an instruction of which nothing was measured."""


def cycles(model, x=None, y=None, machine="rp2040"):
    """Of one ``train_step`` of a whole batch, Python around it included.

    ``machine``: one of MACHINES, which has the unit. Unknown names what was not measured.

    ``model``: compiled with an optimizer, or opened from a file; it stays as it is. ``x``, ``y``: samples, as for
    ``fit``, a batch of which goes through a step here: how many errors are 0 decides about a kernel's loops. Without,
    it is noise that does. RuntimeError where it is not compiled to train.
    """
    return int(sum(by_instruction(model, x, y, machine).values()) + 0.5)


def by_instruction(model, x=None, y=None, machine="rp2040"):
    """``{instruction: cycles}`` of such a step; "python" is what is around them."""
    if machine not in MACHINES:
        raise Unknown("cost: the machine is one of %s, got %r" % (", ".join(MACHINES), machine))
    found = {}
    for name, sizes in instructions(model, x, y):
        found[name] = found.get(name, 0) + cost(name, sizes, machine)
    found["python"] = python(model.dtype, -(-model.batch_size // model.session.rows), machine)
    return found


def python(dtype, parts, machine="rp2040", factors=None):
    """Cycles of a step around its instructions: of a batch in several parts more, and each further part has its own."""
    known = (factors or MACHINES[machine][0])["python"]
    return known[dtype] + (known["parts"] if parts > 1 else 0) + (parts - 1) * known["part"]


def cost(name, sizes, machine="rp2040", factors=None):
    """Cycles of one instruction; ``factors``: others than the machine's."""
    total = 0
    for group, values in features(name, sizes, machine):
        known = (factors or MACHINES[machine][0]).get(group)
        if known is None:
            raise Unknown("cost: nothing was measured of the instruction %s (%s)" % (name, group))
        total += sum([known.get(term, 0) * value for term, value in values.items()])
    return total


def instructions(model, x=None, y=None):
    """``[(name, sizes)]`` of a step in their order: immediates, and what the data comes to. Errors as of cycles().

    "E", "X": how many elements of operands e and x are not 0; "is_sparse": what a convolution's gradient decides by its
    errors; "format": the Input's; "each": for how many rows the instruction is repeated, those that the tokens name.
    """
    session = model.session
    if session is None or is_untrained(session):
        raise RuntimeError("cost: the model is not compiled to train")
    if x is None:
        x, y = noise(session)
    arena, state, control = bytes(session.arena), bytes(session.state), bytes(session.control)
    where = session.calibrated, session.epoch, session.underway, session.seed
    try:
        bind(session, x, y)
        if session.calibrated < 2:
            session.calibrate(2)
        clear(session)
        batch(session, 0, min(session.control[SAMPLES], session.batch_size))
        session.set_rate()
        return list(_step(session, model.program))
    finally:
        session.arena[:], session.state[:] = arena, state
        resume(session, *where)
        session.use((0, None, None, ()))
        session.control[:] = array("i", control)


def _step(session, program):
    if session.micro:
        while next_part(session):
            for piece in pieces(session):
                yield from _piece(session, program, piece)
    else:
        for piece in session.parts:
            yield from _piece(session, program, piece)
    for piece in session.update:
        yield from _piece(session, program, piece)


def _piece(session, program, piece):
    start, stop, _ = piece
    for at, code, addresses, immediates in program.walk(start, stop):
        sizes = dict(zip(code.immediates, immediates), format=session.input.dtype)
        if hasattr(code, "prefix"):
            prefix, given, _ = code.prefix
            if prefix.name != "each":
                raise Unknown(
                    "cost: %s works on rows that each step chooses, so its cost cannot be estimated" % code.name
                )
            sizes["each"] = get(session.regions[given[0] >> REGION_SHIFT], given[0] & (1 << REGION_SHIFT) - 1)
        for index, (operand, _, dtype, _, _) in enumerate(code.operands):
            if operand in ("e", "x") and dtype in ("i8", "f32"):
                begin = addresses[index] & (1 << REGION_SHIFT) - 1
                region = session.regions[addresses[index] >> REGION_SHIFT]
                data = bytes(region[begin : begin + code.bytes(index, sizes)])
                data = data if dtype == "i8" else array("I", data)
                sizes[operand.upper()] = len(data) - _zeros(data)
                sizes["Q" if operand == "e" else "D"] = sizes[operand.upper()] / len(data)
                if operand == "e" and code.name == "conv2d_dw_i8":
                    sizes.update(_errors(data, sizes))
                elif operand == "e" and code.name == "conv2d_dx_i8":
                    sizes.update(m0.dx_errors(data, sizes["N"]))
        yield code.name, sizes
        session.engine.run(session.loaded, session.regions, at, at + code.words)


def _errors(e, s):
    """What is_sparse() of native/kernels/linear/conv2d_dw_i8.c decides by: "hits", the errors that are not 0 at the
    positions that it samples; and "E", those of all rows in hand.
    """
    N, at, R = s["N"], s["at"], s["R"]
    counts = m0.sampled(e, N, at, R, SAMPLED)
    found = sum([R - e[row + at : row + at + R].count(b"\0") for row in range(0, len(e), N)])
    return {"E": found, "hits": sum(counts), "sampled": len(counts)}


def _zeros(data):
    """How many elements of bytes or of an array are 0; as MicroPython counts, too."""
    return data.count(b"\0") if isinstance(data, bytes) else sum([value == 0 for value in data])


def _product(values):
    """Of numbers; MicroPython has no math.prod."""
    found = 1
    for value in values:
        found *= value
    return found


def noise(session):
    """(x, y) of a batch: normal, of deviation 1 where the Input has a scale, and labels or targets to it."""
    import random

    rng, layer = random.Random(0), session.input
    count = session.batch_size * session.row
    if layer.dtype == "float32":
        x = array("f", [rng.gauss(0, 1) for _ in range(count)])
    elif getattr(layer, "check", None):
        x = bytes([rng.randrange(layer.check.vocabulary) for _ in range(count)])
    else:
        code, low, high = {"uint8": ("B", 0, 255), "int8": ("b", -128, 127), "int16": ("h", -(1 << 15), (1 << 15) - 1),
            "uint16": ("H", 0, 65535),
                           "int32": ("i", -(1 << 31), (1 << 31) - 1)}[layer.dtype]  # fmt: skip
        x = [int(rng.gauss(0, 1) / layer.scale + layer.zero_point) for _ in range(count)]
        x = array(code, [max(low, min(high, value)) for value in x])
    if session.loss.labels:
        return x, array("i", [rng.randrange(session.classes) for _ in range(session.batch_size)])
    low = 0 if session.loss.binary else -1
    return x, array("f", [rng.uniform(low, 1) for _ in range(session.batch_size * session.width)])


def features(name, sizes, machine="rp2040"):
    """``[(group, {term: value})]`` whose products with the group's factors sum to the instruction's cycles."""
    if "each" in sizes:
        sizes = dict(sizes)
        times = sizes.pop("each")
        once = features(name, sizes, machine)
        return [(group, {term: times * value for term, value in values.items()}) for group, values in once]
    base, _, dtype = name.rpartition("_")
    special = MACHINES[machine][1].get(base) if dtype == "i8" else None
    if special:
        return special(sizes)
    group = name
    if name == "avgpool2d_dx_i8" and _are_tiles(sizes):
        group += " tiles"
    elif dtype == "i8" and sizes.get("bits") == 2 and sizes["KH"] == sizes["KW"] == 2 and _are_tiles(sizes):
        group += " quads"
    elif base == "gather":
        group += " " + sizes["format"]
    elif name == "tick":
        group += " adam" if sizes["beta1"] else " sgd"
    return [(group, plain(TRAITS[name].cost or _all(sizes), sizes))]


def _are_tiles(s):
    """Whether windows lie side by side and inside, as in native/kernels/pool/: avgpool2d_i8.c, and of 2x2
    maxpool2d_i8.c.
    """
    beside = s["SH"] == s["KH"] and s["SW"] == s["KW"] and not (s.get("adaptive") or s["PT"] or s["PL"])
    return beside and s["OH"] * s["KH"] <= s["H"] and s["OW"] * s["KW"] <= s["W"]


def plain(terms, sizes):
    """The products that words such as "P*N" mean."""
    known = dict(sizes)
    if "OH" in known:
        known["P"], known["T"] = known["B"] * known["OH"] * known["OW"], known["KH"] * known["KW"]
        known["J"] = -(-known["N"] // 32)
        known["I"] = known["B"] * _product([
            sum([0 <= out * known["S" + axis] - known["P" + side] + tap < known[axis]
                 for out in range(known["O" + axis]) for tap in range(known["K" + axis])])
            for axis, side in (("H", "T"), ("W", "L"))
        ])  # fmt: skip
    if "N" in known:
        known.setdefault("R", known["N"])
        known["V"] = known["N"] % 4
    found = {}
    for term in terms.split():
        if term == "1" or all([word in known for word in term.split("*")]):
            found[term] = _product([known[word] for word in term.split("*") if word != "1"])
    return found


def _all(sizes):
    """Of an instruction without terms of its own: 1, and all its sizes' product."""
    words = [
        word for word in sorted(sizes) if word.isupper() and word not in ("PT", "PL", "R", "S", "E", "X", "Q", "D")
    ]
    return "1 E X " + "*".join(words) if words else "1"
