"""Counts what the loops of a Cortex-M4's int8 kernels do (native/cores/m4); the factors are in m4f.py."""

from ..routes.limits import M4
from .m0 import is_single, meetings, phases, single, sparse

# The limits by which the kernels choose: conv2d_i8__m4.c, conv2d_few_i8__m4.c, conv2d_dx_i8__m4.c, conv2d_dw_i8__m4.c,
# depthwise2d*_i8__m4.c, conv2d_dw_i8.c, dense_dx_i8.c.
DEPTH, DX_DEPTH, ROWS, WINDOWS, CHANNELS, ERRORS, POSITIONS = 128, 96, 32, 4, 4, 32, 32
PAIRS_OF_ROWS, OUTPUTS, WIDEST, TAPS, SQUARES = 64, 32, 7, 32, 16
SCAN, ERROR, ERROR_ROW, ERROR_TAP = M4["DW_SCAN"], M4["DW_ERROR"], M4["DW_ERROR_ROW"], M4["DW_ERROR_TAP"]
PANEL, PANEL_ROW, PANEL_WORD = M4["DW_PANEL"], M4["DW_PANEL_ROW"], M4["DW_PANEL_WORD"]
PANEL_PACK, PANEL_PACK_WORD = M4["DW_PACK"], M4["DW_PACK_WORD"]
FILTERS, FEW_DEPTH, GROUPS, GATHERED = 4, M4["FEW_DEPTH"], 8, 1024
WIDE, PIXELS_WIDE = 3, 4
BYTE, PACK, PACK_WORD, OTHER = M4["FEW_BYTE"], M4["FEW_PACK"], M4["FEW_PACK_WORD"], M4["FEW_OTHER"]
OTHER_LINE, OTHER_BYTE, OTHER_GROUP = M4["FEW_OTHER_LINE"], M4["FEW_OTHER_BYTE"], M4["FEW_OTHER_GROUP"]
MANY_ROWS, MANY_ERRORS, MANY_PAIRS = M4["MANY_ROWS"], M4["MANY_ERRORS"], M4["MANY_PAIRS"]
TINY, TINY_M4, SUMS = M4["TINY"], M4["TINY_M4"], 128  # dense_dx_i8.c
TINY_FOUR, TINY_OUTPUTS = M4["TINY_FOUR"], M4["TINY_OUTPUTS"]


