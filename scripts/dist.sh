#!/bin/sh
# `make dist`: builds a tarball of the tools, with manual pages and completions. The tools run without Rust and LLVM.
#   scripts/dist.sh [PROFILE]       the profile of cargo (default: release)
set -eu
cd "$(dirname "$0")/.."
. scripts/portable.sh
profile=${1-release}
case $profile in dev) folder=debug ;; *) folder=$profile ;; esac
binaries="hlo-opt hlo-run hlo-diff hlo-reduce hlo-lsp hlo-serve"
out=$PWD/target/dist

archives "$out/archives"
HLO_STATIC_LIBRARIES=$out/archives cargo build --profile "$profile" --locked --lib --bins \
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
    check_needed "$program"
    "$program" --man >"$share/man/man1/$binary.1"
    "$program" --completions=bash >"$share/bash-completion/completions/$binary"
    "$program" --completions=zsh >"$share/zsh/site-functions/_$binary"
    "$program" --completions=fish >"$share/fish/vendor_completions.d/$binary.fish"
done
# The library from which `hlo-run --aot` extracts the runtime of programs.
strip --strip-debug -o "$tree/lib/hlo-tools/libhlo_aot_runtime.a" "$built/libhlo_aot_runtime.a"
cp -r README.md CHANGELOG.md LICENSE LICENSE-APACHE LICENSE-MIT docs examples "$share/doc/hlo-tools"

# Check that the packed tools work.
env -i PATH=/usr/bin:/bin sh scripts/example.sh "$tree/bin" >/dev/null || { echo "dist: the example fails" >&2; exit 1; }
"$tree/bin/hlo-run" -q test/corpus/mlp_forward/module.hlo --aot=mlp -o "$out/aot" && [ -s "$out/aot/libhlo_runtime.a" ] ||
    { echo "dist: a program ahead of time has no runtime" >&2; exit 1; }
rm -rf "$out/aot"

# Make the archive reproducible: the same files always produce the same archive.
time=${SOURCE_DATE_EPOCH-$(git log -1 --format=%ct 2>/dev/null || echo 0)}
tar --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$time" -C "$out" -czf "$out/$name.tar.gz" "$name"
rm -rf "$tree"
oldest=$(oldest_glibc "$built/hlo-run" "$built/hlo-opt")
echo "dist: $out/$name.tar.gz ($(du -h "$out/$name.tar.gz" | cut -f1)); it needs glibc $oldest or newer"
