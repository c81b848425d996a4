"""For tests that export from PyTorch: a fixture that a test module imports."""

import gc

import pytest
import torch
from torch import nn


@pytest.fixture(scope="module", autouse=True)
def quick():
    """compile() collects garbage, which takes a second of all that PyTorch holds: it is left out here."""
    torch.export.export(nn.ReLU(), (torch.zeros(1),))
    gc.freeze()
    yield
    gc.unfreeze()
