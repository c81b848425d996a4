"""What the page asks of odt. JavaScript calls answer() with the name of a function and its options, as JSON."""

import gc
import io
import json
import sys

import learning
import planning

CALLS = ("plan", "boarded", "figured", "times"), (
    "activations", "ask", "begin", "classify", "confusion", "epoch", "forgotten", "heard", "listen", "new_class",
    "opened", "recorded", "retained", "teach", "weights",
)  # fmt: skip


def answer(text):
    """The result of a function as JSON; an exception becomes {"error": text, "trace": text}."""
    request = json.loads(text)
    gc.collect()
    try:
        found = function(request["call"])(**request["with"])
    except Exception as error:
        kind = "" if isinstance(error, ValueError) else type(error).__name__ + ": "
        found = {"error": "%s%s" % (kind, error), "trace": _trace(error)}
    return json.dumps(found)


def function(name):
    """planning's or learning's."""
    for module, names in zip((planning, learning), CALLS):
        if name in names:
            return getattr(module, name)
    raise ValueError("the page has no function %r" % name)


def _trace(error):
    out = io.StringIO()
    sys.print_exception(error, out)
    return out.getvalue()
