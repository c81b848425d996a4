"""The apps that pyproject.toml names, for `flwr run`."""

from odt.host.fleet.flower_app import client, server

__all__ = ["client", "server"]
