"""Trains a convolutional network to recognize digits. It uses only JAX, on the HLO toolchain.

    JAX_PLATFORMS=hlo,cpu python mnist.py [--data FOLDER] [--epochs N] [--batch N]

The folder contains MNIST's four files, `train-images-idx3-ubyte.gz` and so on, compressed or not. Missing files are downloaded.
"""

import argparse
import gzip
import time
import urllib.request
import zlib
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

SOURCE = "https://storage.googleapis.com/cvdf-datasets/mnist/"
FILES = ["train-images-idx3-ubyte", "train-labels-idx1-ubyte", "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"]


def idx(folder, name):
    """Reads an array of bytes from a file in MNIST's format. Downloads the file if it is missing."""
    plain, packed = folder / name, folder / f"{name}.gz"
    if not plain.exists() and not packed.exists():
        folder.mkdir(parents=True, exist_ok=True)
        part = packed.with_suffix(".part")
        try:
            urllib.request.urlretrieve(SOURCE + packed.name, part)
        except OSError as error:
            raise SystemExit(f"mnist: {packed} is not there, and {SOURCE} can't be reached: {error}") from None
        part.rename(packed)
    try:
        data = plain.read_bytes() if plain.exists() else gzip.decompress(packed.read_bytes())
        sizes = np.frombuffer(data, ">i4", data[3], 4)
        return np.frombuffer(data, np.uint8, offset=4 + 4 * len(sizes)).reshape(sizes)
    except (OSError, EOFError, IndexError, ValueError, zlib.error) as error:
        raise SystemExit(f"mnist: {folder / name} is none of MNIST's files: {error}") from None


def positive(text):
    """Parses a command-line argument that must be a number of at least 1."""
    number = int(text)
    if number < 1:
        raise ValueError(text)
    return number


def initial(key):
    """Returns the initial parameters of the network: two convolutions and two dense layers."""
    shapes = {"c1": (3, 3, 1, 16), "c2": (3, 3, 16, 32), "d1": (7 * 7 * 32, 64), "d2": (64, 10)}
    keys = jax.random.split(key, len(shapes))
    weights = {n: jax.random.normal(k, s) * (2 / np.prod(s[:-1])) ** 0.5 for k, (n, s) in zip(keys, shapes.items())}
    return weights | {f"{n}_bias": jnp.zeros(s[-1]) for n, s in shapes.items()}


def scores(p, images):
    """Returns the score of each digit for images of shape [n, 28, 28, 1]."""
    x = images
    for layer in "c1", "c2":
        x = lax.conv_general_dilated(x, p[layer], (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
        x = jax.nn.relu(x + p[f"{layer}_bias"])
        x = lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
    x = jax.nn.relu(x.reshape(len(x), -1) @ p["d1"] + p["d1_bias"])
    return x @ p["d2"] + p["d2_bias"]


def loss(p, images, digits):
    """Returns the mean cross entropy."""
    return -jnp.take_along_axis(jax.nn.log_softmax(scores(p, images)), digits[:, None], 1).mean()


@jax.jit
def step(p, moments, images, digits):
    """Performs one step of gradient descent with momentum."""
    value, gradient = jax.value_and_grad(loss)(p, images, digits)
    moments = jax.tree.map(lambda m, g: 0.9 * m + g, moments, gradient)
    return jax.tree.map(lambda p, m: p - 0.02 * m, p, moments), moments, value


@jax.jit
def right(p, images, digits):
    """Returns the number of digits that are recognized correctly."""
    return (scores(p, images).argmax(1) == digits).sum()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("mnist"), help="MNIST's files (%(default)s)")
    parser.add_argument("--epochs", type=positive, default=3, help="how often each image is seen (%(default)s)")
    parser.add_argument("--batch", type=positive, default=128, help="images of a step (%(default)s)")
    options = parser.parse_args()
    images, digits, test_images, test_digits = (idx(options.data, name) for name in FILES)
    images, test_images = (x[..., None].astype(np.float32) / 255 for x in (images, test_images))
    if options.batch > len(images):
        raise SystemExit(f"mnist: a batch of {options.batch} is more than the {len(images)} images that there are")
    digits, test_digits = digits.astype(np.int32), test_digits.astype(np.int32)
    print(f"{len(images)} images, {len(test_images)} to test, on {jax.devices()[0].device_kind}")

    p = initial(jax.random.key(0))
    moments = jax.tree.map(jnp.zeros_like, p)
    shuffled = np.random.default_rng(0)
    for epoch in range(options.epochs):
        start, order = time.perf_counter(), shuffled.permutation(len(images))
        total = 0.0
        batches = range(0, len(images) - options.batch + 1, options.batch)
        for at in batches:
            chosen = order[at : at + options.batch]
            p, moments, value = step(p, moments, images[chosen], digits[chosen])
            total += value
        # Reading the total waits for the steps, which run asynchronously.
        mean = float(total) / len(batches)
        seconds = time.perf_counter() - start
        good = sum(int(right(p, test_images[at : at + 1000], test_digits[at : at + 1000]))
                   for at in range(0, len(test_images), 1000))
        print(f"epoch {epoch + 1}: loss {mean:.4f}, {good / len(test_images):.2%} right, {seconds:.1f} s")


if __name__ == "__main__":
    main()
