"""Names of a package that load their module when they are used: a board's RAM is small."""


def install(package, homes, found):
    """Give a package its ``__getattr__``, which is returned.

    Type checkers do not see it: the package's names stand there for them.

    ``homes``: {name: the module in the package that has the name, or None for a module}; ``found``: its globals().
    """

    def get(name):
        if name not in homes:
            raise AttributeError("module %r has no attribute %r" % (package, name))
        home = homes[name]
        module = __import__(package + "." + (home or name), None, None, ("*",))
        found[name] = value = getattr(module, name) if home else module
        return value

    found["__getattr__"] = get
    return get


def spread(rows):
    """{name: home} of rows (home, its names)."""
    return {name: home for home, row in rows for name in row.split()}
