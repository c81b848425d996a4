from . import readers as readers
from .readers import (
    Column as Column,
)
from .readers import (
    CsvReader as CsvReader,
)
from .readers import (
    Normalizer as Normalizer,
)
from .readers import (
    NpyReader as NpyReader,
)
from .readers import (
    RawReader as RawReader,
)
