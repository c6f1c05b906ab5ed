#!/bin/sh
# `make wheel`: builds the Python package, with the plugin for JAX and the tools, as a wheel that needs neither Rust nor LLVM.
#   scripts/wheel.sh [PROFILE]      the profile of cargo (default: release)
set -eu
cd "$(dirname "$0")/.."
. scripts/portable.sh
profile=${1-release}
case $profile in dev) folder=debug ;; *) folder=$profile ;; esac
built=${CARGO_TARGET_DIR-target}/$folder
out=$PWD/target/wheel
tools="hlo-opt hlo-run hlo-diff hlo-reduce"

rm -rf "$out"
archives "$out/archives"
HLO_STATIC_LIBRARIES=$out/archives cargo build --profile "$profile" --locked --lib --bins -p hlo-tools -p hlo-pjrt

tree=$out/tree
cp -r python "$tree"
mkdir -p "$tree/hlo/bin" "$tree/hlo/lib"
for tool in $tools; do cp "$built/$tool" "$tree/hlo/bin/"; done
strip --strip-unneeded -o "$tree/hlo/lib/libhlo_pjrt.so" "$built/libhlo_pjrt.so"
cp LICENSE LICENSE-APACHE LICENSE-MIT "$tree/"
for file in "$tree"/hlo/bin/* "$tree/hlo/lib/libhlo_pjrt.so"; do check_needed "$file"; done
oldest=$(oldest_glibc "$tree"/hlo/bin/* "$tree/hlo/lib/libhlo_pjrt.so" | tr . _)
HLO_VERSION=$("$built/hlo-opt" --version | cut -d' ' -f2)
export HLO_VERSION

# The build tools are installed in a virtual environment, so nothing is installed on the system.
python3 -m venv "$out/venv"
"$out/venv/bin/pip" install -q "setuptools>=70.1"
(cd "$tree" && "$out/venv/bin/python" -W ignore setup.py -q bdist_wheel --plat-name "manylinux_${oldest}_$(uname -m)" --dist-dir "$out")
rm -rf "$tree" "$out/archives" "$out/venv"
echo "wheel: $(ls "$out"/*.whl) ($(du -h "$out"/*.whl | cut -f1))"
