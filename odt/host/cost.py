"""Cycles of a training step on a board, foretold from the plan: neither a board nor an emulator runs.

    model.compile(odt.Adam(0.004), batch_size=16)
    print(cycles(model))                  # of one train_step(), on the RP2040
    print(by_instruction(model))          # {instruction: cycles}

Each instruction costs a sum of products of its sizes, each times a factor: `TERMS` has the products of most,
functions below those of convolutions and dense layers in int8, whose kernels choose between loops. The factors are measured
(bench/cost.py, on the emulated RP2040) and lie in cost_rp2040.py. What is not foretold: how data steers a kernel (a shift more, a zero
that is skipped), the garbage collector, and the loop around the step.
"""

import math
import random
from array import array

from ..regions import REGION_SHIFT, SAMPLES
from ..run.session import batch, bind, clear, next_part, pieces
from ..run.start import Untrained
from .cost_rp2040 import FACTORS as RP2040

MACHINES = {"rp2040": RP2040}

# What kernels of native/kernels/linear/ decide by on a Cortex-M0+: panel_i8.c, gather_i8__panel.h, conv2d_dw_i8.c.
ROWS, DEPTH, BLOCK = 4, 144, 48
FEW, GATHERED = 80, 1280
PER_WINDOW, PER_ROW, PER_BYTE, DIRECT_ROW, DIRECT_WINDOW, DIRECT_BORDER = 20, 18, 5, 150, 42, 250
DIRECT_TAP, PER_SUM = 200, 75
SAMPLES_OF_ERRORS, SCAN, ERROR, ERROR_ROW, ERROR_TAP, PANEL, TAP, MORE = 64, 30, 135, 15, 15, 60, 16, 5

# By the name's part before the dtype: products of sizes, with P = B * OH * OW, T = KH * KW, J = N / 32 rounded up,
# V: N modulo 4, I: taps of all outputs that are inside the image; E and X: elements that are not 0, Q and D: their part.
WINDOW = "1 P P*N P*T P*T*N P*J P*T*J B*H*W*N"
ROW = "1 N N*K N*R R*K"
TERMS = {
    "adam": "1 N N*K R R*K",
    "apply": "1 N N*K R R*K",
    "momentum": ROW,
    "nesterov": ROW,
    "avgpool2d": WINDOW,
    "avgpool2d_dx": WINDOW,
    "maxpool2d": WINDOW,
    "maxpool2d_choice": WINDOW,
    "unpool2d": WINDOW,
    "globalavg": "1 B B*N B*S B*S*N",
    "globalavg_dx": "1 B B*N B*S B*S*N",
    "gather": "1 B B*F",
    "bias_dw": "1 N M*N M V M*V",
    "softmax_xent": "1 B B*N",
    "channel_scale": "1 M N M*N",
    "batch_stats": "1 N B*S B*S*N",
    "norm_stats": "1 M M*G M*S M*S*G*C",
    "norm": "1 M M*G M*S M*S*G*C",
    "norm_dw": "1 G*C M*G M*S*G*C",
    "norm_dx": "1 G*C M*G M*S M*S*G*C",
    "conv2d_f32": "1 P P*N P*KH*N I*N I*N*C I*N*C*D N*T*C",
    "conv2d_dx_f32": "1 B*H*W B*H*W*C I I*N I*N*C I*N*C*Q N*T*C",
    "conv2d_dw_f32": "1 P P*R I*R I*R*C I*R*C*Q I*R*C*Q*D R*T*C",
    "depthwise2d_f32": "1 N P*N I*N I*N*D N*T",
    "depthwise2d_dx_f32": "1 N B*H*W*N P*N I*N I*N*Q N*T",
    "depthwise2d_dw_f32": "1 R P*R I*R I*R*Q I*R*Q*D R*T",
    "dense_f32": "1 M M*N M*N*K M*N*K*D N*K",
    "dense_dx_f32": "1 M M*K M*N M*N*K M*N*K*Q K*N",
    "dense_dw_f32": "1 R R*K M*R M*R*K M*R*K*Q M*R*K*Q*D",
}


class Unknown(ValueError):
    """A machine or an instruction of which nothing was measured."""


def cycles(model, x=None, y=None, machine="rp2040"):
    """Of one ``train_step`` of a whole batch, Python around it included. Unknown names what was not measured.

    ``model``: compiled with an optimizer, or opened from a file; it stays as it is. ``x``, ``y``: samples, as for ``fit``, a batch of
    which goes through a step here: how many errors are 0 decides about a kernel's loops. Without, it is noise that does.
    RuntimeError where it is not compiled to train.
    """
    return int(sum(by_instruction(model, x, y, machine).values()) + 0.5)


