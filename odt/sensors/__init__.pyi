from typing import Any

from . import features as features
from . import stream as stream
from .features.filter import Filter as Filter
from .features.frames import Frames as Frames
from .features.frontend import MicroFrontend as MicroFrontend
from .features.logmel import MFCC as MFCC
from .features.logmel import LogMel as LogMel
from .features.motion import Motion as Motion
from .features.rocket import MiniRocket as MiniRocket
from .record import Recorder as Recorder
from .rules import (
    Above as Above,
)
from .rules import (
    Absence as Absence,
)
from .rules import (
    All as All,
)
from .rules import (
    Below as Below,
)
from .rules import (
    Count as Count,
)
from .rules import (
    Rule as Rule,
)
from .rules import (
    Rules as Rules,
)
from .rules import (
    Sequence as Sequence,
)
from .stream.events import Events as Events
from .stream.live import Stalled as Stalled
from .stream.live import Stream as Stream
from .stream.logs import log as log
from .stream.polled import PolledSource as PolledSource
from .stream.sources import CsvSource as CsvSource
from .stream.sources import WavSource as WavSource
from .stream.window import Window as Window

def make(name: str, parameters: dict[str, Any], plan: Any = None) -> Any: ...
