from .events import Events as Events
from .live import Stalled as Stalled, Stream as Stream
from .logs import log as log
from .polled import PolledSource as PolledSource
from .sources import CsvSource as CsvSource, WavSource as WavSource
from .window import Window as Window
