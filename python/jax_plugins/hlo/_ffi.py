"""Forwards the handlers of typed custom calls from JAX to the plugin: `jax.ffi.register_ffi_target(…, platform="cpu")`."""

import ctypes

_name = ctypes.pythonapi.PyCapsule_GetName
_name.restype, _name.argtypes = ctypes.c_char_p, [ctypes.py_object]
_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_pointer.restype, _pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]

# The `api_version` that `register_ffi_target` passes for typed handlers.
_TYPED = 1


def _address(capsule) -> int:
    return _pointer(capsule, _name(capsule))


def register(library: ctypes.CDLL) -> None:
    """Passes all handlers to the library: those already registered with JAX, and those registered later."""
    from jaxlib import xla_client

    add = library.hlo_pjrt_register_handler
    add.argtypes, add.restype = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_void_p], ctypes.c_int32
    jax = xla_client._xla.register_custom_call_target

    def handler(name, function, platform, api_version, traits):
        jax(name, function, platform, api_version, traits)
        # A handler may have several stages. The plugin only calls the one that executes.
        runs = function.get("execute") if isinstance(function, dict) else function
        if api_version == _TYPED and runs is not None:
            called = name if isinstance(name, bytes) else str(name).encode()
            add(called, len(called), _address(runs))

    # JAX sets its own handler for "Host" when it creates its CPU client, unless one is already set.
    known = getattr(xla_client, "_custom_callback_handler", {})
    if "Host" in known:
        known["Host"] = handler
    else:
        xla_client.register_custom_call_handler("cpu", handler)
