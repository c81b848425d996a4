"""What a network hears of a sensor, by integers: the same bits in training, on a PC and on a board. Loaded when named.

from odt.features import LogMel
"""

_HOMES = {
    "LogMel": "logmel", "MFCC": "logmel", "MicroFrontend": "frontend", "Motion": "motion", "Filter": "filter", "Frames": "frames",
    "MiniRocket": "rocket",
}  # fmt: skip


def make(name, parameters, plan=None):
    """The feature whose ``parameters()`` are (name, parameters). ValueError for an unknown name; what is wrong in parameters, its class says.

    ``plan``: of the model file that has them, which an error names.
    """
    try:
        if name not in _HOMES:
            raise ValueError("odt.features.make: no feature is called %r" % (name,))
        return __getattr__(name)(**parameters)
    except (ValueError, TypeError, ArithmeticError) as error:
        if plan is None:
            raise
        raise ValueError("%s is damaged: features %s: %s" % (plan.file, name, error))


def __getattr__(name):
    if name not in _HOMES:
        raise AttributeError("module 'odt.features' has no attribute %r" % name)
    found = getattr(__import__("odt.features." + _HOMES[name], None, None, ("*",)), name)
    globals()[name] = found
    return found
