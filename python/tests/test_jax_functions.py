"""Compares JAX functions on the plugin to JAX's own CPU device: `JAX_PLATFORMS=hlo,cpu python test_jax_functions.py`."""

import unittest

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

KEY = jax.random.key(7)


def normal(*shape, dtype=np.float32):
    """Returns pseudorandom numbers that are the same in every run."""
    values = np.random.default_rng(len(shape) + sum(shape)).standard_normal(shape)
    return values.astype(dtype)


def scanned(weights, xs):
    """Returns the loss of a small recurrent network."""

    def step(state, x):
        state = jnp.tanh(state @ weights + x)
        return state, state.sum()

    state, sums = lax.scan(step, jnp.zeros(4, xs.dtype), xs)
    return (state**2).sum() + sums.mean()


def newton(x):
    """Computes the square root with a loop whose trip count is unknown."""
    return lax.while_loop(lambda y: abs(y * y - x) > 1e-10 * x, lambda y: (y + x / y) / 2, x)


@jax.custom_vjp
def clipped(x):
    return x


clipped.defvjp(lambda x: (x, None), lambda _, g: (jnp.clip(g, -1, 1),))

X, SQUARE, TALL = normal(6, 5), normal(5, 5), normal(7, 4)
POSITIVE = SQUARE @ SQUARE.T + 5 * np.eye(5, dtype=np.float32)
IMAGES, KERNEL = normal(2, 9, 8, 3), normal(3, 3, 3, 4)
Z = (normal(5, 5) + 1j * normal(5, 5).T).astype(np.complex64)

