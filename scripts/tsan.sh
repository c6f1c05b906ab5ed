#!/bin/sh
# Runs random collectives between devices under ThreadSanitizer, which needs a nightly compiler. The argument is the number of
# runs (default 200).
set -eu
cd "$(dirname "$0")/.."

target=x86_64-unknown-linux-gnu
rustc +nightly --version >/dev/null 2>&1 || { echo "tsan: there is no nightly compiler (rustup toolchain install nightly)" >&2; exit 1; }
# The standard library is not compiled with ThreadSanitizer. So data that its locks protect looks unprotected when a lock had
# to wait.
suppressions=$(mktemp)
trap 'rm -f "$suppressions"' EXIT
printf 'race:hlo_communicator::process::Waiting\nrace:hlo_communicator::process::Process>::deadlock\nrace:hlo_communicator::mail::\nrace:Option<(usize, hlo_communicator::Failure)>\n' > "$suppressions"
export TSAN_OPTIONS="halt_on_error=1 suppressions=$suppressions"
RUSTFLAGS="-g -Cstrip=none -Zsanitizer=thread -Cunsafe-allow-abi-mismatch=sanitizer"
export RUSTFLAGS
export CARGO_PROFILE_RELEASE_STRIP=false
CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-target}/tsan
export CARGO_TARGET_DIR
cargo +nightly run --locked --release --target "$target" -p hlo-communicator --example stress -- "${1:-200}"
