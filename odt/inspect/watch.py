"""Calls at places within a training step: a step is run in pieces, and between two of them Python runs.

    class Pin:
        def __init__(self, number):
            self.pin = machine.Pin(number, machine.Pin.OUT)

        def on_update_begin(self):
            self.pin(1)

        def on_update_end(self):
            self.pin(0)

    model.fit(x, y, callbacks=[Pin(15)])                    # a pin for a logic analyser or a power meter

    with odt.inspect.Phases(model, [Pin(15)]):                # the same of single steps
        model.train_step(x, y)

Without these calls a step is not cut and nothing of this is imported; with them it allocates nothing
either, but what the calls do. They may not use the model, whose arena holds half a step (RuntimeError), but for
``digest`` and ``get_weights``.
"""

from ..plan.listing import updates
from ..run.session import ready

if 1 - 1:  # for type checkers alone
    from collections.abc import Callable, Sequence
    from typing import Any

    from ..model import Model

# Forward ends with the network's output; the loss belongs to backward. Each weight is updated as soon as
# its gradient is whole, so that updates lie within backward, several a step; with micro_batch= forward and
# backward come once a micro-batch, then one update.
PHASES = (
    "on_forward_begin", "on_forward_end", "on_backward_begin", "on_backward_end", "on_update_begin",
    "on_update_end",
)  # fmt: skip


class Watch:
    """``with Watch(model):`` cuts the model's steps where ``places`` says.

    What is watched is what ``fit``, ``fit_async`` and ``train_step`` run; several may be nested.
    """

    model: "Model"

    before = None  # the pieces of a step that is not cut

    def __init__(self, model: "Model") -> None:
        self.model, self.session = model, ready(model)

    def places(self, start: "int", stop: "int") -> "dict[int, list[Callable[[], object]]]":
        """Of a part of the step: ``{word: [call, ..]}``, called after the instruction that ends there, or first."""
        raise NotImplementedError

    def __enter__(self) -> "Watch":
        session = self.session = ready(self.model)
        before = session.parts, session.others, session.update, session.whole
        cut = [self._cut(pieces) for pieces in before[:3]]
        try:
            self.before = before
            session.parts, session.others, session.update = cut
            session.whole = session.known = session.call = None
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *unused: "object") -> None:
        session = self.session
        if self.before:
            session.parts, session.others, session.update, session.whole = self.before
        session.known = session.call = None

    def _cut(self, pieces):
        if not pieces:
            return pieces
        places = self.places(pieces[0][0], pieces[-1][1])
        cut = []
        first = pieces[0][0]
        if first in places:
            cut.append((first, first, _together(places[first])))
        for start, stop, call in pieces:
            for at in sorted([at for at in places if start < at < stop]):
                cut.append((start, at, _together(places[at])))
                start = at
            calls = places.get(stop, []) if stop > start else []
            cut.append((start, stop, _together(([call] if call else []) + calls)))
        return tuple(cut)


def _together(calls):
    """One call for several; None for none."""
    if len(calls) < 2:
        return calls[0] if calls else None
    calls = tuple(calls)

    def together():
        for call in calls:
            call()

    return together


class Phases(Watch):
    """Calls those methods of ``callbacks`` that are named in PHASES."""

    def __init__(self, model: "Model", callbacks: "Sequence[Any]") -> None:
        super().__init__(model)
        self.calls = {name: [getattr(c, name) for c in callbacks if hasattr(c, name)] for name in PHASES}

    def places(self, start: "int", stop: "int") -> "dict[int, list[Callable[[], object]]]":
        session = self.session
        places = {}
        output = session.sections["predict"][1]
        backward = output < stop and start < output
        if backward:
            self._add(places, start, "on_forward_begin")
            self._add(places, output, "on_forward_end")
            self._add(places, output, "on_backward_begin")
        updating = not backward
        if updating:  # a batch's only update
            self._add(places, start, "on_update_begin")
        for at, code, addresses, _ in session.program.walk(max(start, output), stop):
            now = not backward or updates(code, addresses)
            if now != updating:
                updating = now
                self._add(places, at, "on_update_begin" if now else "on_update_end")
        if updating:
            self._add(places, stop, "on_update_end")
        if backward:
            self._add(places, stop, "on_backward_end")
        return places

    def _add(self, places, at, name):
        if self.calls[name]:
            places.setdefault(at, []).append(_guarded(self.session, name, self.calls[name]))


def _guarded(session, name, calls):
    """One call for those of a place, during which the model is not to be used."""

    def guarded():
        session.enter(name)
        try:
            for call in calls:
                call()
        finally:
            session.leave()

    return guarded
