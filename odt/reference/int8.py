"""Where int8 results go."""


class Sink:
    """Where int8 results go: adds the zero point, clamps, collects the peak."""

    def __init__(self, out, peak, zero=0, lo=-127):
        self.out = out
        self.peak = peak
        self.zero = zero
        self.lo = lo
        self.top = peak[0]

    def put(self, i, v):
        if v > self.top:
            self.top = v
        elif -v > self.top and self.lo != self.zero:
            self.top = -v
        v += self.zero
        self.out[i] = self.lo if v < self.lo else 127 if v > 127 else v

    def close(self):
        self.peak[0] = self.top
