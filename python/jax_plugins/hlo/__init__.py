"""JAX runs on the HLO toolchain: `JAX_PLATFORMS=hlo,cpu python train.py`.

JAX finds this package by its name. Options come from the environment:

| variable | meaning |
|---|---|
| HLO_NUM_DEVICES | how many devices there are (1) |
| HLO_NUM_THREADS | how many threads a program uses (one per processor) |
| HLO_ENGINE | `tiered` (programs are interpreted until it pays to compile them), `compiled` or `interpreted` |
| HLO_CACHE_DIR | a folder for compiled code |
| HLO_PLATFORM_NAME | what JAX takes the platform for: `cpu` (the lowering rules, callbacks and donation of CPUs) or `hlo` |
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
    """What the environment asks for, as options of a client."""
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
    # A thread that calls Python once that has ended takes the process with it.
    atexit.register(library.hlo_pjrt_wait_for_runs)
    # JAX warns of every platform whose name it does not know that it is experimental.
    known = getattr(xla_bridge, "_nonexperimental_plugins", None)
    if known is not None:
        known.add("hlo")
    xla_bridge.register_plugin("hlo", priority=500, library_path=_library.path(), options=options())
