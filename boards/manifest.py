# Frozen into the images of tests_device/. The ports' own manifests require() micropython-lib,
# which Debian's source package does not have, so only what lies in the source itself is taken.

options.defaults(reference=True)

include("$(MPY_DIR)/extmod/asyncio")
include("../manifest.py", reference=options.reference)

# What tests_device/in_place.py reads in place.
module("frozen_weights.py", base_path="../tests_device")
