"""The version of what is installed."""

from importlib.metadata import PackageNotFoundError, version

try:
    __version__ = version("hlo-tools")
except PackageNotFoundError:  # It runs from a folder.
    __version__ = "0"
