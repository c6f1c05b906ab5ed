#!/bin/sh
# Runs the execution tests and the corpus with hlo-run under valgrind's memcheck: compiled code, its runtime and the
# interpreter. A finding fails the test and is shown. Arguments are filters of test names (all of test/exec and the
# corpus without any). Takes an hour or more.
set -eu
cd "$(dirname "$0")/.."

command -v valgrind >/dev/null || { echo "memcheck: valgrind is not installed (apt-get install valgrind)" >&2; exit 1; }
cargo build --locked --bin hlo-run
# Valgrind gives up on debug information that is newer than it; the names of functions are enough.
mkdir -p target/memcheck
strip --strip-debug -o target/memcheck/hlo-run "${CARGO_TARGET_DIR:-target}/debug/hlo-run"

# 101 is what no test takes for a failure that it expects.
HLO_RUN="valgrind -q --error-exitcode=101 $PWD/target/memcheck/hlo-run"
export HLO_RUN
export HLO_LIT_TIMEOUT=3600
cargo test --locked --test lit -- "${1:-exec/}"
cargo test --locked --test corpus -- "${1:-}"
