"""What CPython can afford for models: one thread at a time uses a model, and an attribute that nothing reads is refused.

On a board fit alone refuses other threads (run/session.py), and a name that is misspelled is a new attribute.
"""

import functools
import sys
import threading

_SHORT = (
    "calibrate", "compile", "digest", "evaluate", "export", "get_weights", "load", "load_weights", "predict", "save",
    "set_weights", "train_step",
)  # fmt: skip


class Owner:
    """Of one model: the lock that short calls hold, and the thread whose fit is underway."""

    def __init__(self):
        self.lock = threading.RLock()
        self.thread = None
        self.name = None

    def check(self, name):
        if self.thread not in (None, threading.get_ident()):
            raise RuntimeError(
                "%s: %s of this model is underway in another thread: call it when that has ended, "
                "in a callback of that fit, or give this thread a model of its own" % (name, self.name)
            )


def guard(cls):
    """Give Network, and the classes that follow it, what this file says."""
    _wrap(cls)
    cls.__setattr__ = _setattr
    cls.__init_subclass__ = classmethod(lambda sub: _wrap(sub) if _ours(sub) else None)


def _wrap(cls):
    for name in _SHORT:
        if name in vars(cls):
            setattr(cls, name, _short(name, vars(cls)[name]))
    for name, kind in (("fit", _fit), ("fit_async", _fit_async)):
        if name in vars(cls):
            setattr(cls, name, kind(name, vars(cls)[name]))


def _owner(model):
    return vars(model).get("_owner") or vars(model).setdefault("_owner", Owner())  # setdefault is one step


def _short(name, method):
    """Waits for a short call of another thread, refuses where a fit of another is underway."""

    @functools.wraps(method)
    def call(self, *args, **options):
        owner = _owner(self)
        with owner.lock:
            if owner.thread is not None:
                owner.check(name)
            return method(self, *args, **options)

    return call


def _fit(name, method):
    """Refuses where a fit of another thread is underway."""

    @functools.wraps(method)
    def call(self, *args, **options):
        nested = _begun(self)
        try:
            _begin(self, name)
            return method(self, *args, **options)
        finally:
            _end(self, nested)

    return call


def _fit_async(name, method):
    begin = _fit(name, method)  # its arguments may plan the model anew

    @functools.wraps(method)
    def call(self, *args, **options):
        return _awaited(self, name, begin(self, *args, **options))

    return call


async def _awaited(model, name, run):
    nested = _begun(model)
    try:
        _begin(model, name)
        return await run
    finally:
        _end(model, nested)
        run.close()


def _begun(model):
    """Whether a fit of this thread is underway: a callback calls. Else what an interrupt may have left does not count."""
    return _owner(model).thread == threading.get_ident() and model.session is not None and bool(model.session.fit)


def _begin(model, name):
    owner = _owner(model)
    with owner.lock:
        owner.check(name)
        owner.name, owner.thread = name, threading.get_ident()


def _end(model, nested):
    owner = _owner(model)
    if not nested and owner.thread == threading.get_ident():
        owner.thread = None


def _ours(cls):
    return cls.__module__.split(".")[0] == "odt"


def _setattr(self, name, value):
    """What a model has, what a class of one's own has, and names that begin with _, may be set."""
    known = hasattr(type(self), name) or name in vars(self) or name[0] == "_" or not _ours(type(self))
    if not known and not _ours_calls():
        from .idioms import setting

        raise AttributeError(setting(self, name))
    try:
        object.__setattr__(self, name, value)
    except AttributeError:  # a property
        from .idioms import setting

        raise AttributeError(setting(self, name)) from None


def _ours_calls():
    """Whether the line that sets it is odt's own."""
    return sys._getframe(2).f_globals.get("__name__", "").split(".")[0] == "odt"
