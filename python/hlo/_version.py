"""The version of the installed package."""

from importlib.metadata import PackageNotFoundError, version

try:
    __version__ = version("hlo-tools")
except PackageNotFoundError:  # The package runs from a source folder.
    __version__ = "0"
