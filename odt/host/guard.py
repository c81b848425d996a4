"""What CPython can afford for models: one thread at a time uses a model, and an attribute that nothing reads is
refused.

On a board fit alone refuses other threads (run/session.py), and a name that is misspelled is a new attribute.
"""

import functools
import importlib.machinery
import inspect
import sys
import textwrap
import threading
import warnings

from ..base import lazy
from . import moved

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


class Missing(AttributeError):
    """Says what to write when it is printed: hasattr() asks often, and prints nothing."""

    def __init__(self, place, name, owner):
        super().__init__(name)
        self.place, self.missing, self.owner = place, name, owner

    def __str__(self):
        from .idioms import missing

        return missing(self.place, self.missing, dir(self.owner))


def install(homes, keras):
    """From now on odt's modules are given, as they are imported, what this file says; odt the names of its texts."""
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())
    package = sys.modules["odt"]
    package.HOMES, package.KERAS = lazy.spread(homes), dict(pair.split("=") for pair in keras.split())
    package.__dir__ = lambda: sorted({*vars(package), *package.HOMES, *package.KERAS})
    package.__getattr__ = _module_getattr(package, "odt", package.__getattr__)
    moved.install()
    package.__doc__ = package.__doc__.partition(_LISTED)[0] + _LISTED + _names(package.HOMES)


_LISTED = "\nWhat it has, of which help() says more, as help(odt.Dense):\n\n"
_KINDS = {
    "layers": ("layers", "generative", "recurrent", "attention", "embedding"), "losses": ("losses",),
    "optimizers and learning rates": ("optimizers", "adapt"),
    "models": ("model", "files"),
    "cores": ("run",), "modules": ("modules", "capabilities"),
}  # fmt: skip
_CALLS = (
    "compile fit fit_async train_step evaluate predict predict_proba predict_classes calibrate summary save load "
    "export load_weights get_weights set_weights get_layer count_params trainable history digest draw disassemble"
)


def _names(homes):
    """For help(odt): the names by kind, and what a model does."""
    lines = []
    for kind, places in _KINDS.items():
        names = sorted(name for name, place in homes.items() if place.partition(".")[0] in places)
        lines.append(textwrap.fill("%s: %s" % (kind, ", ".join(names)), 100, subsequent_indent="    "))
    lines.append(textwrap.fill("a model's calls: " + ", ".join(_CALLS.split()), 100, subsequent_indent="    "))
    return "\n".join(lines) + "\n"


_MODULES = (
    "callbacks", "continual.replay", "continual.teach", "data.readers", "layers", "layers.activations", "losses",
    "metrics", "model", "optimizers", "plan.graph", "run.fit", "run.hints", "run.network", "sensors.record",
    "sensors.stream.polled", "sensors.stream.sources",
)  # fmt: skip
_FUNCTIONS = ("Input", "AdamW", "RMSprop")


class _Finder:
    """Finds these modules as Python does, and completes them."""

    def find_spec(self, name, path=None, target=None):
        package, _, module = name.partition(".")
        if package != "odt" or module not in _MODULES:
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec is not None and type(spec.loader) is importlib.machinery.SourceFileLoader:
            spec.loader = _Loader(spec.loader.name, spec.loader.path)
        return spec


class _Loader(importlib.machinery.SourceFileLoader):
    def exec_module(self, module):
        super().exec_module(module)
        _complete(module, module.__name__.partition(".")[2])


