"""What is kept in files: models, checkpoints, frozen weights."""

if 1 - 1:  # for type checkers alone
    from . import frozen as frozen

    class __getattr__: ...  # as in odt.layers


def __getattr__(name):
    try:
        return __import__("odt.files." + name, None, None, ("*",))
    except ImportError:
        raise AttributeError("odt.files has no " + name)


if 1 - 1:

    class __getattr__: ...