def _up(count, size):
    return -(-count // size)


def _inside(outputs, stride, pad, taps, extent):
    """How many windows of an axis lie inside."""
    return sum([pad <= out * stride <= extent + pad - taps for out in range(outputs)])


def _conv2d(s):
    return forward(
        s["B"], s["H"], s["W"], s["C"], s["N"], s["KH"], s["KW"], s["SH"], s["SW"], s["PT"], s["PL"], s["OH"], s["OW"]
    )


def forward(B, H, W, C, N, KH, KW, SH, SW, top, left, OH, OW):
    """Filters run over panels of four windows, which are packed for 32 filters at a time."""
    P, depth, length = B * OH * OW, KH * KW * C, KW * C
    if is_single(N, OH, OW, KH, depth):
        return single(B, KH, depth, OH, OW, "")
    pixels = KH == KW == 1 and not (top or left) and (OH - 1) * SH < H and (OW - 1) * SW < W
    found = _few(P, KH, depth, N, pixels and C % 4 == 0)
    if found:
        return found
    groups, panels = _up(N, ROWS), _up(P, WINDOWS)
    chunks, words = _up(depth, DEPTH), depth // DEPTH * (DEPTH // 4) + _up(depth % DEPTH, 4)
    share = _inside(OH, SH, top, KH, H) * _inside(OW, SW, left, KW, W) / (OH * OW)
    windows = groups * panels * WINDOWS
    inside, outside = windows * share, windows * (1 - share)
    direct = inside if length % 4 == 0 or KH == 1 else 0
    copied = inside - direct
    return [("forward", {
        "1": 1, "filters": N, "blocks": groups * panels, "packs": windows * chunks,
        "direct rows": direct * KH, "direct eights": direct * KH * _up(length, 8),
        "copied rows": copied * KH, "copied bytes": copied * depth, "outside rows": outside * KH,
        "outside bytes": outside * depth, "eights": (copied + outside) * _up(depth, 8),
        "runs": N * panels * chunks, "words": N * panels * words, "finished": N * panels,
    })]  # fmt: skip


def _few(P, KH, depth, N, direct):
    """Where odt_is_few(): groups of four filters run over windows that are gathered, or lie there ("direct")."""
    words, groups = _up(depth, 4), _up(N, FILTERS)
    if not 0 < depth <= FEW_DEPTH or P < 1:
        return None
    at_once = min(FEW_DEPTH // (4 * words), GROUPS, groups)
    block = ROWS if direct else min(GATHERED // (4 * words), ROWS)
    often = P if direct or groups == at_once else min(block, P)
    saved = (2 * groups - 5) * words if (at_once >= PIXELS_WIDE if direct else groups >= WIDE) else 0
    other = OTHER + OTHER_LINE * KH + OTHER_GROUP * groups
    if KH > 1 and depth // KH % 4:
        other += OTHER_BYTE * depth
    if groups * (PACK + PACK_WORD * words) // often + (0 if direct else BYTE * depth) - saved >= other:
        return None
    blocks = _up(P, block)
    packs = groups if direct or groups == at_once else groups * blocks
    gathered = {} if direct else {"windows": P, "rows": P * KH, "bytes": P * depth, "gathers": blocks}
    return [("few direct" if direct else "few", {
        "1": 1, **gathered, "packs": packs, "packed": packs * words, "runs": groups * blocks, "columns": groups * P,
        "words": groups * P * words, "filters": N, "outputs": P * N if N < FILTERS else 0,
    })]  # fmt: skip


def _conv2d_dx(s):
    found = []
    for shape in phases(s):
        found += backward(s["B"], s["OH"], s["OW"], s["N"], s["C"], *shape)
    return found


def backward(B, H, W, C, N, KH, KW, top, left, OH, OW, is_dense=True):
    """Windows of errors run over panels of four input channels."""
    P, length, panels = B * OH * OW, KW * C, _up(N, CHANNELS)
    if is_single(N, OH, OW, KH, KH * length):
        return single(B, KH, KH * length, OH, OW, "dx ")
    if KH == KW == 1 and not (top or left) and (OH, OW) == (H, W) and is_dense:  # all positions are one row
        B, H, W, OH, OW = 1, 1, P, 1, P
    padded = (length + 3) & ~3
    chunks, words = _up(KH * padded, DX_DEPTH), padded // 4
    columns, block = min(OW, ROWS), ROWS // OW if OW < ROWS else 1
    parts = _up(OW, columns)
    blocks = _up(B * OH, block) * parts
    pieces = KH + (chunks - 1 if padded and DX_DEPTH % padded else 0)  # of a panel
    packs = panels * (1 if chunks <= 1 else blocks)
    rows = panels * B * meetings(OH, 1, top, KH, H) * (pieces / KH if KH else 0)
    inside = _inside(OW, 1, left, KW, W) if KH else 0
    border = OW - inside
    aligned = C % 4 == 0
    runs = panels * B * meetings(OH, 1, top, KH, H)
    return [("backward", {
        "1": 1, "panels": panels, "pack rows": packs * pieces, "packed": packs * KH * words, "rows": rows * parts,
        "windows": rows * inside, "words": runs * inside * words,
        "border": rows * border if aligned else 0, "border words": runs * border * words if aligned else 0,
        "gathered": 0 if aligned else rows * border, "gathered words": 0 if aligned else runs * border * words,
        "blocks": panels * blocks, "finishes": panels * (blocks if is_dense else B * OH * parts),
        "finished": panels * P,
    })]  # fmt: skip


def _conv2d_dw(s):
    R, KH, run, words = s["R"], s["KH"], s["KW"] * s["C"], _up(s["KW"] * s["C"], 4)
    direct = s["hits"] * (ERROR + KH * (ERROR_ROW + ERROR_TAP * run)) + s["sampled"] * R * SCAN
    pack = KH * words * (PANEL_PACK_WORD + PANEL_PACK // max(s["OW"], 1))
    if direct < s["sampled"] * (_up(R, 4) * (PANEL + KH * (PANEL_ROW + words * PANEL_WORD)) + pack):
        return sparse(s)
    return filters(s["B"], s["H"], s["W"], s["C"], R, KH, s["KW"], s["SH"], s["SW"], s["PT"], s["PL"], s["OH"], s["OW"])


def filters(B, H, W, C, N, KH, KW, SH, SW, top, left, OH, OW):
    """Errors of some channels times columns of four of x, 32 positions at a time."""
    if KH == KW == SH == SW == 1 and not (top or left) and (OH, OW) == (H, W):
        B, H, W, OH, OW = 1, 1, B * OH * OW, 1, B * OH * OW
    length, rows = KW * C, B * OH
    parts = _up(OW, POSITIONS)
    columns = (_up(OW, parts) + 1) & ~1
    block = POSITIONS // columns
    groups = max(_up(N, ERRORS), 1)
    blocks = _up(rows, block) * _up(OW, columns)
    pairs = rows * _up(OW, columns) * columns // 2
    fours, words, rest = blocks * _up(min(block, rows) * columns, 4), _up(length, 4), length % 4
    share = meetings(OH, SH, top, KH, H) / max(OH * KH, 1)  # of rows that are inside
    side = _inside(OW, SW, left, KW, W) / OW
    return [("filters", {
        "1": 1, "blocks": groups * blocks, "error rows": groups * rows, "errors": _up(N, 4) * pairs,
        "columns": groups * blocks * KH * words,
        "rows": groups * rows * KH * words, "pairs": groups * pairs * KH * words * share * side,
        "border": groups * pairs * KH * words * share * (1 - side), "empty": groups * pairs * KH * words * (1 - share),
        "runs": N * blocks * KH * words, "fours": N * fours * KH * words, "rest": N * blocks * KH * rest,
    })]  # fmt: skip


def _dense(s):
    M, K, N = s["M"], s["K"], s["N"]
    if M >= MANY_ROWS:
        return forward(1, 1, M, K, N, 1, 1, 1, 1, 0, 0, 1, M)
    rows, whole = (_up(N, 4) * 4, K & ~7) if N >= 4 else (0, K & ~7)
    rest = 0 if rows else N
    return [("dense few", {
        "1": 1, "blocks": M * _up(rows, ROWS), "eights": M * rows // 4 * (whole // 8), "fours": M * rows // 4,
        "outputs": M * rows,
        "widened": M * (whole // 8), "rest": M * rows * (K - whole), "sums": rest * K, "last": rest * K * M,
        "lasts": rest * M,
    })]  # fmt: skip


def _dense_dx(s):
    """For few samples from a pair of errors that are not 0 to the next."""
    M, K, N, E = s["M"], s["K"], s["N"], s["E"]
    if M >= MANY_ERRORS:
        return backward(1, 1, M, N, K, 1, 1, 0, 0, 1, M)
    return [("dense dx few", {
        "1": 1, "blocks": M * _up(K, SUMS), "scan": M * N * _up(K, SUMS), "errors": E * _up(K, SUMS),
        "fours": M * (K // 4),
        "four": E * (K // 4), "rest": M * (K % 4), "rests": E * (K % 4), "outputs": M * K,
    })]  # fmt: skip


def _dense_dw(s):
    """For few samples two at a time."""
    M, K, R = s["M"], s["K"], s["R"]
    if M >= MANY_PAIRS and R > 1:
        return filters(1, 1, M, K, R, 1, 1, 1, 1, 0, 0, 1, M)
    pairs = M // 2 + M % 2
    return [("dense dw few", {
        "1": 1, "samples": M, "words": pairs * K, "rows": pairs * R, "products": pairs * R * (K // 8), "first": R * K,
        "rest": M * R * (K % 8), "found": s["Q"] * pairs * R * (K // 8),
    })]  # fmt: skip


def _depthwise(s, kind, N, SH, SW, H, W, OH, OW):
    """Four channels at a time; pairs of rows are packed once."""
    B, KH, KW = s["B"], s["KH"], s["KW"]
    fours = _up(N, 4)
    if _is_tiny(s) and N >= 4 and not (kind == "depthwise dx" and (s["SH"] > 1 or s["SW"] > 1)):
        return _tiny(s, kind, N)
    if KW == 1 and KH <= WIDEST and OH > OW:  # columns are taken for rows
        KH, KW, SH, SW, H, W, OH, OW = KW, KH, SW, SH, W, H, OW, OH
    lines = KH // 2 + 1 if SH % 2 else _up(KH, 2)
    room = PAIRS_OF_ROWS // max(lines, 1) - KW
    most = min(room // SW + 1, OUTPUTS) if room >= 0 else OUTPUTS
    parts = max(_up(OW, max(most, 1)), 1)
    positions = (_up(OW, parts) - 1) * SW + KW
    pairs, P = _up(KH + 1, 2), B * OH * OW
    packed = B * parts * (_up(OH * SH, 2) + 1 if SH % 2 else OH * min(lines, 2))
    return [("%s %d" % (kind, max(KH, KW)), {
        "1": 1, "filters": fours, "taps": fours * KH * KW, "images": fours * B * parts, "rows": fours * B * OH * parts,
        "lines": fours * packed, "pixels": fours * packed * positions, "windows": fours * P,
        "products": fours * P * KW * pairs,
    })]  # fmt: skip


def _is_tiny(s):
    taps, outputs = s["KH"] * s["KW"], s["OH"] * s["OW"]
    if taps == 4:
        return s["H"] * s["W"] <= TINY_FOUR and outputs <= TINY_OUTPUTS
    return s["H"] * s["W"] <= (TINY_M4 if taps <= TINY else TINY) and outputs <= TINY and max(s["KH"], s["KW"]) <= 7


def _tiny(s, kind, N):
    """Of images of a few pixels: the taps that meet them, by a list."""
    images = s["B"] * _up(N, 4)
    taps = meetings(s["OH"], s["SH"], s["PT"], s["KH"], s["H"]) * meetings(s["OW"], s["SW"], s["PL"], s["KW"], s["W"])
    return [(kind + " tiny", {
        "1": 1, "channels": _up(N, 4), "weights": _up(N, 4) * s["KH"] * s["KW"], "images": images,
        "pixels": images * s["H"] * s["W"], "outputs": images * s["OH"] * s["OW"], "taps": images * taps, "plan": taps,
    })]  # fmt: skip


def _is_halved(stride, size, taps, pad, errors):
    """As in depthwise.h."""
    return 1 <= taps <= 3 and (stride == 2 or (size == taps == errors == 1 and pad == 0))


def _depthwise_dx(s):
    """With strides of 2 the kernel computes squares of four inputs."""
    B, H, W, PT, PL, fours = s["B"], s["H"], s["W"], s["PT"], s["PL"], _up(s["N"], 4)
    is_halved = _is_halved(s["SH"], H, s["KH"], PT, s["OH"]) and _is_halved(s["SW"], W, s["KW"], PL, s["OW"])
    if is_halved and s["SH"] * s["SW"] > 1 and s["N"] >= 4:
        high, wide = (PT + H - 1) // 2 - PT // 2 + 1, (PL + W - 1) // 2 - PL // 2 + 1
        parts = _up(wide, SQUARES)
        return [("depthwise dx squares", {
            "1": 1, "filters": fours, "images": fours * B * parts, "rows": fours * B * parts * high,
            "squares": fours * B * high * wide, "outputs": fours * B * H * W,
        })]  # fmt: skip
    return _depthwise(s, "depthwise dx", s["N"], s["SH"], s["SW"], s["OH"], s["OW"], s["H"], s["W"])


def _depthwise_dw(s):
    B, KH, KW, SH, SW, OH, OW = (s[word] for word in ("B", "KH", "KW", "SH", "SW", "OH", "OW"))
    if _is_tiny(s) and s["R"] >= 4:
        return _tiny(s, "depthwise dw", s["R"])
    if KW == 1 and KH <= TAPS and OH > OW:
        KH, KW, SH, SW, OH, OW = KW, KH, SW, SH, OW, OH
    fours, taps = _up(s["R"], 4), KH * KW
    most = max(min(PAIRS_OF_ROWS // KH // SW - (KW - 1) // SW, OUTPUTS), 1)
    parts = _up(OW, most)
    rows = fours * B * _up(OH, 2) * parts
    line = (_up(OW, parts) + (KW - 1) // SW) * SW
    fresh = min(KH, 2 * SH)  # rows of taps that are packed again
    return [("depthwise dw", {
        "1": 1, "channels": fours, "taps": fours * taps, "images": fours * B * parts, "rows": rows,
        "lines": rows * fresh * SW,
        "pixels": rows * fresh * line, "errors": fours * B * _up(OH, 2) * OW, "runs": rows * taps,
        "products": fours * B * _up(OH, 2) * OW * taps,
    })]  # fmt: skip


LOOPS = {
    "conv2d": _conv2d, "conv2d_dx": _conv2d_dx, "conv2d_dw": _conv2d_dw, "dense": _dense, "dense_dx": _dense_dx,
    "dense_dw": _dense_dw, "depthwise2d_dx": _depthwise_dx, "depthwise2d_dw": _depthwise_dw,
    "depthwise2d": lambda s: _depthwise(s, "depthwise", s["N"], s["SH"], s["SW"], s["H"], s["W"], s["OH"], s["OW"]),
}  # fmt: skip
