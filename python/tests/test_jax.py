"""Tests of JAX on the plugin: `JAX_PLATFORMS=hlo,cpu python test_jax.py`."""

import unittest

import jax
import jax.numpy as jnp
import numpy as np


class Jax(unittest.TestCase):
    def test_the_plugin_is_what_runs(self):
        self.assertIn("hlo-pjrt", jax.devices()[0].client.platform_version)

    def test_functions_are_compiled_and_differentiated(self):
        x = jnp.arange(6.0).reshape(2, 3)
        np.testing.assert_allclose(jax.jit(lambda x: jnp.sin(x) @ x.T)(x), np.sin(x) @ np.asarray(x).T, rtol=1e-6)
        gradient = jax.grad(lambda x: (jnp.tanh(x) ** 2).sum())(x)
        np.testing.assert_allclose(gradient, 2 * np.tanh(x) / np.cosh(x) ** 2, atol=1e-6)

    def test_loops_branches_and_random_numbers(self):
        total = jax.jit(lambda n: jax.lax.fori_loop(0, n, lambda i, s: s + i, 0))(10)
        self.assertEqual(int(total), 45)
        self.assertEqual(float(jax.jit(lambda p: jax.lax.cond(p, lambda: 1.0, lambda: 2.0))(True)), 1.0)
        with jax.default_device(jax.devices("cpu")[0]):
            wanted = np.asarray(jax.random.bits(jax.random.key(0), (7,)))
        np.testing.assert_array_equal(jax.random.bits(jax.random.key(0), (7,)), wanted)

    def test_linear_algebra(self):
        a = jax.random.normal(jax.random.key(1), (5, 5))
        q, r = jnp.linalg.qr(a)
        np.testing.assert_allclose(q @ r, a, atol=1e-5)
        u, s, vt = jnp.linalg.svd(a)
        np.testing.assert_allclose((u * s) @ vt, a, atol=1e-5)

    def test_python_is_called_back(self):
        def host(x):
            return np.asarray(x) + 1

        x = jnp.ones(3)
        got = jax.jit(lambda x: jax.pure_callback(host, jax.ShapeDtypeStruct(x.shape, x.dtype), x))(x)
        np.testing.assert_array_equal(got, [2, 2, 2])

    def test_a_model_learns(self):
        x = jax.random.normal(jax.random.key(2), (64, 4))
        y = x @ jnp.array([1.0, -2.0, 3.0, 0.5]) + 0.25
        parameters = (jnp.zeros(4), jnp.zeros(()))

        def loss(parameters):
            return ((x @ parameters[0] + parameters[1] - y) ** 2).mean()

        @jax.jit
        def step(parameters):
            value, gradient = jax.value_and_grad(loss)(parameters)
            return jax.tree.map(lambda p, g: p - 0.1 * g, parameters, gradient), value

        for _ in range(200):
            parameters, value = step(parameters)
        self.assertLess(float(value), 1e-6)

    def test_programs_are_exported_and_come_back(self):
        exported = jax.export.export(jax.jit(jnp.cos))(jax.ShapeDtypeStruct((4,), jnp.float32))
        again = jax.export.deserialize(exported.serialize())
        x = jnp.linspace(0.0, 1.0, 4)
        np.testing.assert_array_equal(again.call(x), jnp.cos(x))


if __name__ == "__main__":
    unittest.main()
