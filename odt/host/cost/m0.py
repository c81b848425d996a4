"""Counts what the loops of a Cortex-M0+'s int8 kernels do (native/cores/m0, panel); the factors are in rp2040.py."""

from ..routes.limits import M0

ROWS, DEPTH, BLOCK, AT_ONCE = 4, 288, 64, 256  # panel_i8.c
TWO_LESS = 0.36  # of a panel of two rows and not four: 16 cycles for a pair of depths, not 25
TINY_INPUTS, TINY_ERRORS = 6, 9  # weight gradients of depthwise convolutions below have factors of their own
SINGLE_ROWS, SINGLE_WEIGHTS = M0["SINGLE_ROWS"], M0["SINGLE_WEIGHTS"]
MANY_ROWS, MANY_ERRORS, MANY_PAIRS = M0["MANY_ROWS"], M0["MANY_ERRORS"], M0["MANY_PAIRS"]
FEW, GATHERED, PIECE, PADDED = M0["GATHER_FEW"], M0["GATHER_BYTES"], M0["GATHER_PIECE"], 256  # padded_i8.h
PER_WINDOW, PER_ROW, PER_BYTE = M0["GATHER_PER_WINDOW"], M0["GATHER_PER_ROW"], M0["GATHER_PER_BYTE"]
DIRECT_ROW, DIRECT_WINDOW = M0["GATHER_DIRECT_ROW"], M0["GATHER_DIRECT_WINDOW"]
DIRECT_BORDER, DIRECT_TAP, DIRECT_ELEMENT = (
    M0["GATHER_DIRECT_BORDER"],
    M0["GATHER_DIRECT_TAP"],
    M0["GATHER_DIRECT_ELEMENT"],
)
PER_SUM, PER_ERRORS = M0["GATHER_PER_SUM"], M0["GATHER_PER_ERRORS"]
PER_DW_BYTE, DIRECT_BLOCK, LINE = M0["GATHER_PER_DW_BYTE"], M0["GATHER_DIRECT_BLOCK"], 96  # padded_i8.h
SCAN, ERROR, ERROR_ROW, ERROR_TAP = M0["DW_SCAN"], M0["DW_ERROR"], M0["DW_ERROR_ROW"], M0["DW_ERROR_TAP"]
LISTED = 110  # errors of a list that is full, about
PANEL, TAP, MORE = M0["DW_PANEL"], M0["DW_TAP"], M0["DW_MORE"]
POSITION = {name[9:]: value for name, value in M0.items() if name.startswith("POSITION_")}
TURNED = {name[7:]: value for name, value in M0.items() if name.startswith("TURNED_")}
DX = {name[3:]: value for name, value in M0.items() if name.startswith("DX_")}


# int8 by panels: correlate() is what conv2d_i8__panel.inc does, correlate_dw() what conv2d_dw_i8__panel.inc does.


def _conv2d(s):
    is_by_taps = s["KH"] == s["KW"] == 3 and s["SH"] == s["SW"] == 1
    if s["C"] == 1 < s["N"] and is_by_taps and min(s["OH"], s["OW"]) >= M0["ONE_SIZE"]:
        ((group, terms),) = _depthwise(s, "depthwise", s["N"], False)
        terms["columns"] //= s["N"]  # all filters share the inputs that are laid out
        return [(group, terms)]
    return correlate(s["B"], s["H"], s["W"], s["C"], s["N"], s["KH"], s["KW"], s["SH"], s["SW"], s["PT"], s["PL"],
                     s["OH"], s["OW"])  # fmt: skip