def _complete(module, place):
    if place == "run.network":
        cls = module.Network
        _wrap(cls)
        cls.__setattr__ = _setattr
        cls.__getattr__ = _getattr("model", cls.__getattr__)
        cls.__repr__ = _repr
        cls.__dir__ = _dir
        cls.__init_subclass__ = classmethod(lambda sub: _wrap(sub) if _ours(sub) else None)
        for name in ("evaluate", "fit", "predict", "load_weights", "save", "summary"):
            setattr(cls, name, _keywords(name, vars(cls)[name]))
        cls._owner = None
        cls.predict = _of_samples(cls.predict)
    elif place == "model":
        module.Model.compile = _keywords("compile", module.Model.compile, _compile_hint)
        module.Model.__init__ = _model(module.Model.__init__)
    elif place == "plan.graph":
        for name, instead in (
            ("add", "Add"),
            ("mul", "Multiply"),
            ("sub", "Add"),
            ("truediv", "Multiply"),
            ("matmul", "Dense"),
        ):
            setattr(module.Node, "__%s__" % name, _operator(instead))
            setattr(module.Node, "__r%s__" % name, _operator(instead))
        module.Node.__repr__ = lambda node: "<output of %r, shape %s>" % (node.layer, node.shape)
    elif place == "run.hints":
        from .advice import more

        module.found = more(module.found)
    elif place == "run.fit":
        module.History.__repr__ = _history
    else:
        module.__getattr__ = _module_getattr(module, place, vars(module).get("__getattr__"))
        if place == "layers":
            cls = module.Layer
            cls.__getattr__ = _getattr("layer")
            cls.__call__ = _call(cls.__call__)
            module.InputLayer.__init__ = _input_layer(module.InputLayer.__init__)
            for each in [each for each in vars(module).values() if isinstance(each, type) and issubclass(each, cls)]:
                _constructor(each)
            cls.__init_subclass__ = classmethod(lambda sub: _constructor(sub))
        for name, each in list(vars(module).items()):
            if place != "layers" and isinstance(each, type) and each.__module__ == module.__name__ and name[0] != "_":
                _constructor(each)
            elif name in _FUNCTIONS:
                setattr(module, name, _keywords(name, each))
    if place == "layers":
        module.Input = _channels_last(module.Input)
    if place == "optimizers":
        module.OPTIMIZERS.update(adamw=module.AdamW, rmsprop=module.RMSprop)


def _channels_last(function):
    """Input, which warns where a shape looks as PyTorch has it: it is taken, and means other axes."""

    @functools.wraps(function)
    def call(*args, **options):
        made = function(*args, **options)
        axes = made.shape
        image = len(axes) == 3 and axes[0] in (1, 3, 4) and axes[1] == axes[2] > 7
        series = len(axes) == 2 and axes[0] in (1, 2, 3, 6, 9) and axes[1] > max(31, 10 * axes[0])
        if (image or series) and not _ours_calls():
            turned = axes[1:] + axes[:1]
            warnings.warn(
                "Input(%s): channels are last, so these are %s positions of %d channels. Where %d is the channels: "
                "Input(%s) and x.transpose(%s)"
                % (axes, " x ".join(str(extent) for extent in axes[:-1]), axes[-1], axes[0], turned,
                   "0, 2, 3, 1" if image else "0, 2, 1"),
                stacklevel=2,
            )  # fmt: skip
        return made

    return call


def _input_layer(function):
    @functools.wraps(function)
    def init(self, *args, **options):
        if len(args) + len(options) < 6:  # all that Input() gives
            raise TypeError("InputLayer: write odt.Input(shape), which gives the output that the next layer takes")
        function(self, *args, **options)

    return init


def _constructor(cls):
    if _ours(cls) and "__init__" in vars(cls) and cls.__name__ != "InputLayer":
        cls.__init__ = _keywords(cls.__name__, vars(cls)["__init__"])
    elif cls.__module__ == "odt.losses" and cls.__init__ is object.__init__:
        cls.__init__ = _keywords(cls.__name__, lambda self: None)


def _keywords(name, function, hint=None):
    """The function, that says what to write for a keyword that it does not take."""
    parameters = inspect.signature(function).parameters.values()
    known = [each.name for each in parameters if each.name != "self" and each.kind is not each.VAR_KEYWORD]
    taken = frozenset(known)
    free = any(each.kind is each.VAR_KEYWORD for each in parameters)

    @functools.wraps(function)
    def call(*args, **options):
        if options and not free and not taken.issuperset(options):
            from .idioms import keyword

            called = type(args[0]).__name__ if function.__name__ == "__init__" and args else name
            unknown = [each for each in options if each not in taken][0]
            raise TypeError(keyword(called, unknown, known))
        try:
            return function(*args, **options)
        except (TypeError, ValueError) as error:
            text = hint and hint(error, args, options)
            if not text:
                raise
            raise type(error)("%s: %s" % (error, text)) from None

    return call


