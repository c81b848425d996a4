"""Frozen weights are read where they lie. Runs on a machine; on a PC it makes frozen_weights.py, which images freeze.

    build/venv/bin/python tests_device/scripts/in_place.py

ODT_ARGS: ``rom``, (address, size) of a ROMFS; ``file`` and ``module``, the names of weights that it holds.
"""

import gc

import odt

ROM, FILE, MODULE = [globals().get("ODT_ARGS", {}).get(name) for name in ("rom", "file", "module")]


def network():
    return odt.Sequential([
        odt.Input((32,), dtype="int8", scale=1 / 32), odt.Dense(24, activation="relu", trainable=False), odt.Dense(3),
    ])  # fmt: skip


def four(data):
    """Bytes that hold the data four times,
    so that one of them lies at a multiple of 4 wherever a linker places them.
    """
    return b"-".join([data] * 4)


def aligned(data):
    """That one, in place."""
    size = (len(data) - 3) // 4
    at = [at for at in range(0, len(data), size + 1) if (addressof(data) + at) % 4 == 0][0]
    return memoryview(data)[at : at + size]


def trained(data):
    """(bytes of heap that a model takes, where it reads the weights, its digest); ``data()`` gives them."""
    gc.collect()
    before = gc.mem_alloc()
    model = network()
    model.compile(odt.SGD(0.05), batch_size=2, seed=1, frozen=data())
    model.train_step(bytes(range(64)), bytes([0, 2]))
    gc.collect()
    return gc.mem_alloc() - before, addressof(model.session.frozen), "%08x" % model.digest()


def show(name, data):
    """Compare with a copy in RAM: it takes the weights' bytes more, and they lie elsewhere."""
    trained(lambda: data)  # imports what it needs
    heap, address, digest = trained(lambda: data)
    copied, other, same = trained(lambda: bytearray(data))
    print(name, len(data), copied - heap, address == addressof(data), other != address, digest, same)


if hasattr(gc, "mem_alloc"):
    import frozen_weights
    from uctypes import addressof, bytearray_at

    show("frozen", aligned(frozen_weights.FOUR))
    if ROM:
        import sys

        import vfs

        vfs.mount(vfs.VfsRom(bytearray_at(*ROM)), "/flash")
        sys.path.append("/flash")
        for name, data in (
            ("file", memoryview(open("/flash/" + FILE, "rb"))),
            ("module", aligned(__import__(MODULE).FOUR)),
        ):
            show(name, data)
            print(0 <= addressof(data) - ROM[0] < ROM[1])
elif __name__ == "__main__":
    from pathlib import Path

    model = network()
    model.compile(odt.SGD(0.05), batch_size=2, seed=1)
    text = "# For tests_device/checks/files/test_in_place.py. Made by in_place.py.\n\nFOUR = %r\n" % four(
        odt.files.frozen.pack(model)
    )
    Path(__file__).with_name("frozen_weights.py").write_text(text)
