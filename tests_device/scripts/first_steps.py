"""The digest after the first step in micro-batches; then the same while callbacks come in between instructions."""

import odt

BLOCKS, BATCH = 3, 5  # the last micro-batch is not full
came, called = 0, False


def residual():
    """Sums overwrite one of their terms."""
    x = inputs = odt.Input((5, 5, 3), dtype="uint8", scale=1 / 64)
    x = odt.Conv2D(4, 3, padding="same", activation="relu")(x)
    for _ in range(BLOCKS):
        y = odt.Conv2D(4, 3, padding="same", activation="relu")(x)
        x = odt.ReLU()(odt.Add()([x, odt.Conv2D(4, 3, padding="same")(y)]))
    model = odt.Model(inputs, odt.Dense(10)(odt.GlobalAvgPool()(x)))
    model.compile("adam", batch_size=BATCH, micro_batch=2, seed=1)
    return model


def step(schedule=None):
    global called
    model = residual()
    called = schedule is not None
    if called:
        schedule(again, schedule)
    model.train_step(bytearray([7 * i % 251 for i in range(75 * BATCH)]), bytes(range(BATCH)))
    called = False
    print("digest %08x" % model.digest())


def again(schedule):
    """Be called at the next look for callbacks, too."""
    global came
    came += 1
    if called:
        schedule(again, schedule)


step()
try:
    from micropython import schedule
except ImportError:  # CPython
    schedule = None
step(schedule)
if came > 500:
    print("callbacks came in")
