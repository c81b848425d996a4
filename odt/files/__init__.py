"""What is kept in files: models, checkpoints, frozen weights."""


def __getattr__(name):
    if name not in ("frozen", "slots"):
        raise AttributeError("module 'odt.files' has no attribute %r" % name)
    return __import__("odt.files." + name, None, None, ("*",))
