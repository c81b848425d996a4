"""A fixture: scripts that write files run in a folder of their own."""

import os

import pytest


@pytest.fixture(scope="module", autouse=True)
def folder(tmp_path_factory):
    """Scripts write files to where they run, on the PC too."""
    before = os.getcwd()
    os.chdir(tmp_path_factory.mktemp("habits"))
    yield
    os.chdir(before)
