"""The JAX plugin of the HLO toolchain: `JAX_PLATFORMS=hlo,cpu python train.py`.

JAX finds this package by its name. Environment variables set the options:

| variable | meaning |
|---|---|
| HLO_NUM_DEVICES | number of devices (default: 1) |
| HLO_NUM_THREADS | number of threads that a program uses (default: one per processor) |
| HLO_ENGINE | `tiered` (interprets a program until compiling it pays off), `compiled` or `interpreted` |
| HLO_CACHE_DIR | a folder for compiled code |
| HLO_PLATFORM_NAME | the platform name that JAX sees: `cpu` (the lowering rules, callbacks and donation of CPUs) or `hlo` |
"""

import atexit
import os

from hlo import _library

from . import _callback, _ffi

_OPTIONS = {
    "num_devices": ("HLO_NUM_DEVICES", int),
    "num_threads": ("HLO_NUM_THREADS", int),
    "engine": ("HLO_ENGINE", str),
    "cache_dir": ("HLO_CACHE_DIR", str),
    "platform_name": ("HLO_PLATFORM_NAME", str),
}


def options() -> dict:
    """Returns the options of a client that environment variables set."""
    given = {}
    for name, (variable, read) in _OPTIONS.items():
        value = os.environ.get(variable)
        if value:
            try:
                given[name] = read(value)
            except ValueError:
                raise ValueError(f"{variable} is a number, found {value!r}") from None
    return given


def initialize() -> None:
    """Registers the plugin. JAX calls this."""
    from jax._src import xla_bridge

    library = _library.library()
    _callback.register(library)
    _ffi.register(library)
    # Wait for runs at exit: a thread that calls Python after the interpreter has ended would end the process.
    atexit.register(library.hlo_pjrt_wait_for_runs)
    # JAX warns that a platform is experimental if it does not know its name.
    known = getattr(xla_bridge, "_nonexperimental_plugins", None)
    if known is not None:
        known.add("hlo")
    xla_bridge.register_plugin("hlo", priority=500, library_path=_library.path(), options=options())
