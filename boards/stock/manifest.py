# Frozen into the unix and QEMU images without odt. The ports' own manifests require()
# micropython-lib, which Debian's source package does not have.

include("$(MPY_DIR)/extmod/asyncio")
