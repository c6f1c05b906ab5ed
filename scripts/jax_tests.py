"""What scripts/jax-tests.sh tells pytest: to keep the tests of some of twenty classes."""

import os
import zlib

CLASSES = {int(n) for n in os.environ.get("HLO_JAX_CLASSES", "0").split(",")}


def pytest_collection_modifyitems(config, items):
    dropped = [item for item in items if zlib.crc32(item.nodeid.encode()) % 20 not in CLASSES]
    items[:] = [item for item in items if zlib.crc32(item.nodeid.encode()) % 20 in CLASSES]
    config.hook.pytest_deselected(items=dropped)