def by_instruction(model, x=None, y=None, machine="rp2040"):
    """``{instruction: cycles}`` of such a step; "python" is what is around them."""
    if machine not in MACHINES:
        raise Unknown("cost: the machine is one of %s, got %r" % (", ".join(sorted(MACHINES)), machine))
    factors, found = MACHINES[machine], {}
    for name, sizes in instructions(model, x, y):
        found[name] = found.get(name, 0) + cost(name, sizes, factors)
    found["python"] = python(model.dtype, -(-model.batch_size // model.session.rows), factors)
    return found


def python(dtype, parts, factors=RP2040):
    """Cycles of a step around its instructions: of a batch in several parts more, and each further part has its own."""
    known = factors["python"]
    return known[dtype] + (known["parts"] if parts > 1 else 0) + (parts - 1) * known["part"]


def cost(name, sizes, factors=RP2040):
    """Cycles of one instruction."""
    total = 0
    for group, values in features(name, sizes):
        known = factors.get(group)
        if known is None:
            raise Unknown("cost: nothing was measured of the instruction %s (%s)" % (name, group))
        total += sum([known.get(term, 0) * value for term, value in values.items()])
    return total


def instructions(model, x=None, y=None):
    """``[(name, sizes)]`` of a step in their order: immediates, and what the data comes to. Errors as of cycles().

    "E", "X": how many elements of operands e and x are not 0; "is_sparse": what a convolution's gradient decides by its errors;
    "format": the Input's.
    """
    session = model.session
    if session is None or isinstance(session.optimizer, Untrained):
        raise RuntimeError("cost: the model is not compiled to train")
    if x is None:
        x, y = noise(session)
    kept = bytes(session.arena), bytes(session.state), bytes(session.control), session.calibrated
    try:
        bind(session, x, y)
        if session.calibrated < 2:
            session.calibrate(2)
        clear(session)
        batch(session, 0, min(session.control[SAMPLES], session.batch_size))
        session.set_rate()
        return list(_step(session, model.program))
    finally:
        session.arena[:], session.state[:], session.calibrated = kept[0], kept[1], kept[3]
        memoryview(session.control).cast("B")[:] = kept[2]
        session.known = session.used = None


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
        if hasattr(code, "prefix"):
            raise Unknown("cost: %s of rows that each step chooses anew has no cost beforehand" % code.name)
        sizes = dict(zip(code.immediates, immediates), format=session.input.dtype)
        for index, (operand, _, dtype, _, _) in enumerate(code.operands):
            if operand in ("e", "x") and dtype in ("i8", "f32"):
                begin = addresses[index] & (1 << REGION_SHIFT) - 1
                region = session.regions[addresses[index] >> REGION_SHIFT]
                data = bytes(region[begin : begin + code.bytes(index, sizes)])
                data = data if dtype == "i8" else array("I", data)
                sizes[operand.upper()] = len(data) - data.count(0)
                sizes["Q" if operand == "e" else "D"] = sizes[operand.upper()] / len(data)
                if operand == "e" and code.name == "conv2d_dw_i8":
                    sizes.update(_sparse(data, sizes))
        yield code.name, sizes
        session.engine.run(session.loaded, session.regions, at, at + code.words)


def _sparse(e, s):
    """As is_sparse() of native/kernels/linear/conv2d_dw_i8.c on a Cortex-M0+; "E" of the rows in hand."""
    N, at, R, KH, run = s["N"], s["at"], s["R"], s["KH"], s["KW"] * s["C"]
    positions = len(e) // N
    step = -(-positions // SAMPLES_OF_ERRORS) | 1
    sampled = -(-positions // step)
    errors = sum([R - e[m * N + at : m * N + at + R].count(0) for m in range(0, positions, step)])
    direct = errors * (ERROR + KH * (ERROR_ROW + ERROR_TAP * run)) + sampled * R * SCAN
    panel = PANEL + KH * (TAP + MORE if KH > 1 else TAP) * run
    found = sum([len(column) - column.count(0) for column in [e[n::N] for n in range(at, at + R)]])
    return {"E": found, "is_sparse": direct < sampled * -(-R // 4) * panel}


def noise(session):
    """(x, y) of a batch: normal, of deviation 1 where the Input has a scale, and labels or targets to it."""
    rng, layer = random.Random(0), session.input
    count = session.batch_size * session.row
    if layer.dtype == "float32":
        x = array("f", [rng.gauss(0, 1) for _ in range(count)])
    else:
        code, low, high = {"uint8": ("B", 0, 255), "int8": ("b", -128, 127), "int16": ("h", -(1 << 15), (1 << 15) - 1),
                           "int32": ("i", -(1 << 31), (1 << 31) - 1)}[layer.dtype]  # fmt: skip
        x = [int(rng.gauss(0, 1) / layer.scale + layer.zero_point) for _ in range(count)]
        x = array(code, [max(low, min(high, value)) for value in x])
    if session.loss.labels:
        return x, array("i", [rng.randrange(session.classes) for _ in range(session.batch_size)])
    low = 0 if session.loss.binary else -1
    return x, array("f", [rng.uniform(low, 1) for _ in range(session.batch_size * session.width)])


def features(name, sizes):
    """``[(group, {term: value})]`` whose products with the group's factors sum to the instruction's cycles."""
    base, _, dtype = name.rpartition("_")
    special = _SPECIAL.get(base) if dtype == "i8" else None
    if special:
        return special(sizes)
    if base == "gather":
        return [("%s %s" % (name, sizes["format"]), plain(TERMS[base], sizes))]
    if name == "tick":
        name += " adam" if sizes["beta1"] else " sgd"
    return [(name, plain(TERMS.get(name) or TERMS.get(base) or _all(sizes), sizes))]


def plain(terms, sizes):
    """The products that words such as "P*N" mean."""
    known = dict(sizes)
    if "OH" in known:
        known["P"], known["T"] = known["B"] * known["OH"] * known["OW"], known["KH"] * known["KW"]
        known["J"] = -(-known["N"] // 32)
        known["I"] = known["B"] * math.prod([
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
            found[term] = math.prod([known[word] for word in term.split("*") if word != "1"])
    return found


def _all(sizes):
    """Of an instruction without terms of its own: 1, and all its sizes' product."""
    words = [word for word in sizes if word.isupper() and word not in ("PT", "PL", "R", "S", "E", "X", "Q", "D")]
    return "1 E X " + "*".join(words) if words else "1"


# int8 by panels: correlate() is what conv2d_i8__panel.h does, correlate_dw() what conv2d_dw_i8__panel.h does.


def _conv2d(s):
    return correlate(s["B"], s["H"], s["W"], s["C"], s["N"], s["KH"], s["KW"], s["SH"], s["SW"], s["PT"], s["PL"],
                     s["OH"], s["OW"])  # fmt: skip


def _conv2d_dx(s):
    """One stride apart are the same taps: a convolution each."""
    found = []
    for kh in range(s["SH"]):
        rows = _phase(kh, s["PT"], s["SH"], s["H"], s["KH"])
        for kw in range(s["SW"]):
            columns = _phase(kw, s["PL"], s["SW"], s["W"], s["KW"])
            if rows[0] and columns[0]:
                is_empty = not (rows[1] and columns[1])
                found += correlate(
                    s["B"], s["OH"], s["OW"], s["N"], s["C"], 0 if is_empty else rows[1], 0 if is_empty else columns[1],
                    1, 1, rows[2], columns[2], rows[0], columns[0], s["SH"] == s["SW"] == 1, "dx ",
                )  # fmt: skip
    return found


def _phase(tap, pad, stride, size, taps):
    """(outputs, taps, padding) of the inputs one stride apart."""
    first = (tap - pad) % stride
    outputs = (size - 1 - first) // stride + 1 if first < size else 0
    count = (taps - 1 - tap) // stride + 1 if tap < taps else 0
    return outputs, count, count - 1 - (first + pad - tap) // stride


def _dense(s):
    M, K, N = s["M"], s["K"], s["N"]
    if M >= 4:
        return correlate(1, 1, M, K, N, 1, 1, 1, 1, 0, 0, 1, M)
    return [("dense few", {"1": 1, "sums": M * (N // 4), "four": M * (N // 4) * K, "outputs": M * N,
                           "rest": N % 4 * K, "rests": N % 4 * K * M, "rows": N % 4})]  # fmt: skip


def _dense_dx(s):
    M, K, N = s["M"], s["K"], s["N"]
    if M >= 2:
        return correlate(1, 1, M, N, K, 1, 1, 1, 1, 0, 0, 1, M, True, "dx ")
    return [("dense dx one", {"1": 1, "errors": N, "products": K * N, "outputs": K})]


def _dense_dw(s):
    if s["M"] >= 2:
        return correlate_dw(1, 1, s["M"], s["K"], s["R"], 1, 1, 1, 1, 0, 0, 1, s["M"])
    return [("dense dw one", {"1": 1, "rows": s["R"], "products": s["R"] * s["K"]})]


def _conv2d_dw(s):
    if s["is_sparse"]:
        R, T, E = s["R"], s["KH"] * s["KW"], s["E"]
        return [("dw sparse", {"1": 1, "scan": s["B"] * s["OH"] * s["OW"] * R, "errors": E, "rows": E * s["KH"],
                               "bytes": E * T * s["C"], "clear": R * T * s["C"], "channels": R, "lines": s["B"] * s["OH"] * R})]  # fmt: skip
    return correlate_dw(s["B"], s["H"], s["W"], s["C"], s["R"], s["KH"], s["KW"], s["SH"], s["SW"], s["PT"], s["PL"],
                        s["OH"], s["OW"])  # fmt: skip


def correlate(B, H, W, C, N, KH, KW, SH, SW, top, left, OH, OW, is_dense=True, kind=""):
    """Of panels of four filters run over columns of x."""
    P, K, length, panels = B * OH * OW, KH * KW * C, KW * C, -(-N // ROWS)
    if is_dense and KH == KW == SH == SW == 1 and not (top or left) and (OH, OW) == (H, W):
        chunks, blocks = -(-K // DEPTH), -(-P // BLOCK)
        aligned = K % 4 == 0
        terms = {
            "pack": panels * K * (1 if chunks == 1 else blocks), "packs": panels * (1 if chunks == 1 else blocks * chunks),
            "runs": panels * blocks * chunks, "columns": panels * P * chunks,
            "pairs": 0 if aligned else panels * P * (K // 2), "words": panels * P * (K // 2) if aligned else 0,
            "odd": panels * P * (K % 2),
        }  # fmt: skip
        finishes, group = panels * blocks, "pointwise"
    elif is_dense and _is_gathered(KH, length, C, W, OW, SW, panels):
        step = (K + 3) & ~3
        block = min(BLOCK, GATHERED // step)
        blocks = -(-P // block)
        packs = panels * blocks if panels > 1 else 1
        aligned = K // 2 % 2 == 0
        terms = {
            "windows": P, "rows": P * KH, "bytes": P * K, "gathers": blocks * KH, "pack": packs * K, "packs": packs * KH,
            "runs": panels * blocks, "columns": panels * P, "pairs": 0 if aligned else panels * P * (K // 2),
            "words": panels * P * (K // 2) if aligned else 0, "odd": panels * P * (K % 2),
        }  # fmt: skip
        finishes, group = panels * blocks, "gathered"
    else:
        padded = (length + 1) & ~1
        chunks = -(-KH * padded // DEPTH)
        columns = min(OW, BLOCK)
        block = BLOCK // OW if OW < BLOCK else 1
        blocks = -(-B * OH // block) * -(-OW // columns)
        inside = min(OW, max((W - KW) // SW + 1, 0)) if length else 0
        parts = KH + (chunks - 1 if length % DEPTH else 0)  # runs of a row of outputs
        aligned = (SW * C) % 4 == 0 and C % 4 == 0 and length % 4 == 0
        packs = 1 if chunks <= 1 else blocks
        pairs = panels * P * KH * (length // 2)
        terms = {
            "pack": panels * K * packs, "packs": panels * KH * packs, "blocks": panels * blocks,
            "runs": panels * B * OH * parts, "columns": panels * B * OH * inside * parts,
            "border": panels * B * OH * (OW - inside) * parts, "pairs": 0 if aligned else pairs,
            "words": pairs if aligned else 0, "odd": panels * P * KH * (length % 2), "empty": panels * P * (not K),
        }  # fmt: skip
        finishes, group = panels * (blocks if is_dense and OW <= BLOCK else B * OH * -(-OW // columns)), "rows"
    terms.update({"1": 1, "finishes": finishes, "outputs": P * N, "filters": N})
    return [(kind + group, terms)]


def _is_few(size, length):
    return length > 0 and 1 < size <= FEW


def _is_gathered(KH, length, C, W, OW, SW, panels):
    """As is_gathered() of gather_i8__panel.h."""
    size = KH * length
    if not _is_few(size, length):
        return False
    inside = 0 if length > W * C else (W * C - length) // (SW * C) + 1
    direct = KH * (DIRECT_ROW + OW * DIRECT_WINDOW + max(OW - inside, 0) * DIRECT_BORDER)
    return OW * (PER_WINDOW + KH * PER_ROW + size * PER_BYTE + panels * DIRECT_WINDOW) < direct * panels


def correlate_dw(B, H, W, C, N, KH, KW, SH, SW, top, left, OH, OW):
    """Of panels of the errors of four channels run over columns of x."""
    P, K, length, panels, T = B * OH * OW, KH * KW * C, KW * C, -(-N // ROWS), KH * KW
    terms = {"1": 1, "errors": P * N, "products": panels * K * (P // 2)}
    if _is_few(K, length):
        block = min(FEW, GATHERED // K)
        gathered = OW * (PER_WINDOW + KH * PER_ROW + K * (PER_BYTE + panels * PER_SUM // block))
        if gathered < panels * T * DIRECT_TAP:
            blocks = -(-P // (block & ~1))
            terms.update({
                "windows": P, "rows": P * KH, "bytes": P * K, "gathers": blocks * KH, "pack": panels * P,
                "packs": panels * blocks, "columns": panels * blocks * K, "stores": N * blocks * K, "store": N * blocks,
            })  # fmt: skip
            return [("dw gathered", terms)]
    if SH == SW == 1 and (OH, OW) == (H, W):
        blocks = -(-P // DEPTH)
        moved = sum([kh != top or kw != left for kh in range(KH) for kw in range(KW)])
        outside = sum([
            H * W - max(H - abs(kh - top), 0) * max(W - abs(kw - left), 0) for kh in range(KH) for kw in range(KW)
        ])  # fmt: skip
        terms.update({
            "pack": panels * P, "packs": panels * blocks, "runs": panels * blocks * T, "columns": panels * blocks * K,
            "patches": panels * moved * B * H, "patched": panels * B * outside, "stores": N * blocks * K,
            "store": N * blocks * T, "odd": panels * blocks * K * (P % 2),
        })  # fmt: skip
        return [("dw same", terms)]
    columns = min(OW, DEPTH)
    block = DEPTH // ((columns + 1) & ~1) if OW < DEPTH else 1
    blocks, rows = -(-B * OH // block), B * OH
    once = rows <= block
    terms.update({
        "pack": panels * P, "packs": panels * rows, "runs": panels * T * rows, "columns": panels * K * rows,
        "taps": panels * T * blocks, "stores": N * blocks * K, "clear": 0 if once else N * K, "zero": panels * T * P,
        "odd": panels * K * rows * (OW % 2),
    })  # fmt: skip
    return [("dw taps", terms)]


def _depthwise(s, kind, N, gradient):
    B, KH, KW, SH, SW = s["B"], s["KH"], s["KW"], s["SH"], s["SW"]
    (H, W), (OH, OW) = (s["H"], s["W"]), (s["OH"], s["OW"])
    terms = {"1": 1, "channels": N}
    if gradient:  # from outputs to inputs, a phase at a time
        H, W, OH, OW = OH, OW, H, W
    P, tiles = B * OH * OW, -(-OH * OW // 256)
    terms.update({
        "tiles": N * tiles, "images": N * B * tiles, "rows": N * B * OH, "columns": N * B * OW, "outputs": N * P,
        "inputs": N * B * H * W, "taps": N * KH * KW, "products": N * P * KH * KW,
        "pairs": N * B * OH * -(-OW // 2), "fours": N * B * OH * -(-OW // 4),
    })  # fmt: skip
    group = "small" if max(KH, KW) < 3 else "3" if max(KH, KW) == 3 else "large"
    return [("%s %s stride %d" % (kind, group, 1 if SH == SW == 1 else 2), terms)]


_SPECIAL = {
    "conv2d": _conv2d, "conv2d_dx": _conv2d_dx, "conv2d_dw": _conv2d_dw, "dense": _dense, "dense_dx": _dense_dx,
    "dense_dw": _dense_dw,
    "depthwise2d": lambda s: _depthwise(s, "depthwise", s["N"], False),
    "depthwise2d_dx": lambda s: _depthwise(s, "depthwise dx", s["N"], True),
    "depthwise2d_dw": lambda s: _depthwise(s, "depthwise dw", s["R"], False),
}  # fmt: skip
