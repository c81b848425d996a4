"""Data that look otherwise than in training: the BatchNorm layers of a network follow them, without labels.

    model = odt.load_model("gesture.odt")       # with BatchNorm layers, and an optimizer
    adabn.update_bn(model, x)                   # what the sensor gives here

The statistics of the data at hand in the place of those of training (AdaBN: Li et al., 2016; Schneider et al., 2020),
to the same bits on every machine. PyTorch's ``torch.optim.swa_utils.update_bn`` does it there. For a changed sensor,
light or place; it harms where classes are as they were and only their shares have changed, above all where just one
class is seen.
"""

from ..base.fixed import ONE, scale_mul, scale_shift
from ..base.primitives import size_of
from ..base.regions import KEY, REGION_SHIFT
from ..run.calibration import hold
from ..run.session import batch, next_part, point, ready, release
from .guards import refuse_harm, said

if 1 - 1:  # for type checkers alone
    from ..run.network import Data, Network

_MASK = (1 << REGION_SHIFT) - 1
_HARM = 0.06, 0.1  # of guards.refuse_harm(): docs/howto/adabn.md has what was measured


def update_bn(model: "Network", x: "Data", epochs: "int | None" = None, guard: "bool" = True) -> None:
    """Move every BatchNorm's running mean and variance to those of ``x``: samples as ``predict`` takes them, of all
    classes.

    By its ``momentum`` with each batch of the model's ``batch_size``: n of them leave ``momentum ** n`` of what was.
    ``epochs``: passes over ``x``; None for as many as leave less than 1/64. Samples at the end that are less than half
    a batch are left out, unless there is no other. Weights, optimizer and steps stay; int8 ranges widen where they do
    not hold ``x``. Dropout drops, as it does in PyTorch. It takes 8 bytes per channel, and 4 per range.

    ``guard``: ValueError where a classifier of integer labels says one class of all of ``x`` afterwards, and did not
    before; and where the mean of its largest probabilities falls by more than 0.06 while the most frequent class loses
    more than a tenth of the samples: then not the sensor has changed, but the shares of the classes. ValueError for
    fewer than 2 samples, or samples that are all alike, and for a model without a BatchNorm that trains. Then, and if
    it is interrupted, statistics and ranges are as they were.
    """
    session = ready(model)
    session.alone("update_bn")
    if epochs is not None:
        epochs = size_of("update_bn", "epochs", epochs)
    tracks, kept, keep = _found(session)
    if not tracks:
        raise ValueError(
            "update_bn: the model has no BatchNorm that trains: compile it with an optimizer, and the layer with "
            "trainable=True"
        )
    guard = guard and session.classes
    before = said(model, x) if guard else None
    x, _, count = session.look_at(x, None, "", True)
    if count < 2:
        raise ValueError("update_bn: x: 1 sample, at least 2 are expected")
    _refuse_alike(x, count)
    point(session, x, None, count)
    session.prepare(1)
    size = session.batch_size
    batches = max(1, (count + size // 2) // size)
    held = [(at, bytes(session.state[at : at + length])) for at, length in kept]
    try:
        for _ in range(epochs or (_steps(keep) + batches - 1) // batches):
            point(session, x, None, count)
            for number in range(batches):
                _follow(session, tracks, number * size, count)
        session.control[KEY] = 0
        if guard:
            _compare(count, before, said(model, x))
    except BaseException:
        for at, data in held:
            session.state[at : at + len(data)] = data
        raise
    finally:
        session.control[KEY] = 0
        release(session)


def _found(session):
    """Of what moves running statistics [(start, stop)], of what changes [(offset, bytes)], and the largest momentum.

    Kept once found: that decodes every instruction, which takes a board longer than a batch.
    """
    found = getattr(session, "tracks", None)
    if found is None:
        from ..base.opcodes import forget
        from ..run.calibration import held

        tracks, kept, keep = [], [], 0
        for at, code, addresses, immediates in session.program.walk(*session.program.section("train")):
            if code.name in ("track_i8", "track_read_i8", "track_f32"):
                tracks.append((at, at + code.words))
                kept += [(address & _MASK, 4 * immediates[0]) for address in addresses[:2]]
                keep = max(keep, immediates[-2])
        ranges = held(session)
        kept += [(ranges[at] & _MASK, 4) for at in range(1, len(ranges), 3)]
        forget()
        session.tracks = found = tracks, kept, keep
    return found


def _steps(keep):
    """Steps of a momentum, given as a scale, that leave less than 1/64."""
    left, least, steps = ONE, scale_shift(ONE, -6), 0
    while left >= least:
        left = scale_mul(left, keep)
        steps += 1
    return steps


def _refuse_alike(x, count):
    rows = memoryview(x)
    size = len(rows) // count
    for i in range(1, count):
        if rows[:size] != rows[i * size : (i + 1) * size]:
            return
    raise ValueError("update_bn: x: all %d samples are alike: they have no variance" % count)


def _compare(count, before, after):
    """ValueError where predictions say that the statistics have done harm."""
    if max(after[0]) == count > max(before[0]):
        raise ValueError(
            "update_bn: x: all %d samples would be of one class, of %d before"
            % (count, len([each for each in before[0] if each]))
        )
    refuse_harm("update_bn", before, after, *_HARM)


def _follow(session, tracks, position, count):
    """Run the batch at ``position`` forward by its own statistics, and move the running ones towards them."""
    batch(session, position, count)
    while next_part(session):
        session.control[KEY] = 1
        hold(session)
        for start, stop in tracks:
            session.engine.run(session.loaded, session.regions, start, stop)
