"""The steps of GRU, LSTM and SimpleRNN, forward beside backward, in int8 and float32."""

from ..base.fixed import hash32
from ..base.primitives import exp2n, rescale, wrap32
from ..base.regions import KEY, POSITION
from .activation_exp_f32 import sigmoid, tanh
from .data import Sink, blank
from .float32 import rounded, store

_SIMPLE, _GRU, _LSTM = 0, 1, 2
_GOES_ON = 4  # added to an instruction's kind
_GATES = {_SIMPLE: 1, _GRU: 3, _LSTM: 4}
_LOG2_E = 23637  # log2(e) * 2^14, and 2^-10 of steps of 2^-12 in steps of 2^-16


def _cell_of(o):
    """The cell of an instruction, and whether it goes on from the last step's outputs, or has them."""
    goes_on = o.kind - _GOES_ON in _GATES
    return o.kind - _GOES_ON * goes_on, goes_on


def _fits(o, kind):
    """Whether the sizes are those of a cell."""
    return _GATES.get(kind, 0) * o.H == o.G and o.R <= o.T and o.K <= o.T


def _fits_dx(o, kind):
    """The same of a gradient."""
    return _fits(o, kind) and (kind == _SIMPLE or o.K == o.T) and (kind != _GRU or o.E == o.T)


def _limit(v, bits):
    return max(-(1 << bits), min(1 << bits, v))


def _sigmoid(v):
    """In Q14, of v * ln 2 in Q16."""
    power = exp2n(abs(v))
    whole = 65536 + power
    return (16384 * (power if v < 0 else 65536) + (whole >> 1)) // whole


def _tanh(v):
    return 2 * _sigmoid(2 * v) - 16384


def _tanh_of_cell(cell):
    """In Q14, of Q12."""
    return _tanh(cell * _LOG2_E >> 10)


def _unsigned(gate):
    """A gate of 0 .. 1 as int8, in steps of 1/256 from -128 on."""
    return min((gate + 32 >> 6) - 128, 127)


def _signed(value):
    return min(value + 64 >> 7, 127)


def recur_i8(o):
    """y[t] = cell(a[t], b + y[t - 1] @ w.T, y[t - 1]), its last R steps; v = gates, u = what else its gradient needs

    y=i8[B*R*H] v=i8[B*K*G] u=i8[B*K*H] peak+i32 p=i8[H] c=i32[H] d=i32[G] a:i8[B*T*G] w:i8[G*H] b:i32[G] q:mul[G]
        qa:mul qu:mul ; B T G H R K kind za
    """
    _go_through(o, o.c)


def recur_on_i8(o):
    """as recur_i8; sample b begins with p[b, 0], cell[b, 0] and leaves what it ends with in p[b, 1], cell[b, 1]

    y=i8[B*R*H] v=i8[B*K*G] u=i8[B*K*H] peak+i32 p=i8[B*2*H] cell=i32[B*2*H] d=i32[G] a:i8[B*T*G] w:i8[G*H] b:i32[G]
        q:mul[G] qa:mul qu:mul ; B T G H R K kind za
    """
    _go_through(o, o.cell, True)


