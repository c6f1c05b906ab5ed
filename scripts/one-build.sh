#!/bin/sh
# Checks that Cargo builds each package once for `make run`, `make all` and `make wheel`. It builds a package again if another
# command enables other features of it. If this fails, enable the features that are listed for all commands, as the
# build-dependencies of hlo-codegen and the workspace's dependencies on prost, serde and smallvec do.
set -eu
cd "$(dirname "$0")/.."

# The packages that building these needs, with their features.
features() {
    cargo tree --locked -e no-dev -f '{p} [{f}]' --prefix none "$@" | sed 's/ (\*)$//; s/ (proc-macro)//' | sort -u
}

run=$(mktemp)
other=$(mktemp)
trap 'rm -f "$run" "$other"' EXIT
features -p hlo-tools > "$run"
status=0
for packages in '-p hlo-tools -p hlo-lsp -p hlo-serve -p hlo-aot-runtime' '-p hlo-tools -p hlo-pjrt'; do
    # shellcheck disable=SC2086
    features $packages > "$other"
    if twice=$(comm -23 "$run" "$other" | grep .); then
        echo "one-build: 'cargo build $packages' enables other features than 'cargo build -p hlo-tools' of:" >&2
        echo "$twice" >&2
        status=1
    fi
done
exit $status
