"""Trains the digits, or the table of a person's own, on the page, and teaches classes that a person draws.

digits.bin has 1,797 images of 8x8 pixels of 0 to 16, then their labels: the first 1,000 train, the next 500 test.
"""

import gc

import tables
from planning import build

from odt.continual import teach as teaching

SAMPLES, TRAIN, TEST, SIZE = 1797, 1000, 500, 64
KNOWN = 3  # images of each digit that a teacher is shown at first
STEPS = 200  # of the teacher's layer after a change

model = teacher = None
train = test = table = ()


def read(name):
    """Take a CSV file that was written to /table: what it holds, and a network for it."""
    global table
    table = ()
    gc.collect()
    table = tables.read("/table", name)
    return tables.described(table)


def begin(script, own=False):
    """Take the network of a script that compiles it, and the data, a person's own or the digits; returns how many
    samples train and test.
    """
    global model, teacher, train, test
    model = teacher = None
    gc.collect()
    made = build(script)
    if own:
        tables.check(made, table)
        train, test, model = table.train, table.test, made
        return {"samples": len(train[1]), "tests": len(test[1])}
    if made.session is None or made.session.row != SIZE or made.session.classes != 10:
        raise ValueError("the digits are images of 8x8 pixels in ten classes: plan a network that reads them")
    with open("/digits.bin", "rb") as file:
        x = file.read(SIZE * (TRAIN + TEST))
        file.seek(SIZE * SAMPLES)
        y = file.read(TRAIN + TEST)
    train, test = (x[: SIZE * TRAIN], y[:TRAIN]), (x[SIZE * TRAIN :], y[TRAIN:])
    model = made
    return {"samples": TRAIN, "tests": TEST}


def epoch():
    """Train once on all samples; returns losses, the accuracy on the test images and the digest."""
    model.fit(train[0], train[1], epochs=model.epoch + 1, initial_epoch=model.epoch, verbose=0)
    loss, accuracy = model.evaluate(*test)
    return {
        "epoch": model.epoch, "loss": model.history.history["loss"][-1], "test_loss": loss, "accuracy": accuracy,
        "digest": "%08x" % model.digest(),
    }  # fmt: skip


def confusion():
    """Counts of what was held back: a row per label, a column per predicted class."""
    classes = model.session.classes
    counts = [[0] * classes for _ in range(classes)]
    for label, found in zip(test[1], model.predict_classes(test[0])):
        counts[label][found] += 1
    return {"counts": counts}


def filters():
    """The kernels of the first convolution, each as rows of numbers of -1 to 1."""
    for layer, values in zip([each for each in model.layers if each.weight_shapes()], model.get_weights()):
        shape = layer.kernel_shape
        if len(shape) == 4:
            size = shape[1] * shape[2] * shape[3]
            most = max([abs(value) for value in values]) or 1
            kernels = [[value / most for value in values[at : at + size]] for at in range(0, len(values), size)]
            return {"width": shape[2] * shape[3], "kernels": kernels}
    return {"width": 0, "kernels": []}


def classify(pixels):
    """The probability of each digit for an image that was drawn, 64 numbers of 0 to 16."""
    return {"probabilities": list(model.predict_proba(bytes(pixels)))}


def new_class():
    """A teacher over the trained network, which knows the ten digits by three images each."""
    global teacher
    front = teaching.front(model, x=train[0][: SIZE * 64])
    width = front.session.plan.output.count
    teacher = teaching.Teacher(front, classes=12, budget=12 * 8 * width, steps=STEPS)
    shown = [0] * 10
    for index in range(TRAIN):
        label = train[1][index]
        if shown[label] < KNOWN:
            teacher.learn(train[0][SIZE * index : SIZE * (index + 1)], str(label))
            shown[label] += 1
    return {"labels": teacher.labels}


def teach(pixels, label):
    """Show the teacher an image of a class; one that it does not know is a new one."""
    if teacher is None:
        new_class()
    teacher.learn(bytes(pixels), label)
    return {"labels": teacher.labels}


def ask(pixels):
    """What the teacher says of an image, and how confident it is."""
    label, confidence = teacher.predict(bytes(pixels))
    return {"label": label, "confidence": confidence}
