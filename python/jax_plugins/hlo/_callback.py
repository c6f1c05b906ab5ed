"""Calls of Python from programs: `jax.pure_callback`, `io_callback`, `debug.print`, `jax.experimental.buffer_callback`."""

import ctypes
import traceback

import ml_dtypes
import numpy as np

# The element types of PJRT_Buffer_Type, by number.
_DTYPES = {
    1: np.bool_, 2: np.int8, 3: np.int16, 4: np.int32, 5: np.int64, 6: np.uint8, 7: np.uint16, 8: np.uint32,
    9: np.uint64, 10: np.float16, 11: np.float32, 12: np.float64, 13: ml_dtypes.bfloat16, 14: np.complex64,
    15: np.complex128, 16: ml_dtypes.float8_e5m2, 17: ml_dtypes.float8_e4m3fn, 18: ml_dtypes.float8_e4m3b11fnuz,
    19: ml_dtypes.float8_e5m2fnuz, 20: ml_dtypes.float8_e4m3fnuz, 21: ml_dtypes.int4, 22: ml_dtypes.uint4,
    24: ml_dtypes.int2, 25: ml_dtypes.uint2, 26: ml_dtypes.float8_e4m3, 27: ml_dtypes.float8_e3m4,
    28: ml_dtypes.float8_e8m0fnu, 29: ml_dtypes.float4_e2m1fn,
}  # fmt: skip


# The element type of tokens.
_TOKEN = 23


class _Array(ctypes.Structure):
    """An array or a token, as the library passes it."""

    _fields_ = [
        ("element_type", ctypes.c_int32),
        ("rank", ctypes.c_size_t),
        ("dims", ctypes.POINTER(ctypes.c_int64)),
        ("byte_strides", ctypes.POINTER(ctypes.c_int64)),
        ("data", ctypes.c_void_p),
    ]

    def view(self) -> np.ndarray:
        """Returns a NumPy array that refers to the memory of this array."""
        dtype = np.dtype(_DTYPES[self.element_type])
        dims, strides = self.dims[: self.rank], self.byte_strides[: self.rank]
        if 0 in dims:
            return np.empty(dims, dtype)
        size = dtype.itemsize + sum((n - 1) * stride for n, stride in zip(dims, strides))
        memory = (ctypes.c_char * size).from_address(self.data)
        return np.ndarray(dims, dtype, memory, 0, strides)


_CALL = ctypes.CFUNCTYPE(
    ctypes.c_int32, ctypes.c_void_p, ctypes.POINTER(_Array), ctypes.c_size_t, ctypes.POINTER(_Array), ctypes.c_size_t,
    ctypes.c_void_p, ctypes.POINTER(ctypes.c_size_t),
)  # fmt: skip


def _run(function, operands, results) -> None:
    """Calls a function and copies the values that it returns into the results. A token is `None` as an argument and as a result."""
    # The arguments are copies, because the function may keep them.
    arguments = [None if operand.element_type == _TOKEN else operand.view().copy() for operand in operands]
    for argument in arguments:
        if argument is not None:
            argument.flags.writeable = False
    given = function(*arguments)
    given = () if given is None else given if isinstance(given, (tuple, list)) else (given,)
    if len(given) != len(results):
        raise ValueError(f"the callback gives {len(given)} arrays, {len(results)} are expected")
    for number, (value, result) in enumerate(zip(given, results)):
        if result.element_type == _TOKEN:
            continue
        array, place = np.asarray(value), result.view()
        if array.dtype != place.dtype or array.shape != place.shape:
            raise ValueError(
                f"result {number} of the callback is {array.dtype} of shape {array.shape}, "
                f"{place.dtype} of shape {place.shape} is expected"
            )
        place[...] = array


class _Buffer:
    """The memory of an operand or a result during a call. It has the interface of jaxlib's class, which Python can't instantiate."""

    def __init__(self, array: _Array, writeable: bool):
        self._view = array.view()
        self._view.flags.writeable = self.writeable = writeable
        self.shape, self.dtype, self.ndim = self._view.shape, self._view.dtype, self._view.ndim

    def __array__(self, dtype=None, copy=None):
        if dtype is not None and np.dtype(dtype) != self.dtype:
            if copy is False:
                raise ValueError(f"a buffer of {self.dtype} is no array of {np.dtype(dtype)} without a copy")
            return self._view.astype(dtype)
        return self._view.copy() if copy else self._view

    def __dlpack__(self, **options):
        # NumPy does not export read-only memory, so this exports a writeable view.
        memory = np.ndarray(self.shape, self.dtype, self._view.base, 0, self._view.strides)
        return memory.__dlpack__(**options)

    def __dlpack_device__(self):
        return self._view.__dlpack_device__()


class _Context:
    """A replacement of jaxlib's class `ExecutionContext`, with the same properties."""

    @property
    def stage(self):
        from jax.experimental.buffer_callback import ExecutionStage

        return ExecutionStage.EXECUTE

    @property
    def stream(self):
        from jax.errors import JaxRuntimeError

        raise JaxRuntimeError("XLA FFI GPU context is not available: this is a CPU")


def _run_in_place(function, operands, results) -> None:
    """Calls a function of `buffer_callback`, which writes directly to the memory of its results."""
    arrays = [*((array, False) for array in operands), *((array, True) for array in results)]
    function(_Context(), *(None if a.element_type == _TOKEN else _Buffer(a, writeable) for a, writeable in arrays))


def _calling(run):
    """Returns the C function through which the library calls Python objects. It returns an exception as text."""

    def call(callable_, operands, operand_count, results, result_count, message, size):
        try:
            function = ctypes.cast(callable_, ctypes.py_object).value
            run(function, operands[:operand_count], results[:result_count])
            return 0
        except BaseException as error:  # No exception may propagate through the library's stack frames.
            text = f"{type(error).__name__}: {error}\n{traceback.format_exc()}".encode("utf-8", "replace")[: size[0]]
            ctypes.memmove(message, text, len(text))
            size[0] = len(text)
            return 1

    return _CALL(call)


# Kept alive here, because the library uses them until the process ends.
_BY_VALUE, _IN_PLACE = _calling(_run), _calling(_run_in_place)


def register(library: ctypes.CDLL) -> None:
    """Registers the two C functions with the library."""
    ways = [(library.hlo_pjrt_set_python_callback, _BY_VALUE), (library.hlo_pjrt_set_python_buffer_callback, _IN_PLACE)]
    for tell, way in ways:
        tell.argtypes, tell.restype = [_CALL], None
        tell(way)
