"""The sizes of what `make mpy` built: python3 -m odt.host.sizes build/mpy"""

import sys
from pathlib import Path

CORES = {
    "armv6m": "RP2040 and other Cortex-M0+",
    "armv7m": "Cortex-M3",
    "armv7emsp": "Cortex-M4F, Cortex-M7 with single floats",
    "armv7emdp": "Cortex-M7 with double floats",
    "rv32imc": "RISC-V: ESP32-C3, RP2350's",
    "xtensawin": "ESP32",
    "x64": "the unix port on a PC",
}


def main(folder):
    folder = Path(folder)
    for arch, core in CORES.items():
        file = folder / arch / "_odt.mpy"
        if file.exists():
            print("%-10s %7d bytes  _odt.mpy for %s" % (arch, file.stat().st_size, core))
    files = list((folder / "python").rglob("*.mpy"))
    total = sum(file.stat().st_size for file in files)
    print("%-10s %7d bytes  %d files in odt/ for all of them" % ("python", total, len(files)))


if __name__ == "__main__":
    main(*sys.argv[1:])
