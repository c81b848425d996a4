"""Frozen weights are read where they lie. Runs on a machine; on a PC it makes frozen_weights.py, which images freeze.

    build/venv/bin/python tests_device/in_place.py

ODT_ARGS: ``rom``, (address, size) of a ROMFS that holds weights.bin and weights.mpy.
"""

import gc

import odt

ROM = globals().get("ODT_ARGS", {}).get("rom")


def network():
    return odt.Sequential([
        odt.Input((64,), dtype="int8", scale=1 / 32), odt.Dense(48, activation="relu", trainable=False), odt.Dense(3),
    ])  # fmt: skip


def trained(data):
    """(bytes of heap that a model takes, where it reads the weights, its digest); ``data()`` gives them."""
    gc.collect()
    before = gc.mem_alloc()
    model = network()
    model.compile(odt.SGD(0.05), batch_size=2, seed=1, frozen=data())
    model.train_step(bytes(range(128)), bytes([0, 2]))
    gc.collect()
    return gc.mem_alloc() - before, addressof(model._frozen), "%08x" % model.digest()


def show(name, data):
    """Compare with a copy in RAM: it takes the weights' bytes more, and they lie elsewhere."""
    trained(lambda: data)  # imports what it needs
    heap, address, digest = trained(lambda: data)
    copied, other, same = trained(lambda: bytearray(data))
    print(name, len(data), copied - heap, address == addressof(data), other != address, digest, same)


if hasattr(gc, "mem_alloc"):
    from uctypes import addressof, bytearray_at

    import frozen_weights

    show("frozen", frozen_weights.DATA)
    if ROM:
        import sys

        import vfs

        vfs.mount(vfs.VfsRom(bytearray_at(*ROM)), "/flash")
        sys.path.append("/flash")
        import weights

        for name, data in (("file", memoryview(open("/flash/weights.bin", "rb"))), ("module", weights.DATA)):
            show(name, data)
            print(0 <= addressof(data) - ROM[0] < ROM[1])
elif __name__ == "__main__":
    from pathlib import Path

    model = network()
    model.compile(odt.SGD(0.05), batch_size=2, seed=1)
    odt.frozen.write_module(Path(__file__).with_name("frozen_weights.py"), model)
