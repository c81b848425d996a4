from typing import Any

from .filter import Filter as Filter
from .frames import Frames as Frames
from .frontend import MicroFrontend as MicroFrontend
from .logmel import (
    MFCC as MFCC,
    LogMel as LogMel,
)
from .motion import Motion as Motion
from .rocket import MiniRocket as MiniRocket

def make(name: str, parameters: dict[str, Any]) -> Any: ...
