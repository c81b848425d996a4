"""odt.sensors.LogMel and MFCC: error against float64, cost of a frame, RAM and bytes of .mpy.

    python bench/costs/features.py            writes bench/results/features.txt (two minutes)
    python bench/costs/features.py qemu_m4    prints only, with the costs on these machines

Errors: in percent of the range 0..14848 of an output, of channels whose energy is at least what the rounding of samples
to int16 leaves in them (white noise of 1/12); 100 frames of each signal, whose phase is random. Costs: the mean of 4
frames of noise by mel(samples, out), Python's part with it. "one" counts the kernel alone. 13: MFCC. TF's:
MicroFrontend.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import folders  # noqa: E402, F401
import counting  # noqa: E402
import numpy as np  # noqa: E402
import written  # noqa: E402
from counting import ROOT  # noqa: E402

from odt.sensors import MFCC, Filter, LogMel, MicroFrontend, MiniRocket, Motion  # noqa: E402

MACHINES = "rp2040", "qemu_m3", "qemu_m4", "qemu_m4hf"
PIECES = "_odt_features.mpy", "_odt_frontend.mpy", "_odt_motion.mpy", "_odt_rocket.mpy"
SECTION = 10782175, 21564350, 10782175, 1 << 29, -838065198, 344322985
ARCHITECTURES = "armv6m", "armv7m", "armv7emsp"
SIZES = (16000, 480, 512, 40, 125, 7500), (8000, 240, 256, 20, 100, 4000), (16000, 1024, 1024, 64, 20, 8000)
ON_BOARD = """
import gc
from array import array
from odt.sensors import MFCC, Filter, LogMel, MicroFrontend, MiniRocket, Motion
mel = %s%r
x, out = array("h", [(i * i * 7919 >> 3) %% 20011 - 10005 for i in range(%d)]), array("h", bytes(2 * %d))
kernel, tables, work = mel._kernel, mel._tables, mel._work
mel(x, out)
begin()
end()
for _ in range(4):
    begin()
    mel(x, out)
    end()
for _ in range(4):
    begin()
    kernel(out, x, tables, work)
    end()
