"""Names of a package that load their module when they are used: a board's RAM is small."""


def getter(package, homes, found):
    """The ``__getattr__`` of a package. ``homes``: {name: the module in it that has the name, or None for a module}; ``found``: its globals()."""

    def get(name):
        if name not in homes:
            raise AttributeError("module %r has no attribute %r" % (package, name))
        home = homes[name]
        module = __import__(package + "." + (home or name), None, None, ("*",))
        found[name] = value = getattr(module, name) if home else module
        return value

    return get


def spread(rows):
    """{name: home} of rows (home, its names)."""
    return {name: home for home, row in rows for name in row.split()}
