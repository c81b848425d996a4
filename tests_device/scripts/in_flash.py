"""Opens a model file in blocks of a Pico's flash, and trains on. Runs on an RP2040, and on CPython.

ODT_ARGS: ``file`` (on CPython), ``size`` of the file; ``length`` bytes that begin ``flash`` before the flash's end, of
which the file begins at ``begin`` and the image after it; ``x``, bytes of an image; whether it is read ``in_flash``.
"""

import gc
import sys

import odt

A = globals()["ODT_ARGS"]
begin, end = globals().get("begin", int), globals().get("end", int)
x = None
if sys.implementation.name == "cpython":
    model = odt.load_model(A["file"])
else:
    import rp2

    blocks = rp2.Flash().ioctl(4, 0)
    data = memoryview(rp2.Flash(start=4096 * blocks - A["flash"], len=A["length"]))
    at = A["begin"]
    model = odt.load_model(data[at : at + A["size"]])
    if A["in_flash"]:
        at += A["size"] + 3 & ~3
        x = data[at : at + A["x"]]
gc.collect()
if sys.implementation.name != "cpython":
    print("free", gc.mem_free())
if x is None:
    x = bytearray(A["x"])
    for at in range(len(x)):
        x[at] = (7 * at + (at >> 6)) & 255
y = bytes([3])
print(odt.backend, "executor, digest %08x" % model.digest())
begin()
end()
for _ in range(3):
    begin()
    model.train_step(x, y)
    end()
    print("digest %08x" % model.digest())
