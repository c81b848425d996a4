"""A network trained in one thread and in two, while callbacks and another thread run others. Needs _thread."""

import _thread
import time

import odt

x = bytes([(7 * i + i // 5 + i // 97) % 17 for i in range(144 * 40)])
y = bytes([i % 10 for i in range(40)])


def network(seed=1):
    model = odt.Sequential([
        odt.Input((12, 12, 1), dtype="uint8", scale=1 / 16), odt.Conv2D(24, 3, strides=2, padding="same",
        activation="relu"),
        odt.DepthwiseConv2D(3, padding="same", activation="relu"), odt.Conv2D(66, 1, activation="relu"),
        odt.DepthwiseConv2D(3, strides=2), odt.Conv2D(9, 2, activation="relu"), odt.Flatten(), odt.Dense(10),
    ])  # fmt: skip
    model.compile(odt.Adam(0.004), batch_size=8, seed=seed)
    return model


def trained(seed=1, epochs=4):
    model = network(seed)
    model.fit(x, y, epochs=epochs, verbose=0)
    return model.digest()


def show(name, digest):
    print(name, odt.get_num_threads(), "digest %08x" % digest)


def beside(function):
    """What it returns, called in a thread of its own while this one trains; and this one's digest."""
    found = []
    _thread.start_new_thread(lambda: found.append(function()), ())
    digest = trained()
    while not found:
        time.sleep(0.001)
    return found[0], digest


def scheduling(small, expected, predicted):
    """Has the main thread predict, in the midst of its kernels too, until it has been asked often."""
    import micropython

    def predict(unused):
        predicted.append(list(small.predict(x[:144])) == expected)

    while len(predicted) < 20:
        try:
            micropython.schedule(predict, None)
        except RuntimeError:  # enough are scheduled
            pass
        time.sleep(0.0005)


def main():
    show("alone", trained())
    odt.set_num_threads(2)
    show("two", trained())
    other, own = beside(lambda: trained(2))
    show("own", own)
    show("other", other)
    odt.set_num_threads(1)
    show("again", trained())
    show("other", trained(2))


def with_callbacks():
    odt.set_num_threads(2)
    small, predicted = network(3), []
    _thread.start_new_thread(scheduling, (small, list(small.predict(x[:144])), predicted))
    while len(predicted) < 20:
        show("called", trained())
    print("predictions", set(predicted))


def after_a_reset():
    """What a soft reset does: the module _odt is imported anew."""
    odt.set_num_threads(2)
    import _odt  # noqa: F401

    show("reset", trained())
    time.sleep(0.1)  # here the old worker is alive, and ends
    odt.set_num_threads(2)
    show("and two", trained())


def on_a_pico():
    """odt has the second core, or a thread of the user's has it."""
    odt.set_num_threads(2)
    show("two", trained())
    try:
        _thread.start_new_thread(trained, (2,))
    except OSError as error:
        print("refused:", error)
    with open("/kept", "w") as file:  # stops the other core while it writes flash
        file.write("kept" * 3000)
    show("written", trained())
    odt.set_num_threads(1)
    found = []
    _thread.start_new_thread(lambda: found.append(sum(i % 7 for i in range(25000))), ())
    try:
        odt.set_num_threads(2)
    except (OSError, RuntimeError) as error:
        print("refused:", error)
    show("one", trained())
    while not found:
        time.sleep(0.001)
    print("sum", found[0])
    time.sleep(0.01)  # the thread ends
    odt.set_num_threads(2)
    show("back", trained())
    with open("/kept") as file:
        print(file.read() == "kept" * 3000)


def interrupted():
    odt.set_num_threads(2)
    model, times = network(), 0
    while times < 10:
        try:
            print("fit")
            model.fit(x, y, epochs=1000, verbose=0)
        except KeyboardInterrupt:
            times += 1
    digest = model.digest()
    show("after", trained())
    print("interrupted", model.digest() == digest)


globals()[ODT_ARGS["what"] if "ODT_ARGS" in globals() else "main"]()  # noqa: F821
