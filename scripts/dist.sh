#!/bin/sh
# `make dist`: a tarball of the tools, with manual pages and completions, that runs where neither Rust nor LLVM is.
#   scripts/dist.sh [PROFILE]       the profile of cargo; release unless given
set -eu
cd "$(dirname "$0")/.."
profile=${1-release}
case $profile in dev) folder=debug ;; *) folder=$profile ;; esac
binaries="hlo-opt hlo-run hlo-diff hlo-reduce hlo-lsp hlo-serve"
out=$PWD/target/dist

# What is not on every computer comes from archives: see build.rs.
archives=$out/archives
rm -rf "$archives"
mkdir -p "$archives"
for library in libstdc++.a libz.a libzstd.a; do
    path=$(cc -print-file-name="$library")
    [ -e "$path" ] || { echo "dist: there is no $library" >&2; exit 1; }
    ln -s "$path" "$archives/$library"
done
HLO_STATIC_LIBRARIES=$archives cargo build --profile "$profile" --locked --lib --bins \
    -p hlo-tools -p hlo-lsp -p hlo-serve -p hlo-aot-runtime

built=target/$folder
version=$("$built/hlo-opt" --version | cut -d' ' -f2)
name=hlo-tools-$version-$(uname -m)-linux
tree=$out/$name
rm -rf "$tree"
share=$tree/share
mkdir -p "$tree/bin" "$share/man/man1" "$share/bash-completion/completions" "$share/zsh/site-functions" \
    "$share/fish/vendor_completions.d" "$share/doc/hlo-tools" "$tree/lib/hlo-tools"
for binary in $binaries; do
    program=$tree/bin/$binary
    cp "$built/$binary" "$program"
    # Only glibc may be needed, and the library of GCC that comes with it. (What needs nothing at all has no list.)
    needed=$(ldd "$program" | awk '{ print $1 }' | sed 's|.*/||' |
        grep -Ev '^(linux-vdso|ld-linux.*|libc|libgcc_s|libm|libdl|librt|libpthread)\.so' || true)
    if [ -n "$needed" ]; then
        echo "dist: $binary needs what is not on every computer:" $needed >&2
        exit 1
    fi
    "$program" --man >"$share/man/man1/$binary.1"
    "$program" --completions=bash >"$share/bash-completion/completions/$binary"
    "$program" --completions=zsh >"$share/zsh/site-functions/_$binary"
    "$program" --completions=fish >"$share/fish/vendor_completions.d/$binary.fish"
done
# What `hlo-run --aot` takes the runtime of programs from.
strip --strip-debug -o "$tree/lib/hlo-tools/libhlo_aot_runtime.a" "$built/libhlo_aot_runtime.a"
cp -r README.md CHANGELOG.md LICENSE LICENSE-APACHE LICENSE-MIT docs examples "$share/doc/hlo-tools"

# What is packed works.
env -i PATH=/usr/bin:/bin sh scripts/example.sh "$tree/bin" >/dev/null || { echo "dist: the example fails" >&2; exit 1; }
"$tree/bin/hlo-run" -q test/corpus/mlp_forward/module.hlo --aot=mlp -o "$out/aot" && [ -s "$out/aot/libhlo_runtime.a" ] ||
    { echo "dist: a program ahead of time has no runtime" >&2; exit 1; }
rm -rf "$out/aot"

# The same files give the same archive.
time=${SOURCE_DATE_EPOCH-$(git log -1 --format=%ct 2>/dev/null || echo 0)}
tar --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$time" -C "$out" -czf "$out/$name.tar.gz" "$name"
rm -rf "$tree"
oldest=$(for binary in hlo-run hlo-opt; do objdump -T "$built/$binary" 2>/dev/null; done |
    grep -o 'GLIBC_2\.[0-9]*' | sort -uV | tail -n 1)
echo "dist: $out/$name.tar.gz ($(du -h "$out/$name.tar.gz" | cut -f1)); it needs ${oldest:-glibc} or newer"
