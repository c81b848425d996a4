# What a firmware freezes of odt: the package, less its host part.
#
#   make -C ports/<port> FROZEN_MANIFEST=<odt>/manifest.py USER_C_MODULES=<odt>/native
#
# A manifest of your own takes it with include("<odt>/manifest.py"), beside the port's; with reference=False without the
# executor in Python, 50 KB of flash that a firmware with the kernels does not use.

import os

options.defaults(reference=True)

metadata(
    version="0.1.0",
    description="Neural-network training on microcontrollers.",
    license="MIT",
    author="The odt developers",
)


def _board_files(package):
    left_out = ("host", "__pycache__") + (() if options.reference else ("reference",))
    for folder, folders, files in os.walk(package):
        folders[:] = sorted([f for f in folders if f not in left_out])
        for file in sorted(files):
            if file.endswith(".py") and file != "__main__.py":
                yield os.path.relpath(os.path.join(folder, file), package)


package("odt", files=list(_board_files("odt")), opt=3)
