#!/bin/sh
# Runs JAX's own tests on the plugin. JAX is a checkout of JAX's sources, at the version in python/pyproject.toml:
#   scripts/jax-tests.sh JAX [--classes N[,N...]] [PYTHON]
# The crc32 of their names divides the tests into twenty classes. The default is class 0. A class takes about ten minutes.
# PYTHON needs the wheel of `make wheel`, JAX, pytest<9, pytest-timeout, absl-py, cloudpickle, filelock, hypothesis, mpmath, pillow,
# portpicker, rich, matplotlib and flatbuffers. The script lists failing tests at the end. The exit code is 1 if a test fails.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
[ "$#" -gt 0 ] || { sed -n '2,/^set/s/^# \{0,1\}//p' "$0"; exit 2; }
jax=$1
shift
classes=0
[ "${1-}" != --classes ] || { classes=$2; shift 2; }
python=${1-python3}
[ -e "$jax/tests/lax_test.py" ] || { echo "jax-tests: there is no tests/lax_test.py in $jax" >&2; exit 2; }
logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT
cd "$jax"
# The tests run in groups, one process for each group, because caches of jaxlib's compiler slow down a long process. Tests that
# need other devices are excluded.
ls tests/*_test.py tests/*/*_test.py | grep -v -E '^tests/(pallas|mosaic|multiprocess)/' | sort | split -n r/12 - "$logs/group."
for group in "$logs"/group.*; do
    # shellcheck disable=SC2046
    JAX_PLATFORMS=hlo,cpu JAX_SKIP_SLOW_TESTS=1 HLO_JAX_CLASSES=$classes PYTHONPATH=$here PYTHONDONTWRITEBYTECODE=1 \
        "$python" -m pytest -p jax_tests -p no:cacheprovider -q --timeout 200 --continue-on-collection-errors -rfE --tb=short \
        $(cat "$group") 2>&1 | tee -a "$logs/all" || true
done
echo
grep -E '^(FAILED|ERROR) ' "$logs/all" || true
awk '/^[0-9].* in [0-9.]+s/ { for (i = 1; i < NF; i++) n[$(i + 1)] += $i }
    END { printf "%d passed, %d failed, %d skipped, %d errors\n", n["passed,"] + n["passed"], n["failed,"] + n["failed"], n["skipped,"] + n["skipped"], n["error"] + n["errors"]; exit n["failed,"] + n["failed"] > 0 }' "$logs/all"
