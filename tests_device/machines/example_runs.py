"""The examples that machines run, and what they run with."""

from checkout import ROOT

EXAMPLES = ROOT / "examples"

# Script, data, what an emulator is asked for.
RUNS = {
    "vibration": ("train.py", ("bearing.bin",), {"parts": (80, 16, 16, 16, 16), "epochs": 3}),
    "series": ("train.py", ("series.bin",), {"train": 320, "test": 64, "epochs": 1}),
    "personalise": ("adapt.py", ("weights.bin", "memory.bin", "person.bin"), {"images": (64, 200), "epochs": 1}),
    "keyword": (
        "teach.py",
        ("words.py", "front.bin", "known.bin", "teach.bin", "test.bin", "stream.bin"),
        {"known": 9, "taught": 4, "test": 6, "steps": 60, "stream": 1},
    ),
    "command": (
        "teach.py",
        ("tokens.py", "learn.odt", "pieces.bin", "kept.bin", "new.bin", "test.bin"),
        {"kept": 24, "tests": 8, "epochs": 1},
    ),
    "gesture": (
        "teach.py",
        ("motions.py", "front.bin", "known.bin", "teach.bin", "day.bin"),
        {"taught": 1, "day": 3},
    ),
    "room": ("learn.py", ("office.py", "room.bin"), {"minutes": (420, 300, 120)}),
    "backbones": ("start.py", ("image.odt", "digits.bin"), {"teach": 32, "test": 16, "epochs": 1}),
    "room, watch": ("watch.py", ("office.py", "room.bin"), {"minutes": (420,)}),
    "vibration, watch": (
        "watch.py",
        ("watching.py", "bearing.bin", "change.bin"),
        {"parts": (80, 24, 24, 0, 0), "changed": (104, 128)},
    ),
    "personalise, teach": ("teach.py", ("weights.bin", "memory.bin", "person.bin"), {"images": (64, 200), "steps": 60}),
    "personalise, life": (
        "life.py",
        ("person.bin", "warm.odt", "learn.odt"),
        {"images": (0, 240), "seen": 40, "passes": 2, "epochs": 2},
    ),
}
OTHERS = ("digits", "xor")  # which test_training.py and test_install.py run
for script in sorted(EXAMPLES.glob("*/train.py")):
    name = script.parent.name
    if name not in RUNS and name not in OTHERS:
        RUNS[name] = "train.py", tuple(sorted([data.name for data in script.parent.glob("*.bin")])), {}


# A Pico has the data in its flash, from where mpremote mount has changed away.
FLASH = "import os\nos.chdir('/')\n"


def images(folder, counts):
    """Files with fewer images, and their labels."""
    for name, count in zip(("memory.bin", "person.bin"), counts):
        if not (folder / name).exists():
            continue
        data = (folder / name).read_bytes()
        labels = data[64 * (len(data) // 65) :]
        (folder / name).write_bytes(data[: 64 * count] + labels[:count])
