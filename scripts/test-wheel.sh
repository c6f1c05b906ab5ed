#!/bin/sh
# `make test-wheel`: the wheel of `make wheel` in a new virtual environment, without JAX and with it.
set -eu
cd "$(dirname "$0")/.."
out=$PWD/target/wheel
wheel=$(ls "$out"/*.whl)
venv=$out/test
rm -rf "$venv"
python3 -m venv "$venv"
"$venv/bin/pip" install -q "$wheel"
# Nothing of this folder is found in place of what is installed.
cd "$out"
"$venv/bin/python" -m unittest discover -s ../../python/tests -p 'test_hlo.py'
"$venv/bin/hlo-opt" ../../docs/examples/fit_line.hlo --emit=proto -o fit_line.pb
"$venv/bin/hlo-run" fit_line.pb --input 'f32[5] {0,1,2,3,4}' --input 'f32[5] {1,3,5,7,9}'
# What jax.export writes needs flatbuffers.
"$venv/bin/pip" install -q "$wheel[jax]" flatbuffers
JAX_PLATFORMS=hlo,cpu "$venv/bin/python" -m unittest discover -s ../../python/tests -p 'test_jax*.py'
rm -rf "$venv" fit_line.pb
