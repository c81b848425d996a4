from types import ModuleType
from typing import Literal

engine: ModuleType
backend: Literal["native", "reference", "ulab", "numpy"]

def use(name: Literal["native", "reference", "ulab", "numpy"]) -> None: ...
