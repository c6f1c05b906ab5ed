#!/bin/sh
# Runs the tests of python/ with a development build, in a virtual environment in target/: without JAX, and with the version of
# JAX that the package requires. Without Python 3.10 or access to PyPI, it skips the tests with a message; with
# HLO_PYTHON_REQUIRED=1 it fails instead.
#   scripts/test-python.sh [ARGUMENT …]      arguments of `python -m unittest` (default: all tests)
set -eu
cd "$(dirname "$0")/.."

left_out() {
    echo "test-python: left out: $1" >&2
    [ -z "${HLO_PYTHON_REQUIRED-}" ]
    exit
}

python=${PYTHON-python3}
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 10))' 2>/dev/null || left_out "there is no Python 3.10 ($python)"
jax=$(sed -n 's/^jax = \["\(.*\)"\]$/\1/p' python/pyproject.toml)
venv=$PWD/target/python/venv
if ! "$venv/bin/python" -c "import importlib.metadata as m, flatbuffers, numpy; assert 'jax==' + m.version('jax') == '$jax'" 2>/dev/null; then
    rm -rf "$venv"
    "$python" -m venv "$venv" >/dev/null 2>&1 || left_out "$python makes no virtual environments (Debian: python3-venv)"
    # jax.export needs flatbuffers to serialize programs.
    "$venv/bin/pip" install -q --retries 1 "$jax" flatbuffers || left_out "pip can't install $jax"
fi

# `make test` sets the variable and has already built the library.
if [ -z "${HLO_PJRT_LIBRARY-}" ]; then
    cargo build --locked -q -p hlo-pjrt
    HLO_PJRT_LIBRARY=${CARGO_TARGET_DIR-$PWD/target}/debug/libhlo_pjrt.so
fi
[ -e "$HLO_PJRT_LIBRARY" ] || { echo "test-python: there is no $HLO_PJRT_LIBRARY" >&2; exit 1; }
HLO_PJRT_LIBRARY=$(realpath "$HLO_PJRT_LIBRARY")
PYTHONPATH=$PWD/python
JAX_PLATFORMS=hlo,cpu
export HLO_PJRT_LIBRARY PYTHONPATH JAX_PLATFORMS
cd python/tests
[ "$#" -gt 0 ] || set -- discover
exec "$venv/bin/python" -W ignore -m unittest "$@"
