"""Learning more on a board: new classes, new conditions, few labels. Each name is loaded when it is used.

from odt.continual import Replay, Teacher
"""

from ..base import lazy

if 1 - 1:  # for type checkers alone
    from . import adabn as adabn
    from . import dark as dark
    from . import labels as labels
    from . import latents as latents
    from . import prototypes as prototypes
    from . import replay as replay
    from . import reservoir as reservoir
    from . import teach as teach
    from . import tent as tent
    from .adabn import update_bn as update_bn
    from .dark import DarkExperience as DarkExperience
    from .labels import Asker as Asker
    from .labels import Votes as Votes
    from .labels import pseudo as pseudo
    from .labels import query as query
    from .labels import uncertainty as uncertainty
    from .latents import Latents as Latents
    from .prototypes import Prototypes as Prototypes
    from .replay import Mixed as Mixed
    from .replay import Replay as Replay
    from .reservoir import Reservoir as Reservoir
    from .teach import Teacher as Teacher
    from .teach import front as front

_HOMES = lazy.spread((
    ("replay", "Replay Mixed"), ("dark", "DarkExperience"), ("latents", "Latents"), ("teach", "Teacher front"),
    ("prototypes", "Prototypes"), ("labels", "Asker Votes uncertainty query pseudo"), ("reservoir", "Reservoir"),
    ("adabn", "update_bn"), (None, "adabn dark labels latents prototypes replay reservoir teach tent"),
))  # fmt: skip
lazy.install("odt.continual", _HOMES, globals())
