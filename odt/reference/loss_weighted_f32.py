"""The softmax loss with class weights and label smoothing in float32."""

from ..base.fixed import bits_to_float
from ..base.regions import CORRECT, COUNT, LOSS, Y_FORMAT
from .data import batch_count, first_largest, label, samples
from .float32 import divide, expf, logf, rounded, store
from .loss_f32 import add_loss


def weighted_xent_f32(o):
    """e = (softmax(x) * sum_n t - t) / sum of weights[label], t as in weighted_xent_i8

    e=f32[B*N]~x c+ labels:buf x:f32[B*N] weights:f32[N] ; B N smooth
    """
    c, size = o.c, o.N
    smooth = bits_to_float(o.smooth)
    part = rounded(smooth / rounded(float(size)))
    top_part = rounded(part + rounded(1.0 - smooth))
    labels = []
    total = 0.0
    for raw in samples(c, Y_FORMAT, o.labels, o.B, 1):
        labels.append(-1 if raw is None else label(c, raw, size))
        if labels[-1] >= 0:
            total = rounded(total + o.weights[labels[-1]])
    losses = 0.0
    rows = rounded(float(max(1, min(c[COUNT], o.B))))
    batch = rounded(rounded(total * rounded(float(batch_count(c, o.B)))) / rows)
    for b in range(o.B):
        at = b * size
        right = labels[b]
        x = list(o.x[at : at + size])
        if right < 0 or not total > 0:
            for i in range(at, at + size):
                o.e[i] = 0.0
            continue
        best = first_largest(x, range(size))
        parts = [part] * size
        parts[right] = top_part
        parts = [rounded(u * v) for u, v in zip(parts, o.weights)]
        powers = [expf(rounded(v - x[best])) for v in x]
        powers_sum = whole = loss = 0.0
        for i in range(size):
            whole = rounded(whole + parts[i])
            powers_sum = rounded(powers_sum + powers[i])
        log_sum = logf(powers_sum)
        for i in range(size):
            loss = rounded(loss + rounded(parts[i] * rounded(log_sum - rounded(x[i] - x[best]))))
            v = rounded(divide(powers[i], powers_sum) * whole)
            o.e[at + i] = store(divide(rounded(v - parts[i]), batch))
        losses = rounded(losses + loss)
        c[CORRECT] += right == best
    if total > 0:
        c[LOSS] = add_loss(c[LOSS], rounded(rounded(losses / total) * rows))
