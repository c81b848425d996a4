"""Opens a model file whose plan runs by rows, and trains on. Runs on a machine, and on CPython.

ODT_ARGS: file, size, and weights=False where the heap has no room for the largest kernel as floats.
"""

import gc

import odt

arguments = globals()["ODT_ARGS"]
model = odt.load_model(arguments["file"])
gc.collect()
size = arguments["size"]
sample = bytearray(size)
print(odt.backend, "executor, arena", len(model.session.arena))
print("opened digest %08x" % model.digest())
for step in range(3):
    for at in range(size):
        sample[at] = (at * (7 + step) + (at >> 5) * 29) & 255
    model.train_step(sample, bytes([step]))
    print("step digest %08x" % model.digest())
print("predicted digest %08x" % model.session.engine.crc32(bytes(model.predict(sample))))
samples = bytes(sample) + bytes(reversed(sample)) + bytes(sample)
model.fit(samples, bytes([2, 1, 0]), epochs=model.epoch + 2, initial_epoch=model.epoch, verbose=0)  # in another order
print("shuffled digest %08x" % model.digest())
if arguments.get("weights", True):
    crc = 0
    for each in model.get_weights():
        crc = model.session.engine.crc32(bytes(each), crc)
    print("weights digest %08x" % crc)
try:
    model.calibrate(sample)
except RuntimeError as error:
    print(error)
