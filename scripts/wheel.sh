#!/bin/sh
# `make wheel`: the Python package, with the plugin for JAX and the tools, as a wheel that needs neither Rust nor LLVM.
#   scripts/wheel.sh [PROFILE]      the profile of cargo; release unless given
set -eu
cd "$(dirname "$0")/.."
profile=${1-release}
case $profile in dev) folder=debug ;; *) folder=$profile ;; esac
built=${CARGO_TARGET_DIR-target}/$folder
out=$PWD/target/wheel
tools="hlo-opt hlo-run hlo-diff hlo-reduce"

# What is not on every computer comes from archives: see build.rs.
archives=$out/archives
rm -rf "$out"
mkdir -p "$archives"
for library in libstdc++.a libz.a libzstd.a; do
    path=$(cc -print-file-name="$library")
    [ -e "$path" ] || { echo "wheel: there is no $library" >&2; exit 1; }
    ln -s "$path" "$archives/$library"
done
HLO_STATIC_LIBRARIES=$archives cargo build --profile "$profile" --locked --lib --bins -p hlo-tools -p hlo-pjrt

tree=$out/tree
cp -r python "$tree"
mkdir -p "$tree/hlo/bin" "$tree/hlo/lib"
for tool in $tools; do cp "$built/$tool" "$tree/hlo/bin/"; done
strip --strip-unneeded -o "$tree/hlo/lib/libhlo_pjrt.so" "$built/libhlo_pjrt.so"
cp LICENSE LICENSE-APACHE LICENSE-MIT "$tree/"
for file in "$tree"/hlo/bin/* "$tree/hlo/lib/libhlo_pjrt.so"; do
    # Only glibc may be needed, and the library of GCC that comes with it.
    needed=$(ldd "$file" | awk '{ print $1 }' | sed 's|.*/||' |
        grep -Ev '^(linux-vdso|ld-linux.*|libc|libgcc_s|libm|libdl|librt|libpthread)\.so' || true)
    if [ -n "$needed" ]; then
        echo "wheel: $file needs what is not on every computer:" $needed >&2
        exit 1
    fi
done
oldest=$(for file in "$tree"/hlo/bin/* "$tree/hlo/lib/libhlo_pjrt.so"; do objdump -T "$file" 2>/dev/null; done |
    grep -o 'GLIBC_2\.[0-9]*' | sort -uV | tail -n 1 | cut -d. -f2)
HLO_VERSION=$("$built/hlo-opt" --version | cut -d' ' -f2)
export HLO_VERSION

# Built with tools of its own: nothing is installed on this computer.
python3 -m venv "$out/venv"
"$out/venv/bin/pip" install -q "setuptools>=70.1"
(cd "$tree" && "$out/venv/bin/python" setup.py -q bdist_wheel --plat-name "manylinux_2_${oldest}_$(uname -m)" --dist-dir "$out")
rm -rf "$tree" "$archives" "$out/venv"
echo "wheel: $(ls "$out"/*.whl) ($(du -h "$out"/*.whl | cut -f1))"
