"""Learning more on a board: new classes, new conditions, few labels. Each name is loaded when it is used.

from odt.continual import Replay, Teacher
"""

from ..base import lazy

_HOMES = lazy.spread((
    ("replay", "Replay Mixed"), ("dark", "DarkExperience"), ("latents", "Latents"), ("teach", "Teacher front"),
    ("prototypes", "Prototypes"), ("labels", "Asker Votes uncertainty query pseudo"), ("reservoir", "Reservoir"),
    ("adabn", "update_bn"), (None, "adabn dark labels latents prototypes replay reservoir teach tent"),
))  # fmt: skip
__getattr__ = lazy.getter("odt.continual", _HOMES, globals())
