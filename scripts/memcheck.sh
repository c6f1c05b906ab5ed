#!/bin/sh
# Runs the execution tests and the corpus with hlo-run under valgrind's memcheck, which checks compiled code, the runtime and
# the interpreter. The argument is a substring of the names of the tests to run. Without it, the script runs all of test/exec
# and the corpus, which takes hours. It shows findings at the end.
set -eu
cd "$(dirname "$0")/.."

command -v valgrind >/dev/null || { echo "memcheck: valgrind is not installed (apt-get install valgrind)" >&2; exit 1; }
cargo build --locked --bin hlo-run
work=$PWD/target/memcheck
rm -rf "$work"
mkdir -p "$work"
# Valgrind fails on debug information that is newer than itself. The names of functions are sufficient.
strip --strip-debug -o "$work/hlo-run" "${CARGO_TARGET_DIR:-target}/debug/hlo-run"

export HLO_RUN="valgrind -q --log-file=$work/%p.log $work/hlo-run"
export HLO_LIT_TIMEOUT=3600
# The exit codes of the tests are ignored, because valgrind computes some comparisons with NaN incorrectly.
cargo test --locked --test lit -- "${1:-exec/}" || true
cargo test --locked --test corpus -- "${1:-}" || true
# Ahead-of-time programs: these tests build them with hlo-run and run them directly.
export HLO_AOT_RUN="valgrind -q --log-file=$work/aot-%p.log"
# Valgrind does not support AVX-512. Programs for a different CPU may compute different bits, which does not matter here.
export HLO_AOT_CPU=x86-64-v3
cargo test --locked --test suite aot::c_programs || true

runs=$(find "$work" -name '*.log' | wc -l)
findings=$(find "$work" -name '*.log' -size +0)
if [ "$runs" -eq 0 ]; then
    echo "memcheck: nothing was run" >&2
    exit 1
fi
if [ -n "$findings" ]; then
    cat $findings >&2
    exit 1
fi
echo "memcheck: $runs runs without findings"
