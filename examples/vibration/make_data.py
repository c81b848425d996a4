"""Write bearing.bin and change.bin: windows of 256 samples of int8, from a model of a bearing's vibration.

CPython only.

The usual model of a fault in the outer race: every ball that passes it strikes it, and each impact rings
the structure's resonance, which decays exponentially (McFadden and Smith, 1984); the balls slip a
little, so that the impacts come at slightly random times (Randall and Antoni, 2011). A healthy machine
has the shaft's harmonics, a gear mesh with its sidebands, and noise; load and speed vary.
"""

import numpy as np

RATE = 6400  # samples a second
WINDOW = 256
SHAFT = 29.95  # Hz: 1797 rpm
BALLS, BALL, PITCH = 9, 7.94, 39.04  # SKF 6205: number of balls, their diameter, that of their circle (mm)
BPFO = BALLS / 2 * (1 - BALL / PITCH)  # impacts a turn: ball pass frequency of the outer race, 3.585
RESONANCE, DAMPING = 2200, 0.06  # Hz, of the structure between the bearing and the sensor
NOISE, LOUDER = 5, 8  # steps of int8
NORMAL, MILD, SEVERE = 0, 30, 60  # an impact's peak, in steps of int8


def window(rng, fault, noise=NOISE, speed=1):
    """One window, begun at a random moment, at a speed and a load of its own. ``speed``: times that of the shaft."""
    load = rng.uniform(0.6, 1.2)
    shaft = SHAFT * speed * rng.uniform(0.98, 1.02)
    t = np.arange(WINDOW) / RATE
    turns = shaft * t + rng.uniform()
    cos = lambda order, phase=0: np.cos(2 * np.pi * (order * turns + phase))  # noqa: E731
    x = 24 * cos(1) + 14 * cos(2, 0.1) + 8 * cos(3, 0.3)
    x += (1 + 0.4 * cos(1)) * (12 * cos(23) + 5 * cos(46, 0.2))  # a gear of 23 teeth
    x = load * x + rng.normal(0, noise, WINDOW)
    at = -rng.uniform(1, 2) / (BPFO * shaft)
    while at < t[-1]:
        since = np.maximum(t - at, 0)
        swing = np.exp(-DAMPING * 2 * np.pi * RESONANCE * since) * np.sin(2 * np.pi * RESONANCE * since)
        unbalance = 1 + 0.3 * np.cos(2 * np.pi * (shaft * at))  # turns with the shaft past the fault
        x += fault * load * unbalance * swing * (t >= at)
        at += rng.normal(1, 0.01) / (BPFO * shaft)  # slip: 1 %
    return np.clip(np.rint(x), -127, 127).astype("int8")


def write(name, seed, windows):
    """(the fault, how loud the noise is) of each."""
    rng = np.random.default_rng(seed)
    with open(name, "wb") as file:
        for fault, noise in windows:
            file.write(window(rng, fault, noise).tobytes())


if __name__ == "__main__":
    # What train.py reads: to learn from, for the threshold, to test with.
    parts = [(NORMAL, 320), (NORMAL, 64), (NORMAL, 128), (MILD, 64), (SEVERE, 64)]
    write("bearing.bin", 8, [(fault, NOISE) for fault, count in parts for _ in range(count)])
    # What watch.py reads after the first 512 of these: the noise is louder, then a fault grows.
    write("change.bin", 9, [(NORMAL, LOUDER)] * 144 + [(SEVERE * (i + 1) / 192, LOUDER) for i in range(192)])