"""


def signals(rate, window, rng):
    t = np.arange(window) / rate
    pitch = rng.uniform(90, 250)
    phases = rng.uniform(0, 7, 40)
    harmonics = [
        np.sin(2 * np.pi * pitch * h * t + phases[h]) / h**1.3 for h in range(1, 40) if 2 * pitch * h < 0.9 * rate
    ]
    yield "noise, deviation 3", rng.normal(0, 3, window)
    yield "noise, deviation 3000", rng.normal(0, 3000, window)
    for level in (100, 3000, 32000):
        frequency = rng.uniform(0.01, 0.45) * rate
        yield "tone of %d" % level, level * np.sin(2 * np.pi * frequency * t + rng.uniform(0, 7))
    yield "voice, peak 300", 300 * sum(harmonics) / np.abs(sum(harmonics)).max() + rng.normal(0, 1, window)
    yield "voice, peak 30000", 30000 * sum(harmonics) / np.abs(sum(harmonics)).max() + rng.normal(0, 1, window)


def energies(x, rate, window, fft, channels, low, high):
    """(energy in each band, what white noise of 1/12 has there), in float64 by the definition."""

    def mel(f):
        return 1127 * np.log1p(np.asarray(f) / 700)

    edges, bins = np.linspace(mel(low), mel(high), channels + 2), mel(np.arange(fft // 2 + 1) * rate / fft)
    a, b, c = edges[:-2, None], edges[1:-1, None], edges[2:, None]
    bank = np.minimum((bins - a) / (b - a), (c - bins) / (c - b)).clip(0)
    hann = 0.5 - 0.5 * np.cos(2 * np.pi * (np.arange(window) + 0.5) / window)
    return bank @ np.abs(np.fft.rfft(x * hann, fft)) ** 2, bank.sum(1) * (hann**2).sum() / 12


def errors(size):
    yield "%-26s%16s%10s%10s%10s%18s" % (
        "%d of %d, %d channels" % size[1:4],
        "offset",
        "median",
        "99 %",
        "worst",
        "channels below",
    )
    mel = LogMel(*size)
    for offset in (0, 2000, -20000):
        found = {}
        rng = np.random.default_rng(1)
        for _ in range(100):
            for name, x in signals(size[0], size[1], rng):
                x = np.clip(np.round(x + offset), -32768, 32767)
                exact, noise = energies(x, *size)
                error = np.abs(np.array(mel(x.astype("int16"))) - 256 * np.log2(np.maximum(exact, 1))) / 148.48
                above = exact >= np.maximum(noise, 1)
                found.setdefault(name, [[], 0])[0].extend(error[above])
                found[name][1] += (~above).sum()
        for name, (each, below) in found.items():
            yield "%-26s%16d%10.3f%10.3f%10.3f%16.1f %%" % (
                name, offset, np.median(each), np.quantile(each, 0.99), max(each), below / size[3])  # fmt: skip


def costs(names):
    yield "%-30s%10s%s" % ("a frame", "RAM", "".join("%16s%14s" % (name, "one") for name in names))
    rows = [("%d of %d, %d channels" % size[1:4], LogMel, size) for size in SIZES]
    rows += [
        ("480 of 512, 40 channels, 13", MFCC, SIZES[0] + (13,)),
        ("480 of 512, 40 channels, TF's", MicroFrontend, SIZES[0]),
    ]
    rows += [
        ("Motion, 3 axes of 128, 5 bands", Motion, (100, 128, 3)),
        ("Motion, 3 of 128, no bands", Motion, (100, 128, 3, ())),
    ]
    rows += [("Filter, order 4, 3 of 128", Filter, ((SECTION,) * 2, 3))]
    rows += [("MiniRocket, 3 of 128, 420", MiniRocket, (128, 3, 420, 0, (0,) * 420))]
    rows += [("MiniRocket, 1 of 128, 420", MiniRocket, (128, 1, 420, 0, (0,) * 420))]
    for label, kind, arguments in rows:
        made, cells = kind(*arguments), []
        count = 384 if kind is Filter else made.window * getattr(made, "axes", 1)
        for name in names:
            machine = counting.open(name)
            counts = machine.run(ON_BOARD % (kind.__name__, arguments, count, getattr(made, "outputs", count)))
            machine.close()
            cells += [sum(counts[:4]) // 4, sum(counts[4:]) // 4]
        yield "%-30s%10d%s" % (
            label,
            made.nbytes,
            "".join("%16d%14d" % tuple(cells[i : i + 2]) for i in range(0, len(cells), 2)),
        )


def files():
    for name in ARCHITECTURES:
        for piece in PIECES:
            path = ROOT / "build" / "mpy" / name / piece
            yield "%-36s%6d bytes" % ("%s/%s" % (name, piece), path.stat().st_size)
    for name in (
        "sensors/__init__", "sensors/features/logmel", "sensors/features/tables", "reference/logmel",
        "reference/buffers",
        "reference/spectrum", "sensors/features/frontend", "sensors/features/frontend_tables", "reference/frontend",
        "sensors/features/motion", "reference/motion", "sensors/features/filter", "reference/biquads",
        "sensors/features/rocket",
        "reference/rocket", "sensors/features/refused",
    ):  # fmt: skip
        path = ROOT / "build" / "mpy" / "python" / "odt" / (name + ".mpy")
        note = ", while one is made" if name.endswith("tables") else ", without kernels alone" * name.startswith("ref")
        yield "%-36s%6d bytes%s" % ("odt/%s.mpy" % name, path.stat().st_size, note)


def main():
    names = sys.argv[1:] or MACHINES
    lines = counting.head("odt.sensors.LogMel. Written by: python bench/costs/features.py")[:-1]
    lines += [counting.heading(name) for name in names]
    print(*lines, sep="\n")
    for part in (costs(names), files(), *[errors(size) for size in SIZES[:2]]):
        lines.append("")
        print()
        for line in part:
            print(line, flush=True)
            lines.append(line)
    if not sys.argv[1:]:
        written.write("features.txt", lines)


if __name__ == "__main__":
    main()
