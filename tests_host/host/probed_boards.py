"""What a board answers when it is asked what it is."""


def board(arch=4, version=6, sub=3, **changes):
    found = {
        "name": "micropython", "version": (1, 25, 0), "machine": "Board",
        "mpy": arch << 10 | sub << 8 | version, "free": 240000, "libs": ["/lib"], "disk": 800000, "block": 4096,
        "frozen": False, "odt": "", "without": [], "deflate": True,
    }  # fmt: skip
    return dict(found, **changes)
