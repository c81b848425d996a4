"""What all tests share: the garbage collector passes over what pytest and the tests' imports keep.

compile() collects garbage, as it does on a board. Beside PyTorch, Keras and five thousand tests that is 0.1 to 0.5 s
each time, for objects that stay anyway.
"""

import gc

import pytest


@pytest.fixture(scope="module", autouse=True)
def _frozen():
    gc.collect()
    gc.freeze()
