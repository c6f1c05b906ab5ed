"""Settings that pyproject.toml can't express: the version comes from the Rust crates, and a wheel is for one platform."""

import os

from setuptools import Distribution, setup
from setuptools.command.bdist_wheel import bdist_wheel


class Wheel(bdist_wheel):
    """A wheel for any version of Python, because the library does not use Python's C API."""

    def get_tag(self):
        _, _, platform = super().get_tag()
        return "py3", "none", platform


class Binary(Distribution):
    """A package that contains binaries, so that its wheel is specific to a platform."""

    def has_ext_modules(self):
        return True


setup(version=os.environ.get("HLO_VERSION", "0"), distclass=Binary, cmdclass={"bdist_wheel": Wheel})
