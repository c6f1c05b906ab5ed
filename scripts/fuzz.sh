#!/bin/sh
# Fuzzes the parser, hlo-opt, MLIR bytecode, StableHLO text, all forms and Tile for FUZZ_SECONDS (default 600) each.
# FUZZ_TARGETS selects targets from `parse hlo_opt bytecode stablehlo forms tile`. Further arguments go to libFuzzer.
# Installs cargo-fuzz if it is missing. Writes findings to fuzz/artifacts; docs/testing.md describes what to do with
# them.
set -eu
cd "$(dirname "$0")/.."

command -v cargo-fuzz >/dev/null || cargo install --locked cargo-fuzz
# cargo-fuzz sets unstable flags. This variable makes a stable compiler accept them.
export RUSTC_BOOTSTRAP=1
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-fuzz/target}"

# Seeds: every test module of up to 4 KB. For hlo_opt, a line with passes precedes the module.
mkdir -p fuzz/corpus/parse fuzz/corpus/hlo_opt fuzz/corpus/bytecode fuzz/corpus/stablehlo fuzz/corpus/forms fuzz/corpus/tile
pipeline="algsimp,constant_folding,cse,dce,call-inliner,fusion"
find test bench -name '*.hlo' -size -9 | sort | while read -r file; do
    name=$(echo "$file" | tr '/' '-')
    passes=$(sed -n "s/^.*--passes=['\"]\{0,1\}\([^ '\"]*\).*$/\1/p" "$file" | head -n 1)
    cp "$file" "fuzz/corpus/parse/$name"
    { echo "${passes:-$pipeline}"; cat "$file"; } > "fuzz/corpus/hlo_opt/$name"
done

# Random modules, with every opcode.
cargo run -q --target-dir target -p hlo-testing --example random_modules -- 0 532 4 |
    awk '/^\/\/ -----$/ { n++; next } { print > ("fuzz/corpus/parse/random-" n) }'
for file in fuzz/corpus/parse/random-*; do
    { echo "$pipeline"; cat "$file"; } > "fuzz/corpus/hlo_opt/$(basename "$file")"
done

cp lib/hlo-stablehlo/tests/suite/bytecode/testdata/*.mlirbc fuzz/corpus/bytecode
find lib/hlo-stablehlo test/stablehlo -name '*.mlir' -size -17 | sort | while read -r file; do
    cp "$file" "fuzz/corpus/stablehlo/$(echo "$file" | tr '/' '-')"
done

# Forms: test modules as protocol buffers, and the seeds of StableHLO.
cargo build -q --locked --target-dir target --no-default-features --features libraries --bin hlo-opt
find test -name '*.hlo' -size -5 | sort | while read -r file; do
    target/debug/hlo-opt "$file" --emit=proto -o "fuzz/corpus/forms/$(echo "$file" | tr '/' '-').pb" 2>/dev/null || true
done
cp fuzz/corpus/bytecode/* fuzz/corpus/stablehlo/* fuzz/corpus/forms
find test docs lib/hlo-tile -name '*.tile' -size -17 | sort | while read -r file; do
    cp "$file" "fuzz/corpus/tile/$(echo "$file" | tr '/' '-')"
done

for target in ${FUZZ_TARGETS:-parse hlo_opt bytecode stablehlo forms tile}; do
    # No sanitizer: the code under test contains almost no unsafe blocks, and runs several times as fast without one.
    cargo fuzz run -s none "$target" -- -dict=fuzz/hlo.dict -max_total_time="${FUZZ_SECONDS:-600}" \
        -max_len=8192 -timeout=5 -rss_limit_mb=2048 -malloc_limit_mb=512 "$@"
done
