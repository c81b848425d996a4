# The port's own modules, without which it has no file system, and what every image of ours freezes.
freeze("$(PORT_DIR)/modules")
include("../manifest.py", reference=False, tests=False)
