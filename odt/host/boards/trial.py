# Opens a model file, predicts and trains on made-up samples, and prints digests: on a board, and on the PC that expects
# the same.
# Sent by deploy.py, after ``path = ...``; never imported.

import gc

gc.collect()
from array import array  # noqa: E402

import odt  # noqa: E402

model = odt.load_model(path)  # noqa: F821
session = model.session
gc.collect()
free = gc.mem_free() if hasattr(gc, "mem_free") else 0
count = min(session.batch_size, 4)
width = 1
for size in session.shape:
    width *= size
numbers = [37 * i % 251 for i in range(count * session.row)]
if session.input.dtype in ("uint8", "int8"):
    x = bytes(numbers)
elif session.input.dtype == "int16":
    x = array("h", [131 * (number - 125) for number in numbers])
elif session.input.dtype == "uint16":
    x = array("H", [261 * number for number in numbers])
elif session.input.dtype == "int32":
    x = array("i", [(number - 125) << 20 for number in numbers])
else:
    x = array("f", [(number - 125) / 64 for number in numbers])
outputs = bytes(model.predict(x))
print("odt-trial", odt.executor.backend, "predicts", "%08x" % session.engine.crc32(outputs), free)
if getattr(session.optimizer, "name", None):
    classes = session.classes
    if not classes:
        y = array("f", [(i * 5 % 3) / 2 for i in range(count * width)])
    elif session.loss.onehot:
        y = [[int(i * 5 % classes == k) for k in range(classes)] for i in range(count)]
    else:
        y = array("h", [i * 5 % classes for i in range(count)])
    try:
        for _ in range(2):
            model.train_step(x, y)
    except ArithmeticError:  # such samples are none of its own; the state is the same everywhere
        pass
    gc.collect()
    print("odt-trial", odt.executor.backend, "trains", "%08x" % model.digest(), free)
