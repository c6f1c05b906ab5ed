"""What pyproject.toml can't say: the version is that of the Rust crates, and a wheel is for one kind of computer."""

import os

from setuptools import Distribution, setup
from setuptools.command.bdist_wheel import bdist_wheel


class Wheel(bdist_wheel):
    """A wheel for any Python, for the library is none of Python's."""

    def get_tag(self):
        _, _, platform = super().get_tag()
        return "py3", "none", platform


class Binary(Distribution):
    """A package with programs."""

    def has_ext_modules(self):
        return True


setup(version=os.environ.get("HLO_VERSION", "0"), distclass=Binary, cmdclass={"bdist_wheel": Wheel})
