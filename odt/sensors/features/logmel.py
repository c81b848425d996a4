"""Log-mel: the energy of a frame of sound in bands that are as wide as an ear's; MFCC: how it varies along them.

    mel = LogMel(rate=16000, window=480)
    out = array("h", bytes(2 * mel.channels))
    mel(samples, out)

Hann window, real FFT, power, triangles that are evenly spaced on the mel scale (HTK's), log2: the first stages of
TensorFlow's microfrontend, without its noise reduction and gain control (those: MicroFrontend). The arithmetic:
docs/reference/numerics.md, Features.
"""

from ...base.fixed import is_int, own
from ...base.primitives import size_of
from . import Feature, kernel


class LogMel(Feature):
    """Log-mel energies of frames of ``window`` int16 samples at ``rate`` Hz, in ``channels`` bands from ``low`` to
    ``high`` Hz: 256 log2 of each band's energy, 0 where that is below 1; 0..14848.

    window: None, 30 ms; fft: a power of two, 32..2048, not below the window (None: the next); the frame is followed by
    zeros up to it. high: None, 15/32 of the rate, 7500 at most. A band that is narrower than the rate / fft of a bin
    may hear nothing, and is 0. TypeError, ValueError for what is out of range.

    ``outputs``: how many numbers come out, the channels. ``nbytes`` of RAM: tables and scratch. One LogMel computes a
    frame at a time, in one thread.
    """

    rate: "int"
    window: "int"
    fft: "int"
    channels: "int"
    low: "int"
    high: "int"
    outputs: "int"

    coefficients: "int" = 0
    keywords = "rate", "window", "fft", "channels", "low", "high"
    preset = 1 / 1024, 5632  # scale and zero_point of an Input: energies of 22 bits, the noise of a room, are 0

    def __init__(
        self,
        rate: "int" = 16000,
        window: "int | None" = None,
        fft: "int | None" = None,
        channels: "int" = 40,
        low: "int" = 125,
        high: "int | None" = None,
    ) -> None:
        kind = type(self).__name__
        self.rate = rate = size_of(kind, "rate", rate, 1000000)
        window = size_of(kind, "window", min(max(rate * 3 // 100, 1), 2048) if window is None else window, 2048)
        if fft is None:
            fft = 32
            while fft < window:
                fft *= 2
        high = min(7500, rate * 15 // 32) if high is None else high
        self.fft = fft = size_of(kind, "fft", fft, 2048)
        if fft < 32 or fft & fft - 1:
            raise ValueError("%s: fft is a power of two in 32..2048, got %d" % (kind, fft))
        self.window = window = size_of(kind, "window", window, fft)
        self.channels = channels = size_of(kind, "channels", channels, 128)
        self.low, self.high = low, high = own(low), own(high)
        if not is_int(low) or not is_int(high):
            raise TypeError("%s: low and high are ints, in Hz, got %r and %r" % (kind, low, high))
        if not 0 <= low < high <= rate // 2:
            raise ValueError(
                "%s: 0 <= low < high <= rate / 2 = %d Hz is expected, got %d and %d" % (kind, rate // 2, low, high)
            )
        from ...plan import drop

        self.outputs = self.coefficients or channels
        self._make()
        drop("odt.sensors.features.tables")

    def _make(self):
        from .tables import bands, waves

        coefficients, channels = self.coefficients, self.channels
        self._tables = bands(self.rate, self.window, self.fft, channels, self.low, self.high, coefficients)
        self._work = waves(self.window, self.fft, channels if coefficients else 0)
        self._kernel = kernel("log_mel", "_odt_features")
        if self._kernel is None:
            from ...reference.logmel import log_mel

            self._kernel = log_mel

    def __repr__(self):
        more = " -> %d coefficients" % self.coefficients if self.coefficients else ""
        return "%s(%d samples at %d Hz -> %d channels of %d..%d Hz%s, %d bytes)" % (
            type(self).__name__, self.window, self.rate, self.channels, self.low, self.high, more,
            self.nbytes)  # fmt: skip


class MFCC(LogMel):
    """Mel-frequency cepstral coefficients: the first ``coefficients`` of the cosine transform (DCT-II, orthonormal) of
    a LogMel's channels.

    In units of 1/32 of a factor of 2: LogMel's are 1/256. The first is the loudness, as librosa's and SciPy's.
    """

    keywords = LogMel.keywords + ("coefficients",)
    preset = None

    def __init__(
        self,
        rate: "int" = 16000,
        window: "int | None" = None,
        fft: "int | None" = None,
        channels: "int" = 40,
        low: "int" = 125,
        high: "int | None" = None,
        coefficients: "int" = 13,
    ) -> None:
        size_of("MFCC", "channels", channels, 128)
        self.coefficients = size_of("MFCC", "coefficients", coefficients, channels)
        super().__init__(rate, window, fft, channels, low, high)
