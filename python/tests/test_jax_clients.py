"""Tests of devices, buffers and executables in JAX programs: `JAX_PLATFORMS=hlo,cpu python test_jax_clients.py`."""

import os
import subprocess
import sys
import tempfile
import textwrap
import unittest

import jax
import jax.numpy as jnp
import numpy as np


def output(program, **environment):
    """Runs a program in a separate process and returns the words that it prints."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", textwrap.dedent(program)],
        env={**os.environ, **environment}, capture_output=True, text=True, check=False,
    )
    if done.returncode:
        raise AssertionError(f"exit code {done.returncode}\n{done.stdout}\n{done.stderr}")
    return done.stdout.split()


class Clients(unittest.TestCase):
    def test_donated_arrays_are_gone(self):
        add = jax.jit(lambda x, y: x + y, donate_argnums=0)
        x = jnp.ones(1000)
        np.testing.assert_array_equal(add(x, jnp.ones(1000)), np.full(1000, 2.0))
        self.assertTrue(x.is_deleted())
        with self.assertRaisesRegex(RuntimeError, "has been deleted"):
            np.asarray(x + 1)

    def test_memory_is_shared_with_numpy(self):
        x = jnp.arange(64.0)
        view = np.asarray(x)
        self.assertEqual(view.__array_interface__["data"][0], x.unsafe_buffer_pointer())
        self.assertEqual(np.from_dlpack(x).__array_interface__["data"][0], x.unsafe_buffer_pointer())
        np.testing.assert_array_equal(jnp.from_dlpack(np.arange(5, dtype=np.int32)), np.arange(5))
        # If a program returns an argument unchanged, the result has its own memory.
        same = jax.jit(lambda x: x, keep_unused=True)(x)
        x.delete()
        np.testing.assert_array_equal(same, view)

    def test_executables_say_what_they_are(self):
        compiled = jax.jit(lambda x: (x @ x).sum()).lower(jnp.ones((8, 8))).compile()
        self.assertIn("HloModule", compiled.as_text())
        self.assertGreater(compiled.cost_analysis()["flops"], 2 * 8**3 - 1)
        self.assertEqual(compiled.memory_analysis().argument_size_in_bytes, 256)
        with self.assertRaisesRegex(TypeError, "called with"):
            compiled(jnp.ones((4, 4)))

    def test_effects_are_in_order(self):
        said = output("""
            import jax, jax.numpy as jnp
            @jax.jit
            def f(x):
                jax.debug.print("a{}", x, ordered=True)
                x = jax.lax.fori_loop(0, 3, lambda i, x: (jax.debug.print("b{}", i, ordered=True), x + 1)[1], x)
                jax.debug.print("c{}", x, ordered=True)
                return x
            f(1), f(5)
            jax.effects_barrier()
        """)
        self.assertEqual(said, "a1 b0 b1 b2 c4 a5 b0 b1 b2 c8".split())

    def test_buffers_are_written_in_place(self):
        from jax.experimental.buffer_callback import buffer_callback

        def add(context, out, x, y):
            self.assertEqual((x.writeable, out.writeable, out.shape), (False, True, (3, 4)))
            np.add(np.asarray(x), np.from_dlpack(y), out=np.asarray(out))

        x = jnp.arange(12.0).reshape(3, 4)
        f = jax.jit(lambda x, y: buffer_callback(add, jax.ShapeDtypeStruct(x.shape, x.dtype))(x, y) * 2)
        np.testing.assert_array_equal(f(x, x.T.reshape(3, 4)), 2 * (x + x.T.reshape(3, 4)))

        def first(context, out, x):
            # The operand and the result share memory.
            np.asarray(out)[0] = -np.asarray(x)[1]

        shared = buffer_callback(first, jax.ShapeDtypeStruct(x.shape, x.dtype), input_output_aliases={0: 0})
        np.testing.assert_array_equal(jax.jit(shared)(x), x.at[0].set(-x[1]))
        self.assertEqual(float(x[0, 1]), 1.0)

    def test_results_are_in_the_memory_that_was_asked_for(self):
        x = jnp.arange(3.0)
        for kind in ["device", "pinned_host", "unpinned_host"]:
            there = jax.sharding.SingleDeviceSharding(jax.devices()[0], memory_kind=kind)
            result = jax.jit(lambda x: (x + 1, x), out_shardings=there)(jax.device_put(x, there))
            self.assertEqual([r.sharding.memory_kind for r in result], [kind, kind])
            np.testing.assert_array_equal(result[0], [1, 2, 3])
            alone = jax.jit(lambda x: x + 1, out_shardings=there)(x)
            self.assertEqual(alone.sharding.memory_kind, kind)
        moved = jax.jit(lambda x: jax.device_put(x * 2, jax.memory.Space.Host))(x)
        self.assertEqual(moved.sharding.memory_kind, "pinned_host")

    def test_what_a_callback_raises_that_gives_nothing_is_the_error_of_the_call(self):
        said = output("""
            import jax
            from jax.experimental import io_callback
            def fails(x):
                raise RuntimeError("said-by-the-callback")
            try:
                jax.jit(lambda x: io_callback(fails, None, x))(1.0)
            except jax.errors.JaxRuntimeError as error:
                print("said-by-the-callback" in str(error))
        """)
        self.assertEqual(said, ["True"])

    def test_what_a_callback_raises_is_the_error_of_its_results(self):
        # A separate process, because JAX reports the error again when the process ends.
        said = output("""
            import jax, jax.numpy as jnp
            def fails(x):
                raise RuntimeError("said-by-the-callback")
            result = jax.jit(lambda x: jax.pure_callback(fails, jax.ShapeDtypeStruct(x.shape, x.dtype), x))(jnp.ones(3))
            try:
                jax.block_until_ready(result)
            except jax.errors.JaxRuntimeError as error:
                print("said-by-the-callback" in str(error))
        """)
        self.assertEqual(said, ["True"])

    def test_ordered_calls_go_on_after_one_that_raised(self):
        said = output("""
            import jax
            from jax.experimental import io_callback
            def fails(x):
                raise RuntimeError("said-by-the-callback")
            def run(call, x):
                try:
                    jax.jit(lambda x: io_callback(call, None, x, ordered=True))(x)
                    jax.effects_barrier()
                except jax.errors.JaxRuntimeError:
                    print("failed")
            run(fails, 1), run(print, 2), run(print, 3)
        """)
        self.assertEqual(said, ["failed", "2", "3"])

    def test_results_that_devices_cannot_share_evenly_are_whole(self):
        said = output("""
            import jax, jax.numpy as jnp, numpy as np
            from jax.sharding import AxisType, NamedSharding, PartitionSpec as P
            mesh = jax.make_mesh((4,), ("a",), axis_types=(AxisType.Auto,))
            a = np.arange(32.0, dtype=np.float32).reshape(16, 2)
            x = jax.device_put(a, NamedSharding(mesh, P("a")))
            difference = jax.jit(lambda x: x[1:] - x[:-1])(x)
            np.testing.assert_array_equal(difference, a[1:] - a[:-1])
            # What JAX says of them must fit when they are arguments.
            print(jax.jit(jnp.sum)(difference), jax.jit(lambda x: x + 1)(x).sharding.spec)
        """, HLO_NUM_DEVICES="4")
        self.assertEqual(said, ["60.0", "P('a',)"])

    def test_manual_parts_have_elements_of_all_types(self):
        said = output("""
            import jax, jax.numpy as jnp, numpy as np
            from jax.sharding import AxisType, PartitionSpec as P
            mesh = jax.make_mesh((2,), ("a",), axis_types=(AxisType.Auto,))
            for name in ("float8_e5m2 float8_e4m3 float8_e4m3fn float8_e5m2fnuz float8_e4m3fnuz float8_e4m3b11fnuz float8_e3m4 "
                         "float8_e8m0fnu float4_e2m1fn bfloat16 int4 uint2").split():
                x = jnp.ones(4, name)
                f = jax.shard_map(lambda x: x, mesh=mesh, in_specs=P("a"), out_specs=P("a"))
                print((np.asarray(jax.jit(f)(x)) == np.asarray(x)).all())
        """, HLO_NUM_DEVICES="2")
        self.assertEqual(said, ["True"] * 12)

    def test_several_devices_share_a_program(self):
        said = output("""
            import jax, jax.numpy as jnp, numpy as np
            from jax.sharding import AxisType, NamedSharding, PartitionSpec as P
            mesh = jax.make_mesh((2, 2), ("x", "y"), axis_types=(AxisType.Auto,) * 2)
            a = np.arange(32.0, dtype=np.float32).reshape(8, 4)
            whole = jax.device_put(a, NamedSharding(mesh, P("x", "y")))
            product = jax.jit(lambda a: jnp.tanh(a / 9) @ a.T)(whole)
            np.testing.assert_allclose(product, np.tanh(a / 9) @ a.T, rtol=1e-5)
            f = jax.shard_map(lambda a: jax.lax.psum(a, "x"), mesh=mesh, in_specs=P("x", "y"), out_specs=P(None, "y"))
            np.testing.assert_array_equal(jax.jit(f)(whole), a[:4] + a[4:])
            print(len(jax.devices()), len(product.sharding.device_set))
        """, HLO_NUM_DEVICES="4")
        self.assertEqual(said, ["4", "4"])

    def test_summands_are_added_where_they_are_needed(self):
        said = output("""
            import jax, numpy as np
            from jax.sharding import AxisType, PartitionSpec as P
            jax.set_mesh(jax.make_mesh((2, 2), ("x", "y"), axis_types=(AxisType.Explicit,) * 2))
            x = jax.device_put(np.arange(32.0).reshape(4, 8), P("x", "y"))
            w = jax.device_put(np.arange(32.0).reshape(8, 4), P("y", None))
            spec = P("x", None, unreduced={"y"})
            product = jax.jit(lambda x, w: jax.numpy.dot(x, w, out_sharding=spec))
            assert "all-reduce" not in product.lower(x, w).compile().as_text()
            parts = product(x, w)
            assert parts.sharding.spec == spec, parts.sharding
            total = jax.jit(lambda p: jax.reshard(p + p, P("x", "y")))(parts)
            assert total.sharding.spec == P("x", "y"), total.sharding
            np.testing.assert_array_equal(total, 2 * (np.asarray(x) @ np.asarray(w)))
            print(*[float(np.asarray(s.data)[0, 0]) for s in parts.addressable_shards])
        """, HLO_NUM_DEVICES="4")
        # The values of the shards on jaxlib's devices.
        self.assertEqual(said, ["56.0", "504.0", "440.0", "1912.0"])

    def test_a_print_is_of_one_device_or_of_each(self):
        said = output("""
            import jax, numpy as np
            from jax.sharding import NamedSharding, PartitionSpec as P
            x = jax.device_put(np.arange(8), NamedSharding(jax.make_mesh((4,), ("x",)), P("x")))
            said = []

            @jax.jit
            def show(x):
                jax.debug.callback(lambda x: said.append("-".join(map(str, x))), x)
                jax.debug.callback(lambda x: said.append("-".join(map(str, x))), x, partitioned=True)
                jax.debug.inspect_array_sharding(x * 2, callback=lambda s: said.append(s.spec[0]))
                return x
            show(x)
            jax.effects_barrier()
            print(*said)
        """, HLO_NUM_DEVICES="4")
        self.assertEqual(sorted(said), ["0-1", "0-1-2-3-4-5-6-7", "2-3", "4-5", "6-7", "x"])

    def test_ordered_effects_on_several_devices(self):
        said = output("""
            import jax, jax.numpy as jnp, numpy as np
            from jax.experimental import io_callback
            from jax.sharding import NamedSharding, PartitionSpec as P
            mesh = jax.make_mesh((4,), ("x",))
            said = []

            def note(name, x):
                said.append(f"{name}{int(x[0])}")
                return x + 1
            def twice(x):
                y = io_callback(lambda x: note("a", x), x, x, ordered=True)
                return io_callback(lambda x: note("b", x), x, y * 2, ordered=True)
            f = jax.jit(twice, in_shardings=NamedSharding(mesh, P("x")))
            for n in range(3):
                result = f(np.arange(8.0, dtype=np.float32) + n)
            np.testing.assert_array_equal(result, (np.arange(8) + 3) * 2 + 1)
            jax.effects_barrier()
            print(*said)
        """, HLO_NUM_DEVICES="4")
        self.assertEqual(said, ["a0", "b2", "a1", "b4", "a2", "b6"])

    def test_runs_at_the_same_time_call_their_own_functions(self):
        said = output("""
            import jax, numpy as np, time
            from jax.sharding import NamedSharding, PartitionSpec as P
            x = jax.device_put(np.arange(8), NamedSharding(jax.make_mesh((4,), ("x",)), P("x")))
            said = {"a": [], "b": []}

            def showing(name):
                def show(x):
                    time.sleep(0.02)
                    said[name].append(int(x.sum()))
                return jax.jit(lambda x: (jax.debug.callback(show, x), jax.debug.callback(show, x, partitioned=True), x)[2])
            a, b = showing("a"), showing("b")
            for n in range(5):
                a(x)
                b(x + 1)
            jax.effects_barrier()
            print(len(said["a"]), sum(said["a"]), len(said["b"]), sum(said["b"]))
        """, HLO_NUM_DEVICES="4")
        self.assertEqual(said, ["25", "280", "25", "360"])

    def test_a_program_may_end_before_its_runs(self):
        for _ in range(3):
            said = output("""
                import jax, numpy as np, time
                from jax.sharding import NamedSharding, PartitionSpec as P
                x = jax.device_put(np.arange(8), NamedSharding(jax.make_mesh((4,), ("x",)), P("x")))
                show = lambda x: time.sleep(0.05)
                f = jax.jit(lambda x: (jax.debug.callback(show, x), jax.debug.callback(show, x, partitioned=True), x)[2])
                for n in range(4):
                    f(x + n)
                print("end")
            """, HLO_NUM_DEVICES="4")
            self.assertEqual(said, ["end"])

    def test_functions_are_partitioned_as_they_say(self):
        said = output("""
            import jax, jax.numpy as jnp, numpy as np
            from jax.experimental.custom_partitioning import custom_partitioning
            from jax.sharding import NamedSharding, PartitionSpec as P
            mesh = jax.make_mesh((4,), ("x",))

            @custom_partitioning
            def normalized(x):
                return x / x.sum()

            def partition(mesh, arguments, result):
                rows = NamedSharding(mesh, P("x", None))
                return mesh, lambda x: x / jax.lax.psum(x.sum(), "x"), rows, (rows,)
            normalized.def_partition(partition, sharding_rule="i j -> i j")
            x = np.arange(32, dtype=np.float32).reshape(8, 4)
            f = jax.jit(lambda x: normalized(2 * x), out_shardings=NamedSharding(mesh, P(None, "x")))
            with mesh:
                result = f(jax.device_put(x, NamedSharding(mesh, P("x", None))))
            np.testing.assert_allclose(result, x / x.sum(), rtol=1e-6)
            a = np.random.RandomState(0).randn(8, 5, 5).astype(np.float32)
            a = a + a.swapaxes(1, 2)
            eigen = jax.jit(jnp.linalg.eigh).lower(jax.device_put(a, NamedSharding(mesh, P("x")))).compile()
            np.testing.assert_allclose(eigen(jax.device_put(a, NamedSharding(mesh, P("x"))))[0], np.linalg.eigvalsh(a), rtol=1e-4, atol=1e-5)
            print(result.sharding.spec[1], "all-gather" in eigen.as_text())
        """, HLO_NUM_DEVICES="4")
        self.assertEqual(said, ["x", "False"])

    def test_arrays_lie_as_their_formats_say(self):
        said = output("""
            import jax, numpy as np
            from jax.experimental.layout import Format, Layout
            x = np.arange(12, dtype=np.float32).reshape(3, 4)
            columns = Format(Layout((1, 0)), jax.sharding.SingleDeviceSharding(jax.devices()[0]))
            a = jax.device_put(x, columns)
            np.testing.assert_array_equal(a, x)
            np.testing.assert_array_equal(np.from_dlpack(a), x)
            both = jax.jit(lambda a: (a + 1, a.T), in_shardings=columns, out_shardings=(columns, Format(Layout.AUTO)))
            more, transposed = both(a)
            np.testing.assert_array_equal(more, x + 1)
            np.testing.assert_array_equal(transposed, x.T)
            lies = [y.format.layout.major_to_minor for y in (a, more, transposed)]
            print(np.from_dlpack(a).strides[0], *["".join(map(str, order)) for order in lies])
        """)
        self.assertEqual(said, ["4", "10", "10", "01"])

    def test_programs_are_kept_on_disk(self):
        program = """
            import jax, jax.numpy as jnp
            hits = []
            jax.monitoring.register_event_listener(lambda name, **_: hits.append(name.endswith("cache_hits")))
            jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)
            jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)
            print(jax.jit(lambda x: jnp.sin(x) * 2)(0.5), sum(hits))
        """
        with tempfile.TemporaryDirectory() as folder:
            first = output(program, JAX_COMPILATION_CACHE_DIR=folder)
            second = output(program, JAX_COMPILATION_CACHE_DIR=folder)
        self.assertEqual(first[0], second[0])
        self.assertEqual((int(first[1]), int(second[1]) > 0), (0, True))

    def test_both_engines_give_the_same(self):
        program = """
            import jax, jax.numpy as jnp
            x = jnp.linspace(-3, 3, 50).reshape(5, 10)
            print(jax.device_get(jax.jit(lambda x: jnp.sqrt(abs(x)) / (1 + x * x) - x.T[0, 0])(x)).tobytes().hex())
        """
        results = [output(program, HLO_ENGINE=engine) for engine in ("interpreted", "compiled", "tiered")]
        self.assertEqual(results, results[:1] * 3)


if __name__ == "__main__":
    unittest.main()
