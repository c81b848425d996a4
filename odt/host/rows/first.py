"""First weights of split kernels, and the state of the same model with whole ones."""

from ...base.fixed import put, scale_shift
from ...files.split import SPLIT
from ...plan.values import Buffer, Weights
from ...run import weights as weights_of


def draw(session):
    """As weights.initialise() of whole kernels."""
    plan, int8 = session.plan, session.dtype == "int8"
    for number, (layer, weights) in enumerate(plan.each()):
        if weights.kernel is None or weights.kernel.region != SPLIT:
            continue
        limit, key = weights_of.first(layer, session.seed, number)
        if int8:
            scales = weights.scale.memory(session.state)
            for row in range(weights.rows):
                put(scales, 4 * row, scale_shift(limit, -6))
        if layer.zero:
            continue
        size = weights.kernel.size
        whole = Weights(weights.rows, weights.columns, weights.trained, False)
        whole.kernel = Buffer("kernel", size, None)
        whole.kernel.offset = 0
        drawn = bytearray(size)
        if weights.residual:
            whole.residual = Buffer("residual", weights.residual.size, None)
            whole.residual.offset = size
            drawn += bytes(weights.residual.size)
        weights_of.draw(drawn, whole, key, None if int8 else scale_shift(limit, -14))
        kernel = weights.kernel.memory(session.state)
        for index in range(size):
            kernel[index] = drawn[index]
        if weights.residual:
            at = weights.residual.offset
            session.state[at : at + weights.residual.size] = drawn[size:]
    plan.commit()


class Whole:
    """The state of the same model with whole kernels; ``whole`` is their Plan."""

    def __init__(self, session, whole):
        self.session, self.whole = session, whole
        mine = {buffer.name: buffer for buffer in session.plan.rows.noted}
        self.same = [(mine[each.name], each) for each in whole.buffers if mine[each.name].size == each.size]
        kept = zip(session.plan.each(), whole.each())
        self.split = [
            pair
            for (_, split), (_, weights) in kept
            if split.kernel is not None and split.kernel.region == SPLIT
            for pair in ((split.kernel, weights.kernel), (split.scale, weights.scale))
            if pair[0]
        ]

    def gather(self):
        """Its bytes."""
        session = self.session
        state = bytearray(self.whole.state)
        for mine, other in self.same:
            state[other.offset : other.offset + other.size] = session.state[mine.offset : mine.offset + mine.size]
        for split, other in self.split:
            memory = split.memory(session.state, session.plan.memory)
            for index in range(other.size):
                state[other.offset + index] = memory[index]
        return state

    def scatter(self, state):
        """The session's state, of these bytes: what does not train is as before."""
        session = self.session
        for mine, other in self.same:
            session.state[mine.offset : mine.offset + mine.size] = state[other.offset : other.offset + other.size]
        for split, other in self.split:
            memory = split.memory(session.state)
            for index in range(other.size):
                memory[index] = state[other.offset + index]
