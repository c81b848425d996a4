"""A recurrent network that runs step by step: its outputs and cells stay from call to call.

``Steps(model)`` shares the weights of a compiled model; stepping.py plans its program.
"""

from struct import pack_into

from ..plan import drop
from ..run.network import Network
from ..run.session import ready

if 1 - 1:  # for type checkers alone
    from os import PathLike
    from typing import Any

    from typing_extensions import Buffer

    from ..run.network import Data

_KIND = "Steps"  # of a file, before the bytes of its state


class Steps(Network):
    """``model``, a compiled network of sequences, for one step at a time: no window is kept, nothing is computed twice.

    ``model`` may also be ``odt.load_model()`` of a file of ``export``, which a board opens without planning.

    A sample of ``predict`` is one step, in the Input's shape without the number of steps, and its output that of the
    sequence up to there: after T steps from ``reset()`` the bits of ``model.predict`` on a window of these T. Of a
    network that ends with a sequence it is the step's row. Weights and ranges are the model's, and follow its training;
    after ``compile`` or ``load_model`` make another. Its own are the program, the arena, and in that ``state``.

    ValueError for a model without a recurrent layer, without int8 ranges (``fit`` or ``calibrate`` finds them), with a
    layer before the last recurrent one that mixes steps (a convolution, a pooling, a position), or that runs by rows
    (``memory_budget`` on a PC); AttributeError for another model from a file, which has no layers.
    """

    kind: "str"
    state: "memoryview"  # of the stream so far: a copy of it goes on elsewhere, or later, by restore()

    def __init__(self, model: "Network") -> None:
        words = getattr(model, "kind", "").split()
        if len(words) == 2 and words[0] == _KIND and words[1].isdigit():
            self._model, self.session, size = None, model.session, min(int(words[1]), len(model.session.arena))
            self.features = model.features
        else:
            self._model = model
            try:
                from .stepping import stepping

                self.session, size = stepping(model.nodes, ready(model))
            finally:
                stepping = None
                drop("odt.recurrent.stepping")
            self.features = getattr(model.features, "features", None)
        self.labels, self.kind = model.labels, "%s %d" % (_KIND, size)
        self.state = memoryview(self.session.arena)[:size]
        self._copied, self._before = "%ds" % size, bytearray(size)

    def reset(self) -> None:
        """The next step is the first of a sequence."""
        self.state[:] = bytes(len(self.state))

    def restore(self, state: "Buffer") -> None:
        """Go on from a copy of ``state``, such as ``bytes(steps.state)``; ValueError for that of another network."""
        size = len(self.state)
        given = memoryview(state)
        if len(given) != size:
            raise ValueError("restore: a state of %d bytes is expected, got %d" % (size, len(given)))
        self.state[:] = given

    def predict(self, x: "Data", out: "Any" = None, batch_size: "int | None" = None, verbose: "int | str" = 0) -> "Any":
        """The outputs after each step of ``x``, as ``Network.predict`` has them; an error leaves ``state`` as it was.

        Nothing is allocated with ``out``, where ``x`` is of the same type as in the call before.
        """
        arena = self.session.arena
        pack_into(self._copied, self._before, 0, arena)
        try:
            return Network.predict(self, x, out, batch_size, verbose)
        except BaseException:
            pack_into(self._copied, arena, 0, self._before)
            raise

    def export(
        self,
        path: "str | PathLike[str]",
        labels: "list[str] | None" = None,
        purpose: "str" = "inference",
        features: "Any" = None,
    ) -> None:
        """Write a model file with the program of a step, for ``Steps(odt.load_model(path))``.

        ``features`` are those of a step. Weights and ranges are the model's, frozen; the stream begins with 0.
        RuntimeError for Steps from a file.
        """
        from ..files.export import export

        if self._model is None:
            raise RuntimeError("export: these Steps are from a file: copy it")
        if purpose != "inference":
            raise ValueError('export: Steps do not train: purpose is "inference", got %r' % (purpose,))
        from .stepping import frozen

        export(self, frozen(self._model), path, labels, purpose, features)

    def __repr__(self):
        place = (self._model or "of a file", len(self.state), len(self.session.arena))
        return "Steps(%s: a state of %d bytes in an arena of %d)" % place
