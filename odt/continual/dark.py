"""Dark Experience Replay: what odt.continual.replay keeps is also held to what the network said of it when it was kept.

    model.compile(odt.Adam(0.002), DarkExperience(alpha=0.1))
    replay = Replay(model, budget=8192)         # a byte per class more for each sample: its logits
    for x, y in tasks:
        model.fit(replay.mixed(x, y), epochs=5)
        replay.add(x, y)

DER++ of Buzzega et al. (2020): the distillation of LwF (Li and Hoiem, 2016), of replayed samples.
"""

from ..base.fixed import ONE, is_number, own, scale_div, scale_int, scale_shift
from ..base.primitives import quantize, scale_of
from ..losses import SparseCategoricalCrossentropy


class DarkExperience(SparseCategoricalCrossentropy):
    """ "sparse_categorical_crossentropy", and ``alpha`` times the mean squared distance of a kept sample's logits to
    those kept.

    ``alpha`` in 0.001..100. Logits are kept in quarters, -31.75 .. 31.75. On labels alone it is
    "sparse_categorical_crossentropy", to the same bits; the network ends in logits, not in a Softmax.
    """

    alpha: "float"

    name = "dark_experience"
    with_logits = True
    from_logits = True

    def __init__(self, alpha: "float" = 0.1) -> None:
        super().__init__(from_logits=True)
        alpha = own(alpha)
        if not is_number(alpha) or not 0.001 <= alpha <= 100:
            raise ValueError("DarkExperience: alpha is a number in 0.001..100, got %r" % (alpha,))
        self.alpha = alpha

    def emit(self, s, logits):
        """Emit the loss of ``logits``; returns the error's Value."""
        part = scale_div(scale_of(self.alpha), scale_int(logits.count // s.batch))  # of an output
        if s.int8:
            part = quantize(part, scale_shift(ONE, 16))
        return self._fixed(s, "distil_xent", logits, (logits.zero,), (part,))
