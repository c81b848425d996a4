"""What the page asks of odt. JavaScript calls answer() with the name of a function and its options, as JSON."""

import gc
import io
import json
import sys

from learning import ask, begin, classify, confusion, epoch, filters, new_class, read, teach
from planning import opened, plan, times

CALLS = {
    "plan": plan, "opened": opened, "times": times, "begin": begin, "epoch": epoch, "confusion": confusion,
    "filters": filters, "classify": classify, "new_class": new_class, "teach": teach, "ask": ask, "read": read,
}  # fmt: skip


def answer(text):
    """The result of a function as JSON; an exception becomes {"error": text, "trace": text}."""
    request = json.loads(text)
    gc.collect()
    try:
        found = CALLS[request["call"]](**request["with"])
    except Exception as error:
        found = {"error": "%s: %s" % (type(error).__name__, error), "trace": _trace(error)}
    return json.dumps(found)


def _trace(error):
    out = io.StringIO()
    sys.print_exception(error, out)
    return out.getvalue()
