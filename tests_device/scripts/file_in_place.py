"""Opens a model file of a ROMFS, or its bytes, and says what of the heap that takes. Runs on a machine.

ODT_ARGS: names.
"""

import gc

import odt

for name in globals()["ODT_ARGS"]["names"]:
    odt.load_model("/rom/" + name)  # what is imported stays
    gc.collect()
    before = gc.mem_free()
    model = odt.load_model("/rom/" + name)
    gc.collect()
    print("file", before - gc.mem_free(), len(model.session.plan.code), "%08x" % model.digest())
    model.train_step(bytes(64 * model.batch_size), bytes(model.batch_size))
    print("trained %08x" % model.digest())
    model = None
