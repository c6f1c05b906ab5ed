#!/bin/sh
# Runs the execution tests and the corpus with hlo-run under valgrind's memcheck, which sees compiled code as it sees its
# runtime and the interpreter. An argument is a part of tests' names; without one all of test/exec and the corpus are
# run, which takes hours. Findings are shown at the end.
set -eu
cd "$(dirname "$0")/.."

command -v valgrind >/dev/null || { echo "memcheck: valgrind is not installed (apt-get install valgrind)" >&2; exit 1; }
cargo build --locked --bin hlo-run
work=$PWD/target/memcheck
rm -rf "$work"
mkdir -p "$work"
# Valgrind gives up on debug information that is newer than it; the names of functions are enough.
strip --strip-debug -o "$work/hlo-run" "${CARGO_TARGET_DIR:-target}/debug/hlo-run"

export HLO_RUN="valgrind -q --log-file=$work/%p.log $work/hlo-run"
export HLO_LIT_TIMEOUT=3600
# Results are not judged here: valgrind takes some comparisons with NaN for others than they are.
cargo test --locked --test lit -- "${1:-exec/}" || true
cargo test --locked --test corpus -- "${1:-}" || true
# Ahead-of-time programs, which these tests build by hlo-run and run themselves.
export HLO_AOT_RUN="valgrind -q --log-file=$work/aot-%p.log"
# Valgrind has no AVX-512. Programs for other processors than this one have other bits, which is of no account here.
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
