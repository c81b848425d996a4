# Frozen into the images of tests_device/. The ports' own manifests require() micropython-lib,
# which Debian's source package does not have, so only what lies in the source itself is taken.

options.defaults(reference=True, tests=True)

include("$(MPY_DIR)/extmod/asyncio")
include("../manifest.py", reference=options.reference)

if options.tests:  # what tests_device/scripts/in_place.py reads in place
    module("frozen_weights.py", base_path="../tests_device/scripts")
