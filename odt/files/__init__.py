"""What is kept in files: models, checkpoints, frozen weights."""


def __getattr__(name):
    try:
        return __import__("odt.files." + name, None, None, ("*",))
    except ImportError:
        raise AttributeError("odt.files has no " + name)
