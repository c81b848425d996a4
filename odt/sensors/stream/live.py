"""A window, features, a model and events, put together."""

from array import array

from ...run.posteriors import probabilities

if 1 - 1:  # for type checkers alone
    from collections.abc import AsyncIterator, Callable
    from typing import Any, Protocol

    from ...run.network import Network, Numbers
    from .events import Events
    from .window import Window

    class Source(Protocol):
        def readinto(self, __buffer: Any) -> Any: ...


class Stalled(OSError):
    """A source gave nothing for too long."""


class Stream:
    """Labels of what a sensor sends: each window goes through ``features``, ``model`` and ``events``.

    ``window``: a Window. ``features``: a function of its data, which gives what the model takes; None: the data.
    ``model``: a model that predicts classes, or a function of one sample that gives what ``events.update`` takes, as a
    teacher's ``predict``. ``frames``: a Window that collects what ``features`` give, a row for each window, where the
    model takes several (a spectrogram).
    """

    window: "Window"
    model: "Network | Callable[[Any], Any]"
    events: "Events"
    features: "Callable[[Any], Any] | None"
    frames: "Window | None"

    def __init__(
        self,
        window: "Window",
        model: "Network | Callable[[Any], Any]",
        events: "Events",
        features: "Callable[[Any], Any] | None" = None,
        frames: "Window | None" = None,
    ) -> None:
        if not hasattr(model, "session") and not callable(model):
            raise TypeError("Stream: model is a model or a function of a sample, got %r" % (model,))
        self.window, self.model, self.events, self.features, self.frames = window, model, events, features, frames
        self._for = self._row = None  # features, and what they fill
        self._kept = ()  # events of a call that raised

    @staticmethod
    def of(model: "Any", events: "Events | None" = None, hop: "int | None" = None, slots: "int" = 2) -> "Stream":
        """The stream of a model that says what it takes: ``model.features``, as ``export(features=)`` kept them;
        without, windows of samples.

        ``events``: an Events; None: one of the model's labels. ``hop``: samples between windows; of Frames, whose own
        hop is between frames, the frames between two runs of the model (None: 1). ValueError where labels or features
        lack.
        """
        from .made import made

        return made(Stream, model, events, hop, slots)

    def feed(self, samples: "Numbers") -> "tuple[tuple[Any, float], ...]":
        """Take in samples, as ``Window.push`` does, any number: a sequence of the events that they make.

        Errors: as of ``poll``.
        """
        samples = self.window.flat(samples)
        at, found, late = 0, (), None
        while at < len(samples):
            at = self.window.put(samples, at)
            try:
                found += self.poll()
            except Exception as error:
                late = late or error
        return self._end(found, late)

    def poll(self) -> "tuple[tuple[Any, float], ...]":
        """The events of the windows that are whole, where an interrupt or a driver feeds ``window``.

        The first error of one, as of a NaN in it, is raised when all have been seen; the next call returns their
        events.
        """
        found, self._kept, late = self._kept, (), None
        x = self.window.next()
        while x is not None:
            try:
                event = self.see(x)
                if event:
                    found += (event,)
            except Exception as error:
                late = late or error
            x = self.window.next()
        return self._end(found, late)

    def _end(self, found, late):
        if late:
            self._kept = found + self._kept
            raise late
        return found

    def see(self, x: "Any") -> "tuple[Any, float] | None":
        """The event of one window, or None."""
        features, frames, row = self.features, self.frames, None
        if frames and self.window.gap:
            frames.skip(-(-self.window.gap // self.window.hop))
        if features:
            if self._for is not features:
                self._for, self._row = features, self._made(features)
            row = self._row
            try:
                if row is not None and frames:
                    x = features(x, frames.sample())
                    frames.commit(2 * frames.channels)
                else:
                    x = features(x) if row is None else features(x, row)
            except BaseException:
                if frames:
                    frames.skip()  # the row that is missing
                raise
        if frames:
            if row is None:
                frames.push(x)
            x = frames.next()
            if x is None:
                return None
        return self.events.update(self.posteriors(x))

    def _made(self, features):
        """What features fill, None where they return what they make."""
        count, frames = getattr(features, "outputs", None), self.frames
        if not count or frames and (frames.channels != count or frames.typecode != "h"):
            return None
        return frames or array("h", bytes(2 * count))

    def posteriors(self, x: "Any") -> "Any":
        """What the model says of one sample, as ``events.update`` takes it."""
        if not hasattr(self.model, "session"):
            return self.model(x)
        rows = probabilities(self.model, x)
        if len(rows) != 1:
            raise ValueError("Stream: a window is %d samples of the model's Input, one is expected" % len(rows))
        return rows[0]

    def listen(
        self, source: "Source", pause: "float" = 0.01, patience: "int" = 500
    ) -> "AsyncIterator[tuple[Any, float]]":
        """``async for label, confidence in stream.listen(source)``; other tasks run meanwhile.

        ``source.readinto(buffer)`` puts bytes into a buffer and gives their number, or something to await that does.
        Nothing (0 or None) is asked for again after ``pause`` seconds; ``patience`` times in a row: Stalled. It ends
        where ``source.ended`` is true, as of files. ValueError for a source whose ``channels`` or ``typecode`` are not
        the window's, or whose ``rate`` is not that of the features.
        """
        for name, other in (("channels", self.window), ("typecode", self.window), ("rate", self.features)):
            expected = getattr(other, name, None)
            found = getattr(source, name, expected)
            if expected is not None and found is not None and found != expected:
                from .made import HINTS

                raise ValueError("listen: the source has %s %r, expected %r: %s" % (name, found, expected, HINTS[name]))
        return _Listening(self, source, pause, patience)

    def cost(self, clock: "Callable[[], int] | None" = None) -> "tuple[int, int]":
        """What a window takes: (features, model) in microseconds, or in units of ``clock``, a function that returns a
        number that rises.

        Both run once on what the window holds, without an event; the hop's duration is what there is. With ``frames``
        the model runs once every ``frames.hop`` windows. A function with a state, as a noise reduction, has seen that
        window.
        """
        from .cost import cost

        return cost(self, clock)


class _Listening:
    def __init__(self, stream, source, pause, patience):
        self.stream, self.source, self.pause, self.patience = stream, source, pause, patience

    def __aiter__(self):
        return self

    async def __anext__(self):
        from asyncio import sleep

        window, source, empty = self.stream.window, self.source, 0
        while True:
            x = window.next()
            while x is not None:
                event = self.stream.see(x)
                if event:
                    return event
                x = window.next()
            count = source.readinto(window.slot())
            if count is not None and not isinstance(count, int):
                count = await count
            if count:
                window.commit(count)
                empty = 0
                await sleep(0)
            elif getattr(source, "ended", False):
                raise StopAsyncIteration
            else:
                empty += 1
                if empty == self.patience:
                    raise Stalled("listen: the source gave nothing %d times in a row" % empty)
                await sleep(self.pause)
