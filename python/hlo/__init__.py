"""Programs in HLO, from Python: read from text, compiled, run on NumPy arrays.

    >>> import hlo, numpy as np
    >>> program = hlo.loads('''
    ... HloModule double
    ... ENTRY main {
    ...   x = f32[3] parameter(0)
    ...   ROOT y = f32[3] add(x, x)
    ... }''')
    >>> program(np.array([1, 2, 3], np.float32))
    array([2., 4., 6.], dtype=float32)

HLO text, StableHLO (text or bytecode) and HloModuleProto are told apart by what they contain. What is wrong with a program is
an `hlo.Error`, which has the diagnostics one by one and shows them with the lines that they are about.
"""

from ._errors import Diagnostic, Error
from ._program import Array, Polymorphic, Program, load, loads
from ._version import __version__

__all__ = ["Array", "Diagnostic", "Error", "Polymorphic", "Program", "load", "loads", "__version__"]
