# The port's own boards/manifest.py less what it takes from micropython-lib (onewire, neopixel, ...).

freeze("$(PORT_DIR)/modules")
include("$(MPY_DIR)/extmod/asyncio")