# The functions to compare, with their arguments. Each function is compiled as one program.
FUNCTIONS = {
    "elementwise": (lambda x: jnp.sin(x) * jnp.exp(-jnp.abs(x)) + jnp.log1p(x**2) / jnp.cosh(x), X),
    "special": (lambda x: (lax.erf(x), lax.lgamma(abs(x) + 1), lax.digamma(abs(x) + 1), lax.erf_inv(x / 9)), X),
    "integers": (lambda n: (n // 3, n % 3, n << 2, n ^ 5, lax.population_count(n), lax.clz(n)), np.arange(-9, 9)),
    "narrow floats": (lambda x: x.astype(jnp.bfloat16) * 3 + x.astype(jnp.float16).astype(jnp.bfloat16), X),
    "complex numbers": (lambda z: (jnp.sqrt(z) * jnp.exp(z), jnp.arctan(z), abs(z), z.conj() @ z), Z),
    "reductions": (lambda x: (x.sum(0), x.max(1), jnp.argmin(x), x.std(), jax.nn.logsumexp(x, 1)), X),
    "running": (lambda x: (jnp.cumsum(x, 0), lax.cummax(x, 1), lax.associative_scan(jnp.multiply, x)), X),
    "sorting": (lambda x: (jnp.sort(x, 0), jnp.argsort(x, 1), lax.top_k(x, 3), jnp.median(x)), X),
    "contractions": (lambda a, b: (a @ b, jnp.einsum("ij,kj->ik", a, b), jnp.tensordot(a, b, 2)), SQUARE, POSITIVE),
    "convolution": (lambda x, k: lax.conv_general_dilated(
        x, k, (2, 1), "SAME", rhs_dilation=(1, 2), dimension_numbers=("NHWC", "HWIO", "NHWC")), IMAGES, KERNEL),
    "pooling": (lambda x: lax.reduce_window(x, -np.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID"), IMAGES),
    "indexing": (lambda x, n: (x[n], x.at[n].add(1), x.at[1:3].set(0), jnp.take(x, n, 1)), X, np.array([4, 0, 4])),
    "slices": (lambda x, n: lax.dynamic_update_slice(x, lax.dynamic_slice(x, (n, 1), (2, 3)), (0, n)), X, 2),
    "shapes": (lambda x: (x.T.reshape(3, 10)[::-1], jnp.pad(x, 2, "edge"), jnp.concatenate([x, x], 1), jnp.roll(x, 2)), X),
    "loop": (newton, np.float64(7)),
    "branches": (lambda n, x: lax.switch(n, [jnp.sin, jnp.cos, jnp.tan], x), 2, X),
    "gradient of a scan": (jax.grad(scanned), normal(4, 4) / 3, normal(8, 4)),
    "second derivatives": (jax.hessian(lambda x: (jnp.sin(x) * x[::-1] ** 2).sum()), normal(4)),
    "checkpoint": (jax.grad(jax.checkpoint(lambda x: jnp.sin(jnp.sin(x) @ x.T).sum())), X),
    "own rule": (jax.grad(lambda x: (clipped(x) ** 3).sum()), X),
    "vmap": (jax.vmap(lambda m, v: jnp.linalg.solve(m, v)), np.stack([POSITIVE, POSITIVE + 1]), normal(2, 5)),
    "cholesky": (jnp.linalg.cholesky, POSITIVE),
    "symmetric eigenvalues": (lambda a: jnp.linalg.eigh(a)[0], POSITIVE),
    "eigenvalues": (lambda a: jnp.sort(jnp.linalg.eigvals(a)), SQUARE),
    "singular values": (lambda a: jnp.linalg.svd(a, compute_uv=False), TALL),
    "least squares": (lambda a, b: jnp.linalg.lstsq(a, b)[0], TALL, normal(7)),
    "determinant": (lambda a: (jnp.linalg.det(a), jnp.linalg.inv(a)), POSITIVE),
    "exponential of a matrix": (jax.scipy.linalg.expm, SQUARE / 4),
    "fourier": (lambda x: (jnp.fft.rfft2(x), jnp.fft.ifft(x.astype(complex))), X),
    "random": (lambda: (jax.random.bits(KEY, (5,)), jax.random.normal(KEY, (5,)), jax.random.permutation(KEY, 9)),),
    "random distributions": (lambda: (jax.random.gamma(KEY, 2.0, (4,)), jax.random.poisson(KEY, 3.0, (6,)),
                                      jax.random.categorical(KEY, jnp.zeros(5), shape=(3,))),),
    "attention": (lambda q: jax.nn.dot_product_attention(q, q, q, is_causal=True), normal(2, 6, 2, 4)),
    "no elements": (lambda x: (x[:0].sum(), jnp.concatenate([x[:0], x]), x[:, :0] @ x[:, :0].T), X),
}


def on(device, function, arguments):
    """Returns the results of a compiled function on a device."""
    with jax.default_device(device):
        return jax.tree.leaves(jax.jit(function)(*jax.device_put(arguments, device)))


class Functions(unittest.TestCase):
    def setUp(self):
        jax.config.update("jax_enable_x64", True)
        self.addCleanup(jax.config.update, "jax_enable_x64", False)

    def test_results_are_those_of_jax(self):
        own, other = jax.devices()[0], jax.devices("cpu")[0]
        self.assertNotEqual(own, other)
        for name, (function, *arguments) in FUNCTIONS.items():
            with self.subTest(name):
                found, wanted = on(own, function, arguments), on(other, function, arguments)
                self.assertEqual(len(found), len(wanted))
                for x, y in zip(found, wanted):
                    self.assertEqual((x.dtype, x.shape, x.devices()), (y.dtype, y.shape, {own}))
                    x, y = np.asarray(x), np.asarray(y)
                    if x.dtype.kind in "iub":
                        np.testing.assert_array_equal(x, y)
                    else:
                        wide = np.complex128 if x.dtype.kind == "c" else np.float64
                        near = 2e-2 if x.dtype.itemsize < 4 else 2e-4
                        np.testing.assert_allclose(x.astype(wide), y.astype(wide), rtol=near, atol=near)


if __name__ == "__main__":
    unittest.main()
