# What a firmware freezes of odt: the package, less its host part.
#
#   make -C ports/<port> FROZEN_MANIFEST=<odt>/manifest.py USER_C_MODULES=<odt>/native
#
# A manifest of your own takes it with include("<odt>/manifest.py"), beside the port's; with reference=False without the
# executor in Python, 50 KB of flash that a firmware with the kernels does not use.
#
# The environment's ODT_CAPABILITIES="sensors online", "none" or "all" chooses the capabilities, for this file and for
# native/: set it for the whole build (odt/host/boards/capabilities.py). Unset, the firmware has everything.

import os
import runpy

options.defaults(reference=True)

metadata(
    version="0.1.0",
    description="Neural-network training on microcontrollers.",
    license="MIT",
    author="The odt developers",
)


def _board_files(package):
    left_out = ["host", "__pycache__"] + ([] if options.reference else ["reference"])
    # With kernels, native/calibrate.c does what stepwise.py does.
    without = ["__main__.py"] + ([] if options.reference else ["run/stepwise.py", "run/crowded.py"])
    chosen = os.environ.get("ODT_CAPABILITIES")
    if chosen:
        left_out += runpy.run_path(package + "/host/boards/capabilities.py")["left_out"](chosen)
    for folder, folders, files in os.walk(package):
        folders[:] = sorted([f for f in folders if f not in left_out])
        for file in sorted(files):
            name = os.path.relpath(os.path.join(folder, file), package)
            if file.endswith(".py") and name not in without:
                yield name


package("odt", files=list(_board_files("odt")), opt=3)
