#!/bin/sh
# Installs the packages that the build needs besides Rust, on Debian: the LLVM and MLIR 22 development packages, libclang 22
# for bindgen, the libraries that LLVM links, and a C toolchain. Does nothing if all of them are installed.
# --mpi also installs Open MPI, which the feature `mpi` needs, and --prove the solver of `make prove`. --list only prints the
# packages.
set -eu

packages="llvm-22-dev libmlir-22-dev mlir-22-tools clang-22 libclang-22-dev libpolly-22-dev llvm-22-tools
libzstd-dev zlib1g-dev libxml2-dev libz3-dev gcc g++ libc6-dev"

only_list=
with_mpi=
for argument in "$@"; do
    case $argument in
    --list) only_list=1 ;;
    --mpi)
        with_mpi=1
        packages="$packages libopenmpi-dev openmpi-bin"
        ;;
    --prove) packages="$packages z3" ;;
    *)
        echo "deps: $argument is not known: --list, --mpi, --prove" >&2
        exit 2
        ;;
    esac
done

if [ -n "$only_list" ]; then
    echo $packages
    exit 0
fi

if ! command -v dpkg >/dev/null 2>&1 || ! command -v apt-get >/dev/null 2>&1; then
    if [ -n "$with_mpi" ] && ! command -v mpicc >/dev/null 2>&1; then
        echo "deps: this is not a Debian system and there is no mpicc: install an MPI with headers" >&2
        exit 1
    fi
    if [ -x "${LLVM_22_PREFIX-/usr/lib/llvm-22}/bin/llvm-config" ]; then
        echo "deps: not a Debian system; using the LLVM 22 that is installed"
        exit 0
    fi
    echo "deps: this is not a Debian system and LLVM 22 is not in /usr/lib/llvm-22." >&2
    echo "deps: install LLVM and MLIR 22 with headers and static libraries, libclang 22, zstd, zlib, libxml2" >&2
    echo "deps: and z3, and set LLVM_22_PREFIX and LIBCLANG_PATH; or build without compiled execution:" >&2
    echo "deps: cargo build --no-default-features" >&2
    exit 1
fi

missing=
for package in $packages; do
    status=$(dpkg-query -W -f '${Status}' "$package" 2>/dev/null || true)
    [ "$status" = "install ok installed" ] || missing="$missing $package"
done

if [ -z "$missing" ]; then
    echo "deps: everything that building needs is installed"
    exit 0
fi

echo "deps: installing$missing"
as_root=
if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo >/dev/null 2>&1; then
        echo "deps: not root and there is no sudo; run as root:  apt-get install$missing" >&2
        exit 1
    fi
    as_root=sudo
fi

$as_root apt-get update -q
for package in $missing; do
    if ! apt-cache show "$package" >/dev/null 2>&1; then
        echo "deps: no package source offers $package." >&2
        echo "deps: on Debian 12 the LLVM 22 packages come from bookworm-security; see that" >&2
        echo "deps: /etc/apt/sources.list names it, or use https://apt.llvm.org" >&2
        exit 1
    fi
done
# The installation is not interactive and installs no recommended packages.
$as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends $missing
echo "deps: done"
