"""The capabilities of odt: folders of odt/ that a board may be without. Builds, packages and commands read the rows.

python3 odt/host/boards/capabilities.py "sensors online"      prints those that a firmware with these is without

Also "all" and "none". "all" is what firmware can use: without IN_FILES. This file imports nothing of odt: manifest.py
and the builds run it alone.
"""

import sys
from collections import namedtuple

# about: what it brings. needs: capabilities that it imports. kernels: its native modules on stock firmware.
# blocks: its budget of a file system with blocks of 4096 bytes, kernels of one architecture included.
Capability = namedtuple("Capability", "about needs kernels blocks", defaults=((), (), 0))

CAPABILITIES = {
    "adapt": Capability(
        "which layers and channels train; training without a backward pass", needs=("kernels",), blocks=25
    ),
    "attention": Capability(
        "MultiHeadAttention, PositionEmbedding", kernels=("_odt_attention", "_odt_f32_attention"), blocks=17
    ),
    "continual": Capability(
        "replay, teaching, few labels, another place", needs=("online",), kernels=("_odt_own",), blocks=26
    ),
    "data": Capability("samples from CSV, .npy and raw files", blocks=17),
    "embedding": Capability("tokens in: Embedding", kernels=("_odt_embedding", "_odt_f32_embedding"), blocks=17),
    "fast": Capability(
        "an RP2040 with stock firmware: kernels compiled for speed, where the heap has room for them",
        kernels=("_odt_fast", "_odt_fast_conv"),
        blocks=16,
    ),
    "fleet": Capability("a node of a fleet of boards that learns together", blocks=18),
    "generative": Capability("variational autoencoders", needs=("kernels",), blocks=13),
    "inspect": Capability("tensors, ranges and time by layer", blocks=19),
    "kernels": Capability(
        "kernels of rarer layers: grouped, transposed, dynamic, upsampling, Multiply, ELU and GELU, other frameworks' "
        "steps; frozen weights of 4 bits; float32 beyond dense layers and convolutions",
        kernels=("_odt_rare", "_odt_f32_more", "_odt_import", "_odt_curve", "_odt_packed"),
        blocks=17,
    ),
    "noise": Capability("training under noise of weights, for analog arrays", needs=("kernels",), blocks=14),
    "online": Capability("learning from streams, drift", kernels=("_odt_online", "_odt_knn"), blocks=22),
    "recurrent": Capability("GRU, LSTM, SimpleRNN", kernels=("_odt_recurrent", "_odt_f32_recurrent"), blocks=22),
    "sensors": Capability(
        "features, streams, recordings, rules",
        needs=("data",),
        kernels=("_odt_features", "_odt_frontend", "_odt_motion", "_odt_rocket"),
        blocks=48,
    ),
    "slots": Capability("checkpoints in raw flash, without a file system", blocks=12),
    "reference": Capability("the executor in Python, for boards without kernels", blocks=84),
}
IN_FILES = ("fast", "reference")  # which a firmware's kernels replace
BASE_BLOCKS = 170  # the budget of the base, kernels of one architecture included
RESERVE = 0.1  # of a budget, which stays free


def split(text):
    """The names in a text, with blanks or commas between, in the table's order; ValueError for one that is none."""
    words = text.replace(",", " ").split()
    if words == ["all"]:
        words = [name for name in CAPABILITIES if name not in IN_FILES]
    elif words == ["none"]:
        words = []
    for word in words:
        if word not in CAPABILITIES:
            raise ValueError("there is no capability %r; there are %s" % (word, ", ".join(CAPABILITIES)))
    return [name for name in CAPABILITIES if name in words]


def closed(names):
    """The names, and what they need."""
    found = set(names)
    while True:
        more = {need for name in found for need in CAPABILITIES[name].needs}
        if more <= found:
            return [name for name in CAPABILITIES if name in found]
        found |= more


def left_out(text):
    """The names of the capabilities that a firmware with those in the text, and what they need, is without."""
    inside = closed(split(text))
    return [name for name in CAPABILITIES if name not in inside]


if __name__ == "__main__":
    try:
        sys.stdout.write(" ".join(left_out(" ".join(sys.argv[1:]) or "none")) + "\n")
    except ValueError as error:
        sys.exit("odt: CAPABILITIES: %s" % error)
