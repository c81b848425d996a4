"""The C extension _odt; everything else is in pyproject.toml."""

from glob import glob

from setuptools import Extension, setup

setup(
    ext_modules=[
        Extension(
            "_odt",
            sorted(glob("native/*.c") + glob("native/kernels/*.c")) + ["native/bindings/cpython.c"],
            depends=glob("native/**/*.h", recursive=True),
            include_dirs=["native"],
            extra_compile_args=["-std=c99", "-O3", "-ffp-contract=off", "-fwrapv"],
        )
    ]
)
