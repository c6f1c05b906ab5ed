# What dist.sh and wheel.sh share: binaries that run wherever glibc is.

# Makes a folder of the archives that are linked in place of libraries that are not on every computer: see build.rs.
archives() {
    rm -rf "$1"
    mkdir -p "$1"
    for library in libstdc++.a libz.a libzstd.a; do
        path=$(cc -print-file-name="$library")
        [ -e "$path" ] || { echo "${0##*/}: there is no $library" >&2; exit 1; }
        ln -s "$path" "$1/$library"
    done
}

# Fails if a file needs more than glibc, and the library of GCC that comes with it. (What needs nothing at all has no list.)
check_needed() {
    needed=$(ldd "$1" | awk '{ print $1 }' | sed 's|.*/||' |
        grep -Ev '^(linux-vdso|ld-linux.*|libc|libgcc_s|libm|libdl|librt|libpthread)\.so' || true)
    if [ -n "$needed" ]; then
        echo "${0##*/}: $1 needs what is not on every computer:" $needed >&2
        exit 1
    fi
}

# The oldest glibc that files run on, as `2.34`; nothing if they need none.
oldest_glibc() {
    for file in "$@"; do objdump -T "$file" 2>/dev/null; done |
        grep -o 'GLIBC_2\.[0-9]*' | sort -uV | tail -n 1 | cut -d_ -f2
}
