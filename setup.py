"""The native module, all C of native/; the examples; and for a release what boards with stock firmware get.

The rest of the package's description is in pyproject.toml. ODT_MPY=<build/mpy> in the environment names what
`make mpy` built: the wheel then holds it, and `odt install` needs no clone (make release sets it).
"""

import os
import shutil
from glob import glob
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_py import build_py

ROOT = Path(__file__).resolve().parent
# What a board gets of them, and what says whose the data are.
SCRIPTS = ("train", "adapt", "teach", "learn", "words", "tokens", "motions", "office", "start", "nets", "life")
EXAMPLES = (*["*/%s.py" % name for name in SCRIPTS], "*/*.bin", "*/*.odt", "*/LICENSE", "*/README.md")
MPY = (
    "arm*/_odt*.mpy",
    "rv*/_odt*.mpy",
    "xtensa*/_odt*.mpy",
    "viper/xtensa*/_odt*.mpy",
    "python/odt/**/*.mpy",
    "packed/odt/*.*",
)  # none of a PC's


class BuildPackage(build_py):
    """The package, and in odt/host/ what ``odt install`` copies: examples/, and mpy/ where ODT_MPY is set."""

    def run(self):
        super().run()
        mpy = os.environ.get("ODT_MPY")
        if mpy and not glob(os.path.join(mpy, "*", "_odt.mpy")):
            raise SystemExit("ODT_MPY=%s: there is nothing that `make mpy` built" % mpy)
        if not self.editable_mode:
            self._put("examples", ROOT / "examples", EXAMPLES)
            self._put("mpy", Path(mpy or os.devnull), MPY if mpy else ())

    def _put(self, name, source, patterns):
        folder = Path(self.build_lib, "odt", "host", name)
        shutil.rmtree(folder, ignore_errors=True)  # an earlier build's
        for pattern in patterns:
            for file in sorted(source.glob(pattern)):
                target = folder / file.relative_to(source)
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(file, target)


FOLDERS = ("native", "native/common", "native/kernels/*", "native/cores/*")
sources = [name for folder in FOLDERS for name in glob(folder + "/*.c")] + ["native/bindings/cpython.c"]
setup(
    cmdclass={"build_py": BuildPackage},
    ext_modules=[
        Extension(
            "_odt",
            sorted(sources),
            include_dirs=["native"],
            extra_compile_args=["-std=c99", "-O3", "-ffp-contract=off", "-fwrapv", "-DODT_THREADS"],
            optional=True,  # without a C compiler odt computes in Python
        )
    ],
)
