"""The module `hlo`, without JAX."""

import threading
import unittest

import hlo
import numpy as np

ADD = """HloModule add
ENTRY main {
  x = f32[2,3] parameter(0)
  y = f32[2,3] parameter(1)
  ROOT sum = f32[2,3] add(x, y)
}"""

TUPLE = """HloModule parts
ENTRY main {
  x = (s32[2], pred[]) parameter(0)
  a = s32[2] get-tuple-element(x), index=0
  b = pred[] get-tuple-element(x), index=1
  c = s32[2] negate(a)
  t = (s32[2], pred[]) tuple(c, b)
  ROOT r = ((s32[2], pred[]), s32[2]) tuple(t, a)
}"""

STABLEHLO = """module @twice {
  func.func @main(%x: tensor<2xf64>) -> tensor<2xf64> {
    %y = stablehlo.add %x, %x : tensor<2xf64>
    return %y : tensor<2xf64>
  }
}"""


POLYMORPHIC = """func.func @main(%x: tensor<?x2xf32>, %i: tensor<i32>) -> tensor<?x2xf32> {
  %y = stablehlo.add %x, %x : tensor<?x2xf32>
  return %y : tensor<?x2xf32>
}"""


class Programs(unittest.TestCase):
    def test_a_program_of_any_sizes_is_compiled_once_for_each(self):
        double = hlo.Polymorphic(POLYMORPHIC)
        for rows in 1, 3, 1:
            for index in np.int32(0), np.int32(1):
                x = np.ones((rows, 2), np.float32)
                np.testing.assert_array_equal(double(x, index), x + x)
        self.assertEqual(len(double._programs), 2)
        with self.assertRaisesRegex(hlo.Error, "argument 0 is of type"):
            double(np.ones((1, 3), np.float32), np.int32(0))
        with self.assertRaisesRegex(hlo.Error, "hlo.Polymorphic"):
            hlo.loads(POLYMORPHIC)

    def test_a_program_is_called_with_arrays(self):
        for engine in "compiled", "interpreted":
            program = hlo.loads(ADD, engine=engine)
            x = np.arange(6, dtype=np.float32).reshape(2, 3)
            np.testing.assert_array_equal(program(x, x[::-1]), x + x[::-1])
            # Arguments may have any memory order, and may be any object with a buffer.
            np.testing.assert_array_equal(program(np.asfortranarray(x), memoryview(x)), 2 * x)
        self.assertEqual(str(program.parameters[0]), "f32[2,3]")
        self.assertEqual(repr(program), "<hlo.Program add: (f32[2,3], f32[2,3]) -> f32[2,3]>")

    def test_tuples_are_flat_as_arguments_and_nested_as_results(self):
        program = hlo.loads(TUPLE)
        given = np.array([1, -2], np.int32)
        (negated, flag), same = program(given, True)
        np.testing.assert_array_equal(negated, [-1, 2])
        self.assertEqual((flag.dtype, bool(flag)), (np.dtype(bool), True))
        np.testing.assert_array_equal(same, given)
        # If a program returns an argument unchanged, the result is a copy.
        given[0] = 7
        self.assertEqual(same[0], 1)

    def test_results_live_as_long_as_they_are_looked_at(self):
        result = hlo.loads(ADD)(np.ones((2, 3), np.float32), np.ones((2, 3), np.float32))
        part = result[1]
        del result
        np.testing.assert_array_equal(part, [2, 2, 2])

    def test_other_forms_are_read(self):
        np.testing.assert_array_equal(hlo.loads(STABLEHLO)(np.array([1.0, 2.0])), [2, 4])
        self.assertIn("ROOT", hlo.loads(STABLEHLO).text())

    def test_what_is_wrong_is_an_exception_with_its_place(self):
        with self.assertRaises(hlo.Error) as caught:
            hlo.loads("HloModule m\nENTRY e { ROOT x = f32[2] paramter(0) }", name="m.hlo")
        (diagnostic,) = caught.exception.diagnostics
        self.assertEqual((diagnostic.line, diagnostic.column), (2, 27))
        self.assertIn("did you mean `parameter`?", diagnostic.notes)
        self.assertIn("m.hlo:2:27", str(caught.exception))

    def test_options_have_their_types(self):
        for threads in "a", True, 1.0, None:
            with self.assertRaisesRegex(TypeError, "threads: expected int, found"):
                hlo.loads(ADD, threads=threads)
        for threads in -1, 1025, 2**70:
            with self.assertRaisesRegex(hlo.Error, "threads: expected a number from 0 to 1024"):
                hlo.loads(ADD, threads=threads)
        with self.assertRaisesRegex(TypeError, "engine: expected str, found int"):
            hlo.loads(ADD, engine=1)

    def test_arrays_that_do_not_fit_are_named(self):
        program = hlo.loads(ADD)
        x = np.ones((2, 3), np.float32)
        for arrays in (x,), (x, x.astype(np.float64)), (x, x[0]):
            with self.assertRaisesRegex(hlo.Error, r"f32\[2,3\]"):
                program(*arrays)

    def test_threads_call_the_same_program(self):
        program, wrong = hlo.loads(ADD), []

        def call(n):
            x = np.full((2, 3), n, np.float32)
            for _ in range(100):
                if not (program(x, x) == 2 * n).all():
                    wrong.append(n)

        threads = [threading.Thread(target=call, args=(n,)) for n in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])


if __name__ == "__main__":
    unittest.main()
