"""Rows of a table by tokens, and the gradient of the rows that are named: int8 beside float32."""

from ..base.primitives import wrap32
from .float32 import rounded, store, to_int


def _copied(o, tokens):
    for m, token in enumerate(tokens):
        o.y[m * o.N : (m + 1) * o.N] = o.w[token * o.N : (token + 1) * o.N]


def _listed(o, tokens):
    """Write the tokens that are there, or all, as many as there is room for; returns {token: its place}."""
    found = sorted(set(range(min(o.V, 256)) if o.all else tokens))[: o.R]
    for j, token in enumerate(found):
        o.rows[j] = token
    o.count[0] = len(found)
    return {token: j for j, token in enumerate(found)}


def _added(o, tokens, places):
    """(token's number, column, place in the gradient) of each error that is summed."""
    for m, token in enumerate(tokens):
        if token in places:
            for n in range(o.N):
                yield m, n, places[token] * o.N + n


def _tokens_i8(o):
    return [min(x + 128, o.V - 1) for x in o.x]


def _tokens_f32(o):
    return [min(max(to_int(x), 0), 255, o.V - 1) for x in o.x]


def embed_i8(o):
    """y[m] = w[min(x[m] + 128, V - 1)]

    y=i8[M*N] x:i8[M] w:i8[V*N] ; M N V
    """
    _copied(o, _tokens_i8(o))


def embed_dw_i8(o):
    """rows = the count tokens of x, each once, ascending, or all tokens; dw[j] = sum_m e[m], of those that name
        rows[j]

    dw=i32[R*N] count=i32 rows=i32[R] e:i8[M*N] x:i8[M] ; M N V R all
    """
    tokens = _tokens_i8(o)
    places = _listed(o, tokens)
    sums = [0] * (o.R * o.N)
    for m, n, at in _added(o, tokens, places):
        sums[at] += o.e[m * o.N + n]
    for i, total in enumerate(sums):
        o.dw[i] = wrap32(total)


def embed_f32(o):
    """y[m] = w[min(max(x[m], 0), 255, V - 1)]

    y=f32[M*N] x:f32[M] w:f32[V*N] ; M N V
    """
    _copied(o, _tokens_f32(o))


def embed_dw_f32(o):
    """as embed_dw_i8

    dw=f32[R*N] count=i32 rows=i32[R] e:f32[M*N] x:f32[M] ; M N V R all
    """
    tokens = _tokens_f32(o)
    places = _listed(o, tokens)
    sums = [0.0] * (o.R * o.N)
    for m, n, at in _added(o, tokens, places):
        sums[at] = rounded(sums[at] + o.e[m * o.N + n])
    for i, total in enumerate(sums):
        o.dw[i] = store(total)
