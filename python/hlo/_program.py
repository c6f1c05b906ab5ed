"""Programs, and the types of their arguments and results."""

import collections
import ctypes
import json
import os
import weakref
from dataclasses import dataclass
from typing import Any, Mapping, Optional, Sequence, Tuple, Union

import numpy as np

from ._errors import Error
from ._library import check, library, text

try:
    import ml_dtypes
except ImportError:  # Only needed for element types that NumPy lacks.
    ml_dtypes = None

_NUMPY = {
    "pred": "bool", "s8": "int8", "s16": "int16", "s32": "int32", "s64": "int64", "u8": "uint8", "u16": "uint16",
    "u32": "uint32", "u64": "uint64", "f16": "float16", "f32": "float32", "f64": "float64", "c64": "complex64",
    "c128": "complex128",
}  # fmt: skip
_ML_DTYPES = {
    "s2": "int2", "s4": "int4", "u2": "uint2", "u4": "uint4", "bf16": "bfloat16", "f4e2m1fn": "float4_e2m1fn",
    "f8e3m4": "float8_e3m4", "f8e4m3": "float8_e4m3", "f8e4m3fn": "float8_e4m3fn",
    "f8e4m3fnuz": "float8_e4m3fnuz", "f8e4m3b11fnuz": "float8_e4m3b11fnuz", "f8e5m2": "float8_e5m2",
    "f8e5m2fnuz": "float8_e5m2fnuz", "f8e8m0fnu": "float8_e8m0fnu",
}  # fmt: skip


@dataclass(frozen=True)
class Array:
    """The type of an argument or a result of a program."""

    type: str
    """The name of the element type in HLO, such as `f32`."""
    dims: Tuple[int, ...]
    """The size of each dimension. For a dynamic dimension, its bound."""
    name: Optional[str] = None
    """The parameter's name."""

    @property
    def dtype(self) -> np.dtype:
        """NumPy's type of the elements. If NumPy lacks the type, that of `ml_dtypes`; without that package, raw bytes."""
        if self.type in _NUMPY:
            return np.dtype(_NUMPY[self.type])
        if ml_dtypes is not None and hasattr(ml_dtypes, _ML_DTYPES.get(self.type, "")):
            return np.dtype(getattr(ml_dtypes, _ML_DTYPES[self.type]))
        return np.dtype("uint16" if self.type == "bf16" else "uint8")

    def __str__(self) -> str:
        return f"{self.type}[{','.join(map(str, self.dims))}]"


class Program:
    """A compiled program. Call it with arrays; it returns an array or a tuple of results.

    An argument is any object that NumPy converts to an array without changing its type. Row-major arrays are not copied.
    If a parameter is a tuple, pass one array for each array in it.
    """

    def __init__(self, address: int):
        self._address = address
        self._free = weakref.finalize(self, library().hlo_program_free, address)
        described = json.loads(text(library().hlo_program_describe(address)))
        self.name: str = described["name"]
        self.parameters = tuple(Array(p["type"], tuple(p["dims"]), p["name"]) for p in described["parameters"])
        self._result = described["result"]
        # The numbers of the arguments whose values were used when a polymorphic program was specialized.
        self._constants = tuple(described["constants"])

    def __call__(self, *arrays: Any) -> Any:
        given = [self._checked(n, array) for n, array in enumerate(self._counted(arrays))]
        addresses = (ctypes.c_void_p * len(given))(*(array.ctypes.data for array in given))
        results = ctypes.c_void_p()
        check(library().hlo_program_run(self._address, addresses, len(given), ctypes.byref(results)))
        owner = _Results(results.value)
        return owner.value(self._result, iter(range(_leaves(self._result))))

    def text(self) -> str:
        """Returns the module as HLO text."""
        return text(library().hlo_program_text(self._address))

    def _counted(self, arrays: Tuple[Any, ...]) -> Tuple[Any, ...]:
        if len(arrays) != len(self.parameters):
            wanted = ", ".join(f"{p.name}: {p}" for p in self.parameters)
            raise Error(f"{self.name} takes {len(self.parameters)} arrays ({wanted}), {len(arrays)} are given")
        return arrays

    def _checked(self, number: int, array: Any) -> np.ndarray:
        wanted, found = self.parameters[number], np.asarray(array)
        # A Python number has no element type, so it gets that of the parameter.
        if isinstance(array, (bool, int, float, complex)):
            found = np.asarray(array, wanted.dtype)
        if found.dtype != wanted.dtype or found.shape != wanted.dims:
            raise Error(
                f"{self.name}: parameter {number} `{wanted.name}` is {wanted}, found {found.dtype} of shape {found.shape}"
            )
        return np.ascontiguousarray(found).reshape(found.shape)

    def __repr__(self) -> str:
        parameters = ", ".join(map(str, self.parameters))
        return f"<hlo.Program {self.name}: ({parameters}) -> {_spelt(self._result)}>"