def _compile_hint(error, args, options):
    from .idioms import compile_hint

    return compile_hint(str(error))


def _model(function):
    @functools.wraps(function)
    def init(self, *args, **options):
        from .idioms import MODEL

        given = list(args) + list(options.values())
        if (
            len(given) < 2
            and _ours(type(self))
            or any(isinstance(each, (list, tuple, dict)) for each in given)
            or not given
        ):
            raise TypeError(MODEL % ", ".join([type(each).__name__ for each in given] or ["nothing"]))
        function(self, *args, **options)

    return init


def _operator(instead):
    def refuse(self, other):
        raise TypeError("layers' outputs have no operators: odt.%s, as odt.Add()([a, b])" % instead)

    return refuse


def _call(function):
    @functools.wraps(function)
    def call(self, *args, **options):
        if self.family is None and not self.view:
            raise TypeError(
                "layer %r: a custom layer has a kind and a family, which are lowered to instructions: "
                "docs/howto/add_a_layer.md; what Lambda or call() would compute is a layer of odt, or a change of the "
                "samples" % type(self).__name__
            )
        return function(self, *args, **options)

    return call


def _getattr(place, before=None):
    """The class's __getattr__: what ``before`` finds, else an error that says what to write."""

    def find(self, name):
        if before and name[:2] != "__":
            try:
                return before(self, name)
            except AttributeError:
                from ..run.names import OF_LAYERS

                if name in OF_LAYERS:
                    raise
        raise Missing(place, name, self)

    return find


def _module_getattr(module, place, before):
    def find(name):
        if before:
            try:
                return before(name)
            except AttributeError:
                pass
        raise Missing(place, name, module)

    return find


def _repr(model):
    session, kind = model.session, type(model).__name__
    words = ["%d layers" % len(model.layers)] if hasattr(model, "nodes") else []
    if session is not None or words:
        words.append("%d parameters" % model.count_params())
    words.append("not compiled" if session is None else "%s, batch_size %d" % (session.dtype, session.batch_size))
    return "<%s: %s>" % (kind, ", ".join(words))


def _dir(model):
    from ..run.names import FOUND, SAME

    return sorted({*object.__dir__(model), *FOUND, *SAME})


def _history(history):
    epochs = max([len(values) for values in history.history.values()] or [0])
    last = ", ".join("%s %.4g" % (name, values[-1]) for name, values in history.history.items() if len(values))
    return "<History of %d epochs%s>" % (epochs, ": " + last if last else "")


def _wrap(cls):
    for name in _SHORT:
        if name in vars(cls):
            setattr(cls, name, _short(name, vars(cls)[name]))
    for name, kind in (("fit", _fit), ("fit_async", _fit_async)):
        if name in vars(cls):
            setattr(cls, name, kind(name, vars(cls)[name]))


def _owner(model):
    return model._owner or vars(model).setdefault("_owner", Owner())  # setdefault is one step


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


def _of_samples(guarded):
    """predict() as ``guarded`` is, in less time where samples are all that is given: a small network takes two
    microseconds.
    """

    @functools.wraps(guarded)
    def predict(self, *args, **options):
        if len(args) == 1 and not options:
            owner = self._owner or _owner(self)
            with owner.lock:
                session = self.session
                if owner.thread is None and session is not None and session.seen and not (session.busy or session.fit):
                    return session.seen.predict(session, args[0], None)
        return guarded(self, *args, **options)

    return predict


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
    begin = _fit(name, method)  # its arguments may plan the model again

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
    """Whether a fit of this thread is underway: a callback calls.

    If none is, marks that an interrupted fit may have left are ignored.
    """
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
    """What a model has, what a subclass has, and names that begin with _, may be set."""
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
