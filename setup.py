"""The native module: all C of native/. The rest of the package's description is in pyproject.toml."""

from glob import glob

from setuptools import Extension, setup

sources = glob("native/*.c") + glob("native/kernels/*/*.c") + ["native/bindings/cpython.c"]
setup(
    ext_modules=[
        Extension(
            "_odt",
            sorted(sources),
            include_dirs=["native"],
            extra_compile_args=["-std=c99", "-O3", "-ffp-contract=off", "-fwrapv", "-DODT_THREADS"],
            optional=True,  # without a C compiler odt computes in Python
        )
    ]
)
