from types import ModuleType
from typing import Literal

engine: ModuleType
backend: Literal["native", "reference"]

def use(name: Literal["native", "reference"]) -> None: ...