def sampled(e, N, at, R, samples):
    """How many errors of channels at .. at + R - 1 are not 0, at each of some ``samples`` positions of N channels."""
    positions = len(e) // N
    step = -(-positions // samples) | 1
    return [R - e[m * N + at : m * N + at + R].count(b"\0") for m in range(0, positions, step)]


def dx_errors(e, N):
    """What is_sparse() of conv2d_dx_i8__m0.inc finds in errors ``e`` of N channels."""
    counts, first = sampled(e, N, 0, N, DX["SAMPLES"]), DX["FIRST"]
    many = len(counts) >= first and 5 * sum(counts[:first]) > 3 * first * N
    return {"hits": sum(counts), "sampled": len(counts), "many": many}


def _conv2d_dx(s):
    h = meetings(s["OH"], s["SH"], s["PT"], s["KH"], s["H"])
    w = meetings(s["OW"], s["SW"], s["PL"], s["KW"], s["W"])
    outputs, N, C = s["OH"] * s["OW"], s["N"], s["C"]
    if s["W"] * C <= DX["SUMS"] and C >= 4 and s["KH"] <= DX["LIST"] and not s["many"]:
        taps, columns = h * w * C, h * s["OW"]
        panel = DX["PANEL_PRODUCTS"] * s["KH"] * s["KW"] * C * N // 10
        direct = s["hits"] * (DX["ERROR"] * columns + DX["ERROR_TAP"] * taps)
        rows = s["H"] * (DX["LISTED"] * s["OW"] + DX["LISTED_TAP"] * w * C)
        if direct + s["sampled"] * (rows + DX["SCAN"] * columns * N) < s["sampled"] * outputs * panel:
            B, E = s["B"], s["E"]
            return [("dx sparse", {"1": 1, "lists": B * s["H"] * s["OW"], "scan": B * columns * N,
                                   "errors": E * h / s["OH"], "fours": B * s["H"] * w * C / 4,
                                   "products": E * taps / outputs, "outputs": B * s["H"] * s["W"] * C})]  # fmt: skip
    found = []
    for KH, KW, top, left, OH, OW, is_dense in phases(s):
        found += correlate(s["B"], s["OH"], s["OW"], s["N"], s["C"], KH, KW, 1, 1, top, left, OH, OW, is_dense, "dx ")
    return found


def phases(s):
    """Of a convolution's input gradient: inputs one stride apart have the same taps, a convolution of stride 1 each.

    (KH, KW, top, left, OH, OW, whether outputs have no gaps) of each that has outputs.
    """
    for kh in range(s["SH"]):
        rows = _phase(kh, s["PT"], s["SH"], s["H"], s["KH"])
        for kw in range(s["SW"]):
            columns = _phase(kw, s["PL"], s["SW"], s["W"], s["KW"])
            if rows[0] and columns[0]:
                KH, KW = (rows[1], columns[1]) if rows[1] and columns[1] else (0, 0)
                yield KH, KW, rows[2], columns[2], rows[0], columns[0], s["SH"] == s["SW"] == 1


def _phase(tap, pad, stride, size, taps):
    """(outputs, taps, padding) of the inputs one stride apart."""
    first = (tap - pad) % stride
    outputs = (size - 1 - first) // stride + 1 if first < size else 0
    count = (taps - 1 - tap) // stride + 1 if tap < taps else 0
    return outputs, count, count - 1 - (first + pad - tap) // stride


def meetings(outputs, stride, pad, taps, extent):
    """How many taps of an axis's windows lie inside."""
    return sum([0 <= out * stride - pad + tap < extent for out in range(outputs) for tap in range(taps)])


def _dense(s):
    M, K, N = s["M"], s["K"], s["N"]
    if M >= MANY_ROWS:
        return correlate(1, 1, M, K, N, 1, 1, 1, 1, 0, 0, 1, M)
    fours, rest = (-(-N // 4), 0) if N >= 4 else (0, N)
    return [("dense few", {"1": 1, "sums": M * fours, "four": M * fours * K, "outputs": M * N, "rest": rest * K,
                           "rests": rest * K * M, "rows": rest})]  # fmt: skip


def _dense_dx(s):
    """For few samples from one error that is not 0 to the next, or a product of the weights and packed errors."""
    M, K, N, E = s["M"], s["K"], s["N"], s["E"]
    if 2 < M <= min(K // 2, TURNED["SAMPLES"]) and TURNED["ERRORS"] >= N:
        packed = ((M + 3) & -4) * (TURNED["PRODUCT"] * N + TURNED["FOUR"])
        if packed < TURNED["SAMPLE"] * M + TURNED["ERROR"] * E:
            return correlate(1, 1, K, N, M, 1, 1, 1, 1, 0, 0, 1, K, True, "dx ")
    elif M >= MANY_ERRORS:
        return correlate(1, 1, M, N, K, 1, 1, 1, 1, 0, 0, 1, M, True, "dx ")
    return [("dense dx few", {"1": 1, "samples": M, "scan": M * N, "errors": E, "fours": M * (K // 4),
        "four": E * (K // 4),
                              "rest": M * (K % 4), "rests": E * (K % 4), "outputs": M * K})]  # fmt: skip


def _dense_dw(s):
    M, K, R = s["M"], s["K"], s["R"]
    if M >= MANY_PAIRS and R > 1:
        return correlate_dw(1, 1, M, K, R, 1, 1, 1, 1, 0, 0, 1, M)
    return [("dense dw few", {"1": 1, "samples": M, "words": M * K, "rows": M * R, "products": M * R * (K // 4),
                              "rest": M * R * (K % 4), "first": R * K,
                              "found": s["Q"] * M * R * (K // 4)})]  # fmt: skip


def is_sparse(s):
    """As in conv2d_dw_i8.c."""
    R, KH, run = s["R"], s["KH"], s["KW"] * s["C"]
    if KH * run > M0["DW_INPUTS"] - 4:
        return False
    direct = s["hits"] * (ERROR + KH * (ERROR_ROW + ERROR_TAP * run)) + s["sampled"] * R * SCAN
    panel = PANEL + KH * (TAP + MORE if KH > 1 else TAP) * run
    return direct < s["sampled"] * -(-R // 4) * panel


def sparse(s):
    """From one error that is not 0 to the next; on a Cortex-M0+ tile by tile (conv2d_dw_i8__m0.h)."""
    B, OH, OW, R, KH, KW, C, E = [s[name] for name in ("B", "OH", "OW", "R", "KH", "KW", "C", "E")]
    most = M0["DW_INPUTS"] - 4
    columns = max(min((most // (C * KH) - KW) // s["SW"] + 1, OW), 1)
    pitch = ((columns - 1) * s["SW"] + KW) * C
    rows = max(min((most // pitch - KH) // s["SH"] + 1, OH), 1)
    lines = (rows - 1) * s["SH"] + KH
    images = max(min(most // (lines * pitch), B), 1) if (rows, columns) == (OH, OW) else 1
    tiles = -(-B // images) * -(-OH // rows) * -(-OW // columns)
    lists = min(E, tiles * R + E // LISTED)
    return [("dw sparse", {"1": 1, "scan": B * OH * OW * R, "errors": E, "rows": E * KH, "bytes": E * KH * KW * C,
                           "clear": R * KH * KW * C, "channels": R, "lines": B * OH * R,
                           "inputs": tiles * images * lines * pitch, "input rows": tiles * images * lines,
                           "fours": E * KH * -(-KW * C // 4), "lists": lists, "list rows": lists * KH,
                           "columns": lists * KH * -(-KW * C // 4)})]  # fmt: skip


def _conv2d_dw(s):
    if is_sparse(s):
        return sparse(s)
    return correlate_dw(s["B"], s["H"], s["W"], s["C"], s["R"], s["KH"], s["KW"], s["SH"], s["SW"], s["PT"], s["PL"],
                        s["OH"], s["OW"])  # fmt: skip


def columns_beside(depth):
    """How many columns' sums have room beside a panel of ``depth``."""
    return DEPTH // 2 + BLOCK - min((depth + 2) // 2 + 1, DEPTH // 2)


def correlate(B, H, W, C, N, KH, KW, SH, SW, top, left, OH, OW, is_dense=True, kind=""):
    """Of panels of four filters run over columns of x."""
    P, K, length, panels = B * OH * OW, KH * KW * C, KW * C, -(-N // ROWS)
    work = panels - (TWO_LESS if 0 < N % ROWS <= 2 else 0)  # a panel of two rows takes less
    if is_single(N, OH, OW, KH, K):
        return single(B, KH, K, OH, OW, kind)
    apart = 0 if is_dense else B * OH
    if KH == KW == SH == SW == 1 and not (top or left) and (OH, OW) == (H, W):
        chunks, blocks = -(-K // AT_ONCE), -(-P // columns_beside(min(K, AT_ONCE)))
        aligned = K % 4 == 0
        terms = {
            "pack": panels * K * (1 if chunks == 1 else blocks),
            "packs": panels * (1 if chunks == 1 else blocks * chunks),
            "runs": panels * blocks * chunks, "columns": panels * P * chunks,
            "pairs": 0 if aligned else work * P * (K // 2), "words": work * P * (K // 2) if aligned else 0,
            "odd": panels * P * (K % 2),
        }  # fmt: skip
        finishes, group = panels * (blocks + apart), "pointwise"
    elif is_by_position(B, H, W, C, KH, KW, SH, SW, top, left, OH, OW, kind, is_dense):
        return [(kind + "positions", positions(B, H, W, C, N, KH, KW, SH, SW, top, left, OH, OW, kind))]
    elif _is_gathered(KH, length, C, W, OW, SW, panels, B * OH, kind):
        step = (K + 3) & ~3
        blocks = -(-P // _block(K))
        packs = panels * blocks if panels > 1 else 1
        depth = step if K % 4 > 1 else K
        terms = {
            **_gather(B, H, W, C, KH, KW, SH, SW, OH, OW), "gathers": blocks * KH, "pack": packs * K,
            "packs": packs * KH,
            "runs": panels * blocks, "columns": panels * P, "words": work * P * (depth // 2),
            "odd": panels * P * (depth % 2),
        }  # fmt: skip
        finishes, group = panels * (blocks + apart), "gathered"
    else:
        padded = (length + 1) & ~1
        chunks = -(-KH * padded // DEPTH)
        most = columns_beside(KH * padded)
        columns = min(OW, most)
        block = max(most // OW, 1)
        blocks = -(-B * OH // block) * -(-OW // columns)
        inside = min(OW, max((W - KW) // SW + 1, 0)) if length else 0
        parts = KH + (chunks - 1 if length % DEPTH else 0)  # runs of a row of outputs
        aligned = (SW * C) % 4 == 0 and C % 4 == 0 and length % 4 == 0
        packs = 1 if chunks <= 1 else blocks
        pairs = work * P * KH * (length // 2)
        terms = {
            "pack": panels * K * packs, "packs": panels * KH * packs, "blocks": panels * blocks,
            "runs": panels * B * OH * parts, "columns": panels * B * OH * inside * parts,
            "border": panels * B * OH * (OW - inside) * parts, "pairs": 0 if aligned else pairs,
            "words": pairs if aligned else 0, "odd": panels * P * KH * (length % 2), "empty": panels * P * (not K),
        }  # fmt: skip
        finishes, group = panels * blocks, "rows"
    terms.update({"1": 1, "finishes": finishes, "outputs": P * N, "filters": N})
    return [(kind + group, terms)]


def is_by_position(B, H, W, C, KH, KW, SH, SW, top, left, OH, OW, kind, is_dense):
    """As in conv2d_i8__panel.inc. An input's gradient packs tap by tap, and its padding is 0."""
    depth, lines, places = KH * KW * C, KW if kind else 1, OH * OW
    if depth < POSITION["LEAST"] or depth > POSITION["MOST"] or max(OH, OW) > POSITION["SIZE"]:
        return False
    if POSITION["IMAGES"] < B or (depth > FEW and kind):
        return False
    met = meetings(OH, SH, top, KH, H) * meetings(OW, SW, left, KW, W) * C
    saved = (places * depth - met) * POSITION["DEPTH"] + (places * KH * POSITION["ROW"] if depth > FEW else 0)
    saved += 0 if is_dense else OH * POSITION["CHUNK"]
    chunks = places * -(-B // POSITION["SIZE"])
    packed = 4 + chunks * min(B, POSITION["SIZE"]) * depth // POSITION["BYTES"]
    each = POSITION["PANEL"] + KH * lines * POSITION["LINE"] + depth * POSITION["PACK"]
    return B * saved > chunks * POSITION["CHUNK"] + packed * each


def _alike(outputs, stride, pad, taps, extent):
    """{taps that lie inside, by number: how many outputs of an axis have them}."""
    found = {}
    for out in range(outputs):
        met = tuple([tap for tap in range(taps) if 0 <= out * stride - pad + tap < extent])
        found[met] = found.get(met, 0) + 1
    return found


def positions(B, H, W, C, N, KH, KW, SH, SW, top, left, OH, OW, kind):
    """As correlate_by_position() does it, class by class."""
    panels, columns = -(-N // ROWS), _alike(OW, SW, left, KW, W).items()
    terms = {"1": 1, "outputs": OH * OW * B * N}
    for rows, high in _alike(OH, SH, top, KH, H).items():
        for taps, wide in columns:
            K = len(rows) * len(taps) * C
            step = (K + 3) & ~3
            free = POSITION["ROOM"] * 16 - step * 8
            most = min(B, POSITION["SIZE"], free // (16 + step))
            chunks = high * wide * -(-B // most)
            blocks = -(-chunks // ((free - most * 16) // max(most * step, 1)))
            lines = len(rows) * len(taps) if kind else 1 if len(taps) == KW else len(rows)
            for name, count in {
                "panels": panels * blocks, "chunks": panels * chunks, "packs": panels * blocks * lines,
                "pack": panels * blocks * K, "lines": chunks * len(rows), "columns": panels * high * wide * B,
                "pairs": panels * high * wide * B * K / 2, "bytes": high * wide * B * K,
            }.items():  # fmt: skip
                terms[name] = terms.get(name, 0) + count
    return terms


def _gather(B, H, W, C, KH, KW, SH, SW, OH, OW, is_whole=True):
    """Of gather_i8.h: windows, by rows of outputs; rows of x with padding beside them, or windows that reach beyond x.

    ``is_whole``: of all channels, or of C of them.
    """
    slots, P = 1, B * OH * OW
    while slots < KH:
        slots *= 2
    terms = {"windows": P, "rows": P * KH, "bytes": P * KH * KW * C, "lines": B * OH * KH}
    if is_whole and slots * ((((OW - 1) * SW + KW) * C + 3) & ~3) <= PADDED:
        terms.update({"padded": B * min(OH * min(SH, KH), H), "padded bytes": B * min(OH * min(SH, KH), H) * W * C})
    else:
        terms["border"] = B * OH * KH * (OW - min(OW, max((W - KW) // SW + 1, 0)))
    return terms


def is_single(N, OH, OW, KH, K):
    """As odt_is_single() of single_i8.c, of weights that lie apart."""
    return N == 1 and OH * OW >= 4 and KH <= SINGLE_ROWS and 0 < K <= SINGLE_WEIGHTS


def single(B, KH, K, OH, OW, kind):
    """One filter: four windows below one another, or beside."""
    P, lines = B * OH * OW, B * (OW if OH >= 4 else OH)
    return [(kind + "single", {"1": 1, "lines": lines, "runs": lines * KH, "windows": P * KH, "products": P * K,
        "outputs": P,
                               "filter": K})]  # fmt: skip


def _is_few(size, length):
    return length > 0 and 1 < size <= FEW


def _block(size):
    """As gathered_block() of gather_i8__panel.inc: windows of a block."""
    step = (size + 3) & ~3
    return (8 * (FEW - step) + 16 * BLOCK + GATHERED) // (16 + step)


def _is_gathered(KH, length, C, W, OW, SW, panels, rows, kind):
    """As is_gathered() of gather_i8__panel.inc. An input's gradient packs line by line, and its padding is 0."""
    size, apart = KH * length, (SW * C) | length
    if not _is_few(size, length):
        return False
    inside = 0 if length > W * C else (W * C - length) // (SW * C) + 1
    border = 0 if kind else max(OW - inside, 0)
    direct = KH * (DIRECT_ROW + OW * DIRECT_WINDOW + border * DIRECT_BORDER) + (OW * size if apart % 4 else 0)
    panel = (KH if kind else 1) * M0["GATHER_LINE"] + size * M0["GATHER_PACK"]
    direct -= (rows * OW - 1) // _block(size) * panel // rows
    window = PER_WINDOW + KH * PER_ROW + (size * PER_BYTE >> (0 if apart % 2 else 1 if apart % 4 else 2))
    column = DIRECT_WINDOW - (0 if size % 4 == 1 else M0["GATHER_LESS"])
    return OW * window // panels + OW * column < direct


def pieces(KH, KW, C, positions):
    """[(lines, taps, channels)] of the pieces in which windows are gathered,
    as by piece_of() of gather_i8__panel.inc.
    """
    piece = min(GATHERED // ((min(positions, FEW) + 1) & ~1), LINE)
    if max(3 * PIECE, piece) >= KH * KW * C:
        return [(KH, KW, C)]
    lines, taps, channels = 1, max(piece // C, 1), min(C, piece)
    if max(2 * PIECE, piece) >= KW * C:
        lines, taps, channels = max(piece // (KW * C), 1), KW, C
    return [
        (min(lines, KH - kh), min(taps, KW - kw), min(channels, C - c))
        for kh in range(0, KH, lines) for kw in range(0, KW, taps) for c in range(0, C, channels)
    ]  # fmt: skip


def correlate_dw(B, H, W, C, N, KH, KW, SH, SW, top, left, OH, OW):
    """The kernel runs panels of the errors of four channels over columns of x."""
    P, K, _length, panels, T = B * OH * OW, KH * KW * C, KW * C, -(-N // ROWS), KH * KW
    work = panels - (TWO_LESS if 0 < N % ROWS <= 2 else 0)
    terms = {"1": 1, "errors": P * N, "products": work * K * (P // 2)}
    is_same_size = SH == SW == 1 and (OH, OW) == (H, W)
    if (4 if K <= 1 else 16) <= N and K <= 4:
        return [("dw elements", {"listed": P * K, "rows": B * OH * K, "fours": K * P * -(-N // 4), "lists": K})]
    is_line = is_same_size and T == 1
    if K > 1 and not (is_line and P > FEW):
        cut = pieces(KH, KW, C, P)
        block = min(FEW, GATHERED // max([lines * taps * channels for lines, taps, channels in cut]))
        block = block if is_line else min(block, P)
        rows = sum([lines for lines, _, _ in cut])
        gathered = OW * (len(cut) * PER_WINDOW + rows * PER_ROW + K * (PER_BYTE if is_line else PER_DW_BYTE)
                         + panels * (K * PER_SUM // block + (len(cut) - 1) * PER_ERRORS))  # fmt: skip
        once = 0 if is_line else (K * PER_SUM + (T - 1) * DIRECT_BLOCK) // (B * OH)
        if not is_same_size or gathered < panels * (T * DIRECT_TAP + once * -(-P // AT_ONCE)):
            for lines, taps, channels in cut:
                size = lines * taps * channels
                blocks = -(-P // (min(FEW, GATHERED // size) & ~1))
                part = {
                    **_gather(B, H, W, channels, lines, taps, SH, SW, OH, OW, channels == C), "gathers": blocks * lines,
                    "pack": panels * P, "packs": panels * blocks, "columns": panels * blocks * size,
                    "stores": N * blocks * size, "store": N * blocks,
                }  # fmt: skip
                for term, count in part.items():
                    terms[term] = terms.get(term, 0) + count
            return [("dw gathered", terms)]
    blocks = -(-P // AT_ONCE)
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
    if kind == "depthwise dw" and H * W <= TINY_INPUTS and OH * OW <= TINY_ERRORS and max(KH, KW) <= 7:
        taps = meetings(s["OH"], SH, s["PT"], KH, s["H"]) * meetings(s["OW"], SW, s["PL"], KW, s["W"])
        return [(kind + " tiny", {
            "1": 1, "channels": N, "weights": N * KH * KW, "pixels": N * B * H * W, "outputs": N * P, "sums": N * P,
            "taps": N * B * taps,
        })]  # fmt: skip
    group = "small" if max(KH, KW) < 3 else "3" if max(KH, KW) == 3 else "large"
    return [("%s %s stride %d" % (kind, group, 1 if SH == SW == 1 else 2), terms)]


LOOPS = {
    "conv2d": _conv2d, "conv2d_dx": _conv2d_dx, "conv2d_dw": _conv2d_dw, "dense": _dense, "dense_dx": _dense_dx,
    "dense_dw": _dense_dw,
    "depthwise2d": lambda s: _depthwise(s, "depthwise", s["N"], False),
    "depthwise2d_dx": lambda s: _depthwise(s, "depthwise dx", s["N"], True),
    "depthwise2d_dw": lambda s: _depthwise(s, "depthwise dw", s["R"], False),
}  # fmt: skip
