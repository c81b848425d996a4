"""Recurrent networks step by step, in int8 and float32: outputs of steps beside the window's. Runs on a machine.

``ODT_ARGS``: "executor".
"""

import gc
from array import array

import odt
from odt.recurrent import Steps

args = globals().get("ODT_ARGS", {})
if "executor" in args:
    odt.executor.use(args["executor"])
STEPS, WIDTH, COUNT = 6, 3, 8
CELLS = {
    "gru": lambda: [odt.GRU(5)],
    "lstm": lambda: [odt.LSTM(4)],
    "simple_rnn": lambda: [odt.SimpleRNN(6)],
    "two": lambda: [odt.GRU(5, return_sequences=True), odt.LSTM(4)],
}
state, x = 1, array("h", bytes(2 * COUNT * STEPS * WIDTH))
for at in range(len(x)):
    state = (state * 1103515245 + 12345) & 0x7FFFFFFF
    x[at] = (state >> 21) - 512
size = 2 * STEPS * WIDTH
for dtype in ("int8", "float32"):
    for name in sorted(CELLS):
        layers = [odt.Input((STEPS, WIDTH), dtype="int16", scale=1 / 256)] + CELLS[name]() + [odt.Dense(4)]
        model = odt.Sequential(layers)
        model.compile(odt.Adam(0.02), dtype=dtype, batch_size=4, seed=1)
        model.fit(x, bytes([i % 4 for i in range(COUNT)]), epochs=2, verbose=0)
        window = bytes(model.predict(x))
        steps, out, found = Steps(model), array("f", bytes(16)), []
        rows = [x[at : at + WIDTH] for at in range(0, len(x), WIDTH)]
        for at, row in enumerate(rows):
            if at % STEPS == 0:
                steps.reset()
            steps.predict(row, out)
            found.append(bytes(out))
        last = b"".join([found[at] for at in range(STEPS - 1, len(rows), STEPS)])
        taken = 0
        if hasattr(gc, "mem_alloc"):
            gc.collect()
            gc.disable()
            before = gc.mem_alloc()
            for row in rows:
                steps.predict(row, out)
            taken = gc.mem_alloc() - before
            gc.enable()
        place = (dtype, name, "equal" if last == window else "other", odt.executor.engine.crc32(b"".join(found)))
        print("%s %s: %s, outputs %08x, model %08x" % (place + (model.digest(),)))
        print("a state of %d bytes in an arena of %d; heap %d" % (len(steps.state), len(steps.session.arena), taken))
        model = steps = None
print(odt.executor.backend, "executor")