class _Results:
    """The results of a run. Their memory is freed when no array refers to it any more."""

    def __init__(self, address: int):
        self._address = address
        weakref.finalize(self, library().hlo_results_free, address)

    def value(self, shape: Any, numbers: Any) -> Any:
        if "tuple" in shape:
            return tuple(self.value(element, numbers) for element in shape["tuple"])
        return self._array(Array(shape["type"], tuple(shape["dims"])), next(numbers))

    def _array(self, array: Array, number: int) -> np.ndarray:
        # Dynamic dimensions get their sizes at run time.
        dims = tuple(library().hlo_results_size(self._address, number, d) for d in range(len(array.dims)))
        size = int(np.prod(dims, dtype=np.int64)) * array.dtype.itemsize
        data = library().hlo_results_data(self._address, number)
        memory = (ctypes.c_char * size).from_address(data) if size else bytearray()
        if size:
            memory._owner = self
        return np.frombuffer(memory, array.dtype).reshape(dims)


def _leaves(shape: Any) -> int:
    return sum(map(_leaves, shape["tuple"])) if "tuple" in shape else 1


def _spelt(shape: Any) -> str:
    if "tuple" in shape:
        return f"({', '.join(map(_spelt, shape['tuple']))})"
    return str(Array(shape["type"], tuple(shape["dims"])))


class Polymorphic:
    """A StableHLO program for arguments of any sizes, such as `jax.export` writes with symbolic shapes.

    Each new list of argument shapes compiles the program again. The programs for the 64 most recently used lists are kept.
    `options` are those of `loads`.
    """

    _MOST = 64

    def __init__(self, program: Union[str, bytes], **options: Any):
        self._program, self._options = program, options
        self._programs: "collections.OrderedDict[Any, Program]" = collections.OrderedDict()
        self._constants: Tuple[int, ...] = ()

    def program(self, *arrays: Any) -> Program:
        """Returns the program for arguments with the shapes of these arrays."""
        found = [np.asarray(array) for array in arrays]
        program = self._programs.get(self._key(found))
        if program is None:
            given = [{"dims": array.shape, "value": _integer(array)} for array in found]
            program = loads(self._program, arguments=given, **self._options)
            self._constants = program._constants
        self._programs[self._key(found)] = program
        self._programs.move_to_end(self._key(found))
        if len(self._programs) > self._MOST:
            self._programs.popitem(last=False)
        return program

    def _key(self, arrays: Sequence[np.ndarray]) -> Any:
        constants = (_integer(arrays[n]) for n in self._constants if n < len(arrays))
        return tuple(array.shape for array in arrays), tuple(constants)

    def __call__(self, *arrays: Any) -> Any:
        return self.program(*arrays)(*arrays)


def _integer(array: np.ndarray) -> Optional[int]:
    return int(array) if array.shape == () and array.dtype.kind in "iu" else None


def loads(
    program: Union[str, bytes],
    *,
    name: str = "<program>",
    engine: str = "compiled",
    threads: int = 0,
    function: Optional[str] = None,
    arguments: Optional[Sequence[Mapping[str, Any]]] = None,
) -> Program:
    """Reads a program from text or bytes, and compiles it.

    `name` is the name of the program in diagnostics. `engine` is `compiled` or `interpreted`. `threads` is the maximum
    number of threads, at most 1024; 0 means all.
    For StableHLO, `function` is the name of the function to run. If the sizes of its arguments are unknown, `arguments`
    specifies them: `[{"dims": (8, 4)}, …]`.
    """
    for option, value, kind in (("name", name, str), ("engine", engine, str), ("threads", threads, int)):
        if not isinstance(value, kind) or isinstance(value, bool):
            raise TypeError(f"{option}: expected {kind.__name__}, found {type(value).__name__}")
    data = program.encode() if isinstance(program, str) else bytes(program)
    given = None if arguments is None else [dict(argument) for argument in arguments]
    options = json.dumps(
        {"name": name, "engine": engine, "threads": threads, "function": function, "arguments": given}
    )
    address = ctypes.c_void_p()
    check(library().hlo_program_load(data, len(data), options.encode(), ctypes.byref(address)))
    return Program(address.value)


def load(path: Union[str, "os.PathLike[str]"], **options: Any) -> Program:
    """Reads a program from a file, and compiles it. The options are those of `loads`, except `name`."""
    with open(path, "rb") as file:
        return loads(file.read(), name=os.fspath(path), **options)
