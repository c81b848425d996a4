"""Quantized networks of other frameworks, on a machine and on CPython. ODT_ARGS: files, folder, steps."""

import gc

import odt

arguments = globals().get("ODT_ARGS", {})
folder = arguments.get("folder", "")
for name in arguments["files"]:
    model = out = None  # a stock Pico has room for one
    gc.collect()
    with open(folder + name + ".x", "rb") as file:
        x = file.read()
    y = bytes([(3 * i + 1) % 10 for i in range(len(x) // 64)])
    model = odt.load_model(folder + name + ".odt")
    out = model.predict(x)
    print(odt.backend, name, "outputs digest %08x" % model.session.engine.crc32(bytes(out)))
    for step in range(arguments["steps"] if "learns" in name else 0):
        model.train_step(x[256 * step : 256 * (step + 1)], y[4 * step : 4 * (step + 1)])
    print(odt.backend, name, "state digest %08x" % model.digest())
