"""TensorFlow's microfrontend: what networks hear that were trained for TensorFlow Lite Micro, or as microWakeWord's.

    front = MicroFrontend()
    for each 10 ms: front(the newest 30 ms of samples, out)

Hann window, real FFT of 16 bits, filter bank, square root, noise reduction, gain control (PCAN), logarithm, each
rounded as there: the same integers (docs/reference/features.md). The arithmetic: docs/reference/numerics.md, Features.
"""

from ...plan import drop
from . import kernel
from .logmel import LogMel


class MicroFrontend(LogMel):
    """64 times the natural logarithm of each band's amplitude over its noise, as TensorFlow's microfrontend makes it of
    frames of int16 samples.

    The defaults are the settings of microWakeWord and of TensorFlow Lite Micro's micro_speech: 40 channels of 30 ms, a
    frame each 10 ms (micro_speech: 20). What is noise, frames teach: one MicroFrontend a stream, frames in their order,
    ``reset()`` before another stream. Arguments, TypeError and ValueError: as LogMel's.
    """

    preset = None

    def _make(self):
        from .frontend_tables import tables, work

        self._tables = tables(self.rate, self.window, self.fft, self.channels, self.low, self.high)
        self._work = work(self.fft, self.channels)
        drop("odt.sensors.features.frontend_tables")
        self._kernel = kernel("frontend", "_odt_frontend")
        if self._kernel is None:
            from ...reference.frontend import frontend

            self._kernel = frontend

    def reset(self) -> None:
        """Forget what is noise, as before the first frame."""
        work = self._work
        for i in range(self.fft // 2 + 1, len(work)):
            work[i] = 0
