"""Trains the digits, or samples of another kind, on the page, and teaches classes that a person draws.

digits.bin has 1,797 images of 8x8 pixels of 0 to 16, then their labels: the first 1,000 train, the next 500 test.
"""

import gc

import arrays
import sensed
import tables
from planning import build

from odt.continual import teach as teaching

SAMPLES, TRAIN, TEST, SIZE = 1797, 1000, 500, 64
KNOWN = 32  # images of each digit that a teacher keeps, as examples/personalise has them: with 3 it forgets much
STEPS = 400  # of the teacher's layer after a change

SOURCES = {
    "csv": lambda name: tables.read("/table", name),
    "npz": arrays.read,
    "gesture": sensed.gestures,
    "keyword": sensed.spoken,
    "motion": lambda: sensed.table("motion", own["motion"]),
    "sound": lambda: sensed.table("sound", own["sound"]),
}

model = teacher = shown = table = listener = None
train = test = ()
drawings = []  # (pixels, label) of what was taught
own = {kind: {} for kind in sensed.KINDS}  # samples of each class that was recorded


def opened(kind, **options):
    """Take the samples of a kind: "csv", "npz", "gesture", "keyword", or "motion" and "sound" of what was recorded.

    Returns what they are, and a network for them.
    """
    global table
    table = None
    gc.collect()
    table = SOURCES[kind](**options)
    return table.described()


def recorded(kind, name):
    """Cut the recording /recorded of a class; returns how many samples each class has."""
    found = sensed.cut(kind, read("/recorded"))
    own[kind].setdefault(name, []).extend(found)
    return {"found": len(found), "classes": [[each, len(rows)] for each, rows in own[kind].items()]}


def forgotten(kind, name):
    """Drop a class."""
    own[kind].pop(name, None)
    return {"classes": [[each, len(rows)] for each, rows in own[kind].items()]}


def listen(kind):
    """Begin to recognise what comes by heard()."""
    global listener
    listener = sensed.KINDS[kind]()
    return {}


def heard():
    """What the network says of each sample that ends in /heard: [class, probability]."""
    found = []
    for x in listener.cut(read("/heard")):
        shares = list(model.predict_proba(table.statistics.apply(x) if table.statistics else x))
        best = shares.index(max(shares))
        found.append([table.names[best], shares[best]])
    return {"found": found}


def read(path):
    with open(path, "rb") as file:
        return file.read()


def begin(script, digits=True):
    """Take the network of a script that compiles it, and the data, the digits or those of opened(); returns how many
    samples train and test.
    """
    global model, teacher, shown, train, test
    model = teacher = shown = None
    gc.collect()
    made = build(script)
    if not digits:
        if not table:
            raise ValueError("there are no samples yet: open a file, or record some")
        table.check(made)
        train, test, model = table.train, table.test, made
        return {"samples": len(train[1]), "tests": len(test[1]), "epochs": table.epochs}
    if made.session is None or made.session.row != SIZE or made.session.classes != 10:
        raise ValueError("the digits are images of 8x8 pixels in ten classes: plan a network that reads them")
    data = read("/digits.bin")
    x, y = data[: SIZE * (TRAIN + TEST)], data[SIZE * SAMPLES :][: TRAIN + TEST]
    train, test = (x[: SIZE * TRAIN], y[:TRAIN]), (x[SIZE * TRAIN :], y[TRAIN:])
    model = made
    return {"samples": TRAIN, "tests": TEST, "epochs": 8}


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


def weights():
    """The first layer's kernels, each as rows of numbers of -1 to 1: of a convolution one each, else one for all."""
    at, parameters = 0, model.get_weights()
    for layer in model.layers:
        shape, values = layer.kernel_shape, parameters[at : at + 1]
        at += len(layer.weight_shapes())
        if shape:
            values = list(values[0])
            most = max([abs(value) for value in values]) or 1
            width, size = shape[-1], len(values)
            if len(shape) == 4:
                width, size = shape[2] * shape[3], shape[1] * shape[2] * shape[3]
            kernels = [[value / most for value in values[k : k + size]] for k in range(0, len(values), size)]
            return {"layer": layer.name, "width": width, "kernels": kernels}
    return {"layer": "", "width": 0, "kernels": []}


def activations(pixels=None):
    """What the first layer with weights makes of an image that was drawn, or of the first sample that was held back:
    maps of numbers of 0 to 1.
    """
    global shown
    node = [each for each in model.nodes if each.layer.kernel_shape][0]
    if shown is None:
        shown = teaching.front(model, node.layer.name, x=train[0][: 16 * model.session.row])
    x = test[0][: model.session.row] if pixels is None else bytes(pixels)
    values = [max(0.0, value) for value in shown.predict(x)]
    most, channels = max(values) or 1, node.shape[-1]
    if len(node.shape) == 1:
        return {"width": channels, "maps": [[value / most for value in values]]}
    maps = [[value / most for value in values[channel::channels]] for channel in range(channels)]
    return {"width": node.shape[-2], "maps": maps}


def classify(pixels):
    """The probability of each digit for an image that was drawn, 64 numbers of 0 to 16."""
    return {"probabilities": list(model.predict_proba(bytes(pixels)))}


def new_class():
    """A teacher over the trained network, which knows the ten digits by KNOWN images each."""
    global teacher
    drawings.clear()
    front = teaching.front(model, x=train[0][: SIZE * 64])
    width = front.session.plan.output.count
    teacher = teaching.Teacher(front, classes=12, budget=12 * KNOWN * width, steps=STEPS)
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
    drawings.append((bytes(pixels), label))
    return {"labels": teacher.labels}


def retained():
    """Counts of the teacher's answers: a row per class, a column per answer. Of the digits to the test images, of a new
    class to the drawings that it was taught by. ``right``: test images that are answered correctly.
    """
    names = [str(digit) for digit in range(10)]
    names += [label for label in teacher.labels if label not in names]
    asked = [(test[0][SIZE * i : SIZE * (i + 1)], str(test[1][i])) for i in range(TEST)]
    counts = [[0] * len(names) for _ in names]
    for x, label in asked + [each for each in drawings if each[1] in names[10:]]:
        counts[names.index(label)][names.index(teacher.predict(x)[0])] += 1
    right = sum([counts[digit][digit] for digit in range(10)])
    return {"names": names, "counts": counts, "right": right, "tests": TEST}


def ask(pixels):
    """What the teacher says of an image, and how confident it is."""
    label, confidence = teacher.predict(bytes(pixels))
    return {"label": label, "confidence": confidence}
