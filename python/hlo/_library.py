"""The shared library: its path, and the functions that this package calls."""

import ctypes
import json
import os
from pathlib import Path

from ._errors import Diagnostic, Error

LIBRARY = "libhlo_pjrt.so"


def path() -> str:
    """Returns the path of the shared library. The environment variable HLO_PJRT_LIBRARY overrides it."""
    return os.environ.get("HLO_PJRT_LIBRARY") or str(Path(__file__).parent / "lib" / LIBRARY)


_address = ctypes.c_void_p
_size = ctypes.c_size_t

# The name, the result type and the argument types of each function. A function that returns the address of an error returns
# null if it succeeds.
_FUNCTIONS = {
    "hlo_program_load": (_address, [ctypes.c_char_p, _size, ctypes.c_char_p, ctypes.POINTER(_address)]),
    "hlo_program_free": (None, [_address]),
    "hlo_program_describe": (_address, [_address]),
    "hlo_program_text": (_address, [_address]),
    "hlo_program_run": (_address, [_address, ctypes.POINTER(_address), _size, ctypes.POINTER(_address)]),
    "hlo_results_free": (None, [_address]),
    "hlo_results_data": (_address, [_address, _size]),
    "hlo_results_size": (ctypes.c_int64, [_address, _size, _size]),
    "hlo_text_data": (_address, [_address, ctypes.POINTER(_size)]),
    "hlo_text_free": (None, [_address]),
}

_loaded = None


def library() -> ctypes.CDLL:
    """Returns the library. The first call loads it."""
    global _loaded
    if _loaded is None:
        try:
            loaded = ctypes.CDLL(path())
        except OSError as error:
            raise ImportError(f"the shared library of hlo can't be loaded: {error}") from error
        for name, (result, arguments) in _FUNCTIONS.items():
            function = getattr(loaded, name)
            function.restype, function.argtypes = result, arguments
        _loaded = loaded
    return _loaded


def text(address: int) -> str:
    """Returns a text that the library allocated, and frees it."""
    size = _size()
    data = library().hlo_text_data(address, ctypes.byref(size))
    try:
        return ctypes.string_at(data, size.value).decode("utf-8", "replace")
    finally:
        library().hlo_text_free(address)


def check(error: int) -> None:
    """Raises the library's error, unless the address is null."""
    if not error:
        return
    said = json.loads(text(error))
    diagnostics = tuple(
        Diagnostic(**{**fields, "notes": tuple(fields.get("notes", ()))}) for fields in said["diagnostics"]
    )
    raise Error(said["text"], diagnostics)