def _go_through(o, cells, is_on=False):
    """``is_on``: each sample goes on from outputs and cells of its own, which lie before those that it ends with."""
    kind, goes_on = _cell_of(o)
    if not _fits(o, kind):
        return
    H, G, T = o.H, o.G, o.T
    p, c, own = o.p, cells, 0
    zero = max(-128, min(127, o.za))
    sink = Sink(o.u, o.peak)
    for b in range(o.B):
        if is_on:
            own = (2 * b + 1) * H
            for j in range(own, own + H):
                p[j], c[j] = p[j - H], c[j - H]
        elif not goes_on:
            blank(p)
            blank(c)
        for j in range(own, own + H if (is_on or goes_on) and kind else 0):
            c[j] = _limit(c[j], 16 if kind == _LSTM else 14)
        for t in range(T):
            a = o.a[(b * T + t) * G : (b * T + t + 1) * G]
            for g in range(G):
                row = o.w[g * H : (g + 1) * H]
                total = o.b[g]
                for k in range(H):
                    total += p[own + k] * row[k]
                o.d[g] = _limit(rescale(wrap32(total), o.q[2 * g], o.q[2 * g + 1]), 22)
            kept, last = t - (T - o.K), t - (T - o.R)
            for j in range(H):
                inner = [_limit(rescale(a[n * H + j] - zero, o.qa[0], o.qa[1]), 22) for n in range(G // H)]
                outer = [o.d[n * H + j] for n in range(G // H)]
                gates, held = _cell(kind, inner, outer, p, c, own + j)
                if kept >= 0 and kind:
                    sink.put((b * o.K + kept) * H + j, rescale(held, o.qu[0], o.qu[1]))
                    for n in range(G // H):
                        o.v[(b * o.K + kept) * G + n * H + j] = gates[n]
                if last >= 0:
                    o.y[(b * o.R + last) * H + j] = p[own + j]
    sink.close()


def _cell(kind, inner, outer, p, c, j):
    """The unit at j of p and c one step further; returns its gates and what else its gradient needs."""
    if kind == _SIMPLE:
        p[j] = _signed(_tanh(_limit(inner[0] + outer[0], 22)))
        return (), 0
    if kind == _GRU:
        z, r = [_sigmoid(inner[n] + outer[n]) for n in (0, 1)]
        n = _tanh(_limit(inner[2] + ((r + 32 >> 6) * outer[2] + 128 >> 8), 22))
        c[j] += (16384 - z) * (n - c[j]) + 8192 >> 14
        p[j] = _signed(c[j])
        return (_unsigned(z), _unsigned(r), _signed(n)), outer[2]
    i, f = [_sigmoid(inner[n] + outer[n]) for n in (0, 1)]
    g = _tanh(_limit(inner[2] + outer[2], 22))
    out = _sigmoid(inner[3] + outer[3])
    c[j] = _limit((f * c[j] + 8192 >> 14) + (i * g + 32768 >> 16), 16)
    p[j] = _signed(out * _tanh_of_cell(c[j]) + 8192 >> 14)
    return (_unsigned(i), _unsigned(f), _signed(g), _unsigned(out)), c[j]


def _times(a, b, shift):
    return a * b + (1 << shift - 1) >> shift


def _at_random(error, key, i):
    """Of 1/256 of a step, up with the probability of the lost fraction."""
    return error + (hash32(key, i) >> 24) >> 8


def _fine(error):
    """In 1/64 of a step, as it passes to the step before."""
    return max(-8191, min(8191, error >> 2))


def _slope(u):
    """Of a sigmoid's output in steps of 1/256, in Q16."""
    return u * (256 - u)


def recur_dx_i8(o):
    """dx = error of a, n = error of a GRU's recurrent candidate, p[t] = y[t - 1]

    dx=i8[B*T*G] peak+i32 n=i8[B*E*H] p=i8[B*T*H] s=i32[H*3] d=i16[G] e:i8[B*R*H] y:i8[B*T*H] v:i8[B*K*G]
        u:i8[B*K*H] w:i8[G*H] qe:mul qr:mul qu:mul c: ; B T G H R K E kind id
    """
    kind, goes_on = _cell_of(o)
    if not _fits_dx(o, kind):
        return
    H, G, T, R = o.H, o.G, o.T, o.R
    sink = Sink(o.dx, o.peak)
    key = hash32(o.c[KEY], o.id)
    for b in range(o.B):
        blank(o.s)
        for t in range(T - 1, -1, -1):
            at = b * T + t
            first = ((o.c[POSITION] + b) * T + t) * (G + H)
            if t >= T - R:
                for j in range(H):
                    o.s[j] = _limit(o.s[j] + o.e[(b * R + t - (T - R)) * H + j] * 256, 23)
            for j in range(H):
                before = o.y[(at - 1) * H + j] if t else o.p[at * H + j] if goes_on else 0
                o.p[at * H + j] = before
                errors, other = _cell_dx(o, kind, goes_on, at, j, before, b * o.K + t)
                for n in range(G // H):
                    o.d[n * H + j] = _fine(errors[n])
                    sink.put(at * G + n * H + j, _at_random(errors[n], key, first + n * H + j))
                if kind == _GRU:
                    o.d[2 * H + j] = _fine(other)
                    o.n[at * H + j] = max(-127, min(127, _at_random(other, key, first + G + j)))
            for k in range(H if t else 0):
                total = 0
                for n in range(G):
                    total += o.d[n] * o.w[n * H + k]
                o.s[k] = _limit(o.s[2 * H + k] + _limit(rescale(wrap32(total), o.qr[0], o.qr[1]), 23), 23)
    sink.close()


def _cell_dx(o, kind, goes_on, at, j, before, kept):
    """The errors of unit j's preactivations, in 1/256 of a step, and that of a GRU's recurrent candidate.

    s[2 * H + j] becomes what reaches the step before without the recurrent weights, s[H + j] an LSTM's cell's error.
    """
    H = o.H
    error = o.s[j]
    x = _limit(rescale(error, o.qe[0], o.qe[1]), 22)
    o.s[2 * H + j] = 0
    if kind == _SIMPLE:
        y = o.y[at * H + j]
        return (_times(x, 16384 - y * y, 14),), 0
    gates = [o.v[kept * o.G + n * H + j] for n in range(o.G // H)]
    held = _limit(rescale(o.u[kept * H + j] * 4096, o.qu[0], o.qu[1]), 18)
    if kind == _GRU:
        z, r, n = gates[0] + 128, gates[1] + 128, gates[2]
        o.s[2 * H + j] = _times(error, z, 8)
        candidate = _times(_times(x, 256 - z, 8), 16384 - n * n, 14)
        update = _times(_times(x, before - n, 7), _slope(z), 16)
        reset = _times(_times(candidate, _slope(r), 16), held, 12)
        return (update, reset, candidate), _times(candidate, r, 8)
    i, f, g, out = gates[0] + 128, gates[1] + 128, gates[2], gates[3] + 128
    curve = _tanh_of_cell(_limit(held, 16))
    cell = _limit(o.s[H + j] + _times(_times(error, out, 8), 16384 - (curve * curve >> 14), 14), 23)
    o.s[H + j] = _times(cell, f, 8)
    c = _limit(rescale(cell, o.qe[0], o.qe[1]), 22)
    earlier = o.u[(kept - 1) * H + j] if at % o.T else o.n[at // o.T * H + j] if goes_on else 0
    earlier = _limit(rescale(earlier * 4096, o.qu[0], o.qu[1]), 18)
    return (
        _times(_times(c, g, 7), _slope(i), 16),
        _times(_times(c, earlier, 12), _slope(f), 16),
        _times(_times(c, i, 8), 16384 - g * g, 14),
        _times(_times(x, curve, 14), _slope(out), 16),
    ), 0


# float32


def _add(a, b):
    return rounded(a + b)


def _mul(a, b):
    return store(a * b)


def recur_f32(o):
    """as recur_i8

    y=f32[B*R*H] v=f32[B*K*G] u=f32[B*K*H] p=f32[H*2] d=f32[G] a:f32[B*T*G] w:f32[G*H] b:f32[G] ; B T G H R K kind
    """
    kind, goes_on = _cell_of(o)
    if not _fits(o, kind):
        return
    H, G, T = o.H, o.G, o.T
    for b in range(o.B):
        if not goes_on:
            blank(o.p)
        for t in range(T):
            at = (b * T + t) * G
            for g in range(G):
                total = o.b[g]
                for k in range(H):
                    total = _add(total, rounded(o.p[k] * o.w[g * H + k]))
                o.d[g] = store(total)
            kept, last = t - (T - o.K), t - (T - o.R)
            for j in range(H):
                inner = [o.a[at + n * H + j] for n in range(G // H)]
                outer = [o.d[n * H + j] for n in range(G // H)]
                gates, held = _cell_f32(kind, inner, outer, o, j)
                if kept >= 0 and kind:
                    o.u[(b * o.K + kept) * H + j] = held
                    for n in range(G // H):
                        o.v[(b * o.K + kept) * G + n * H + j] = gates[n]
                if last >= 0:
                    o.y[(b * o.R + last) * H + j] = o.p[j]


def _cell_f32(kind, inner, outer, o, j):
    if kind == _SIMPLE:
        o.p[j] = store(tanh(_add(inner[0], outer[0])))
        return (), 0.0
    if kind == _GRU:
        z, r = [store(sigmoid(_add(inner[n], outer[n]))) for n in (0, 1)]
        n = store(tanh(_add(inner[2], _mul(r, outer[2]))))
        o.p[j] = store(_add(n, _mul(z, _add(o.p[j], -n))))
        return (z, r, n), outer[2]
    i, f = [store(sigmoid(_add(inner[n], outer[n]))) for n in (0, 1)]
    g = store(tanh(_add(inner[2], outer[2])))
    out = store(sigmoid(_add(inner[3], outer[3])))
    cell = o.p[o.H + j] = store(_add(_mul(f, o.p[o.H + j]), _mul(i, g)))
    o.p[j] = _mul(out, store(tanh(cell)))
    return (i, f, g, out), cell


def recur_dx_f32(o):
    """as recur_dx_i8

    dx=f32[B*T*G] n=f32[B*E*H] p=f32[B*T*H] s=f32[H*3] e:f32[B*R*H] y:f32[B*T*H] v:f32[B*K*G] u:f32[B*K*H]
        w:f32[G*H] ; B T G H R K E kind
    """
    kind, goes_on = _cell_of(o)
    if not _fits_dx(o, kind):
        return
    H, G, T, R = o.H, o.G, o.T, o.R
    for b in range(o.B):
        blank(o.s)
        for t in range(T - 1, -1, -1):
            at = b * T + t
            if t >= T - R:
                for j in range(H):
                    o.s[j] = store(_add(o.s[j], o.e[(b * R + t - (T - R)) * H + j]))
            for j in range(H):
                before = o.y[(at - 1) * H + j] if t else o.p[at * H + j] if goes_on else 0.0
                o.p[at * H + j] = before
                errors, other = _cell_dx_f32(o, kind, goes_on, at, j, before, b * o.K + t)
                for n in range(G // H):
                    o.dx[at * G + n * H + j] = errors[n]
                if kind == _GRU:
                    o.n[at * H + j] = other
            if not t:
                continue
            for k in range(H):
                o.s[k] = o.s[2 * H + k]
            for n in range(G):
                e = o.n[at * H + n - 2 * H] if kind == _GRU and n >= 2 * H else o.dx[at * G + n]
                for k in range(H):
                    o.s[k] = _add(o.s[k], rounded(e * o.w[n * H + k]))
            for k in range(H):
                o.s[k] = store(o.s[k])


def _slope_f32(u):
    return _mul(u, _add(1.0, -u))


def _slope_of_tanh(y):
    return _add(1.0, -_mul(y, y))


def _cell_dx_f32(o, kind, goes_on, at, j, before, kept):
    H = o.H
    error = o.s[j]
    o.s[2 * H + j] = 0.0
    if kind == _SIMPLE:
        return (_mul(error, _slope_of_tanh(o.y[at * H + j])),), 0.0
    gates = [o.v[kept * o.G + n * H + j] for n in range(o.G // H)]
    held = o.u[kept * H + j]
    if kind == _GRU:
        z, r, n = gates
        o.s[2 * H + j] = _mul(error, z)
        candidate = _mul(_mul(error, _add(1.0, -z)), _slope_of_tanh(n))
        update = _mul(_mul(error, _add(before, -n)), _slope_f32(z))
        reset = _mul(_mul(candidate, held), _slope_f32(r))
        return (update, reset, candidate), _mul(candidate, r)
    i, f, g, out = gates
    curve = store(tanh(held))
    cell = store(_add(o.s[H + j], _mul(_mul(error, out), _slope_of_tanh(curve))))
    o.s[H + j] = _mul(cell, f)
    earlier = o.u[(kept - 1) * H + j] if at % o.T else o.n[at // o.T * H + j] if goes_on else 0.0
    return (
        _mul(_mul(cell, g), _slope_f32(i)),
        _mul(_mul(cell, earlier), _slope_f32(f)),
        _mul(_mul(cell, i), _slope_of_tanh(g)),
        _mul(_mul(error, curve), _slope_f32(out)),
    ), 0.0
