# Functions of dist.sh and wheel.sh for portable binaries, which run on every machine with glibc.

# Creates a folder with static archives. The linker uses them instead of shared libraries that may be missing on other
# machines: see build.rs.
archives() {
    rm -rf "$1"
    mkdir -p "$1"
    for library in libstdc++.a libz.a libzstd.a; do
        path=$(cc -print-file-name="$library")
        [ -e "$path" ] || { echo "${0##*/}: there is no $library" >&2; exit 1; }
        ln -s "$path" "$1/$library"
    done
}

# Fails if a file needs other libraries than glibc and GCC's runtime library. A file that needs no libraries passes: its
# list is empty.
check_needed() {
    needed=$(ldd "$1" | awk '{ print $1 }' | sed 's|.*/||' |
        grep -Ev '^(linux-vdso|ld-linux.*|libc|libgcc_s|libm|libdl|librt|libpthread)\.so' || true)
    if [ -n "$needed" ]; then
        echo "${0##*/}: $1 needs what is not on every computer:" $needed >&2
        exit 1
    fi
}

# Prints the oldest version of glibc that the files run on, such as `2.34`, or nothing if they do not need glibc.
oldest_glibc() {
    for file in "$@"; do objdump -T "$file" 2>/dev/null; done |
        grep -o 'GLIBC_2\.[0-9]*' | sort -uV | tail -n 1 | cut -d_ -f2
}
