"""Data that look otherwise than in training: BatchNorm's gamma and beta learn from the network's own predictions,
without labels.

    odt.adapt.update.norm(model)                      # gamma and beta of normalisation layers train, and nothing else
    model.compile(odt.Adam(0.004), tent.Entropy(), batch_size=16)
    model.load_weights("gesture.odt")
    adabn.update_bn(model, x)                   # the statistics first
    tent.adapt(model, x)

Test-time entropy minimisation (TENT: Wang et al., 2021) with the term that asks for many classes (information
maximisation: SHOT, Liang et al., 2020): predictions become more confident and stay diverse within a batch. It helps
where odt.continual.adabn leaves a class or two uncertain, and harms where classes are not equally frequent. It never
looks at a label.
"""

from ..base.fixed import ONE, is_number, own, scale_shift
from ..base.opcodes import forget
from ..base.primitives import quantize, scale_of, size_of
from ..base.regions import REGION_SHIFT, STATE
from ..losses import SparseCategoricalCrossentropy
from ..run.session import ready
from .guards import refuse_harm, said

if 1 - 1:  # for type checkers alone
    from ..run.network import Data, Network

_MASK = (1 << REGION_SHIFT) - 1
_HARM = 0.03, 0.05  # of guards.refuse_harm(): less than in adabn, as predictions are to become more confident


class Entropy(SparseCategoricalCrossentropy):
    """The mean entropy of what a classifier says, less ``diversity`` times the entropy of its mean over the batch.

    ``diversity`` in 0..16; with 0 nothing holds the network from saying one class of all. Labels count for accuracy
    alone; "loss" is the mean entropy, in nats. The outputs are logits, or a softmax of them.
    """

    diversity: "float"

    name = "entropy"

    def __init__(self, diversity: "float" = 1) -> None:
        super().__init__()
        diversity = own(diversity)
        if not is_number(diversity) or not (diversity == 0 or 0.001 <= diversity <= 16):
            raise ValueError("Entropy: diversity is 0, or a number in 0.001..16, got %r" % (diversity,))
        self.diversity = diversity

    def emit(self, s, logits):
        """Emit the loss of ``logits``; returns the error's Value."""
        outputs = logits.count // s.batch
        part = scale_of(self.diversity) if self.diversity else 0
        sums = s.scratch("sums of the softmax", 4 * outputs)
        if not s.int8:
            error = s.like("loss error", logits)
            s.emit("entropy_f32", (error.buffer, sums, s.control, s.y, logits.buffer), (s.batch, outputs, part))
            return error
        error = s.tensor("loss error", logits.count)
        scale = s.scratch("loss error scale", 4)
        operands = (error.buffer, scale, sums, error.peak, s.control, s.y, logits.buffer, logits.scale, error.scale)
        s.emit("entropy_i8", operands, (s.batch, outputs, quantize(part, scale_shift(ONE, 16)) if part else 0))
        return s.loss_error(error, scale, error.peak)


def adapt(model: "Network", x: "Data", epochs: "int" = 5, guard: "bool" = True) -> None:
    """Train a model that was compiled with the loss Entropy, without labels. ``x``: samples of all classes, as
    ``predict`` takes them. The layers that train are those that compile was told.

    A last batch that is less than half full is left out, unless it is the only one. The call allocates a byte per
    sample, and a copy of the part of the state that training changes.

    ``guard``: ValueError where more than nine tenths of ``x`` are said to be of one class before; where afterwards
    fewer classes are said than before, that is, two samples drawn at random are twice as often of one class; and where
    the mean of the largest probabilities falls by more than 0.03 while the most frequent class loses more than a
    twentieth of the samples: then classes are asked for that ``x`` lacks. Then, where training diverges, and if it is
    interrupted, the model is as it was. ValueError, too, for a model of another loss, and for fewer than 2 samples.
    """
    session = ready(model)
    session.alone("adapt")
    epochs = size_of("adapt", "epochs", epochs)
    if session.loss.name != "entropy":
        raise ValueError("adapt: the model's loss is %s: compile it with tent.Entropy()" % session.loss.name)
    x, _, count = session.look_at(x, None, "", True)
    if count < 2:
        raise ValueError("adapt: x: 1 sample, at least 2 are expected")
    size = session.batch_size
    whole = count if count < size or count % size >= (size + 1) // 2 else count - count % size
    before = said(model, x) if guard else None
    if guard and max(before[0]) * 10 > 9 * count:
        raise ValueError(
            "adapt: x: %d of %d samples seem to be of one class; all are expected" % (max(before[0]), count)
        )
    kept = [(at, bytes(session.state[at : at + length])) for at, length in _changed(session)]
    where = session.calibrated, session.epoch, session.underway, session.seed
    try:
        model.fit(x if whole == count else memoryview(x)[: len(x) // count * whole], bytes(whole), epochs, verbose=0)
        if guard:
            after = said(model, x)
            if _alike(after[0]) > 2 * _alike(before[0]):
                raise ValueError("adapt: %d of %d samples would be of one class, of %d before" % (
                    max(after[0]), count, max(before[0])))  # fmt: skip
            refuse_harm("adapt", before, after, *_HARM)
    except BaseException:
        for at, data in kept:
            session.state[at : at + len(data)] = data
        from ..run.replace import resume

        resume(session, *where)
        raise


def _alike(counts):
    """Pairs of samples that are of one class."""
    return sum([count * count for count in counts])


def _changed(session):
    """[(offset, bytes)] of the state that a step changes."""
    found = []
    for _, code, addresses, immediates in session.program.walk(*session.program.section("train")):
        sizes = dict(zip(code.immediates, immediates))
        for index, address in enumerate(addresses):
            if code.operands[index][1] != ":" and address >> REGION_SHIFT == STATE:
                found.append((address & _MASK, code.bytes(index, sizes)))
    forget()
    merged = []
    for at, length in sorted(found):
        if merged and at <= sum(merged[-1]):
            first, size = merged.pop()
            merged.append((first, max(size, at + length - first)))
        else:
            merged.append((at, length))
    return merged
