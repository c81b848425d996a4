"""The sizes of what `make mpy` built: python3 -m odt.host.release.sizes build/mpy"""

import sys
from pathlib import Path

from .pieces import FILES, beside

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
            sizes = {part.stem: part.stat().st_size for part in beside(file)}
            print("%-10s %7d bytes  %d files for %s" % (arch, sum(sizes.values()), len(sizes), core))
            for name, about in FILES.items():
                if name in sizes:
                    print("%18d        %s.mpy: %s" % (sizes[name], name, about))
    files = list((folder / "python").rglob("*.mpy"))
    total = sum(file.stat().st_size for file in files)
    print("%-10s %7d bytes  %d files in odt/ for all of them" % ("python", total, len(files)))


if __name__ == "__main__":
    main(*sys.argv[1:])
