"""odt.sensors.LogMel beside the transforms of ulab and emlearn-micropython, each within the firmware of one emulated
machine.

    make firmware BOARD=RPI_PICO ULAB_DIR=<folder>
    make qemu ODT_NATIVE=<folder>
    python bench/costs/spectra.py build/RPI_PICO_ulab/firmware.uf2 qemu_m4 qemu_m4hf
        writes bench/results/spectra.txt

The folders are clones' user modules: of ulab's code/ and emlearn-micropython's src/emlearn_fft, in the second beside
links to what is in native/. What a firmware lacks is said. Cycles or instructions for 512 samples, in Python's call. An
RP2040's floats are here those of boards/bootrom, compiled C, not Raspberry Pi's ROM (some 70 cycles for an addition or
a multiplication: RP2040 data sheet, 2.8.3); qemu_m4hf has an FPU.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import folders  # noqa: E402, F401
import counting  # noqa: E402
import machine_rp2040  # noqa: E402
import written  # noqa: E402

ROWS = (
    ("odt LogMel(16000, 512, 512, 40): window, FFT, power, 40 bands, log2", """
from odt.sensors import LogMel
mel, out = LogMel(16000, 512, 512, 40), array("h", bytes(80))
samples = array("h", [int(v) for v in x])
def call():
    mel(samples, out)
"""),
    ("ulab utils.spectrogram: FFT, magnitude", """
from ulab import numpy as np, utils
a = np.array(x)
def call():
    utils.spectrogram(a)
"""),
    ("emlearn_fft: FFT", """
import math
from emlearn_fft_c import FFT
fft, imag, real = FFT(512), array("f", bytes(2048)), array("f", bytes(2048))
fft.fill(*[array("f", [f(2 * math.pi * i / 512) for i in range(256)]) for f in (math.sin, math.cos)])
def call():
    for k in range(512):
        real[k] = x[k]
        imag[k] = 0.0
    begin()
    fft.run(real, imag)
    end()
"""),
)  # fmt: skip
BEFORE = """
import gc
from array import array
x = [float((i * i * 7919 >> 3) % 20011 - 10005) for i in range(512)]
"""
AFTER = """
gc.collect()
begin()
end()
%s
"""


def opened(machine):
    """A machine that counts: of a firmware's file an RP2040, else of its name."""
    if not machine.endswith(".uf2"):
        return counting.open(machine)

    class Pico(machine_rp2040.RP2040):
        image = Path(machine).resolve()

    board = counting.Board.__new__(counting.Board)
    board.name, board.machine = "rp2040", Pico()
    return board


def rows(machine):
    for title, script in ROWS:
        board = opened(machine)
        call = "call()\n" if "begin()" in script else "begin()\ncall()\nend()\n"
        try:
            yield "%-72s%10d" % (title, board.run(BEFORE + script + AFTER % (call * 2))[-1])
        except machine_rp2040.MachineError as error:
            if "ImportError" not in str(error):
                raise
            yield "%-72s%10s" % (title, "not there")
        finally:
            board.close()


def main():
    lines = counting.head("Spectra. Written by: python bench/costs/spectra.py FIRMWARE.uf2 qemu_m4 qemu_m4hf")[:-2]
    for machine in sys.argv[1:]:
        lines += ["", counting.heading("rp2040" if machine.endswith(".uf2") else machine), *rows(machine)]
    print(*lines, sep="\n")
    written.write("spectra.txt", lines)


if __name__ == "__main__":
    main()
