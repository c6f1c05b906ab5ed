#!/bin/sh
# `make test-wheel`: installs the wheel of `make wheel` in a new virtual environment and tests it, without and with JAX.
set -eu
cd "$(dirname "$0")/.."
out=$PWD/target/wheel
wheel=$(ls "$out"/*.whl)
venv=$out/test
rm -rf "$venv"
python3 -m venv "$venv"
"$venv/bin/pip" install -q "$wheel"
# Change the directory, so that Python imports the installed package and not the one in this folder.
cd "$out"
"$venv/bin/python" -m unittest discover -s ../../python/tests -p 'test_hlo.py'
"$venv/bin/hlo-opt" ../../docs/examples/fit_line.hlo --emit=proto -o fit_line.pb
"$venv/bin/hlo-run" fit_line.pb --input 'f32[5] {0,1,2,3,4}' --input 'f32[5] {1,3,5,7,9}'
# jax.export needs flatbuffers to serialize programs.
"$venv/bin/pip" install -q "$wheel[jax]" flatbuffers
JAX_PLATFORMS=hlo,cpu "$venv/bin/python" -m unittest discover -s ../../python/tests -p 'test_jax*.py'
rm -rf "$venv" fit_line.pb
