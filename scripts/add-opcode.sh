#!/bin/sh
# Adds the opcode of docs/adding-an-opcode.md, by the lines that stand there, to a copy of the tree, and runs it on both
# engines: its lines are right, and no other place is needed to compile and run it.
set -eu
cd "$(dirname "$0")/.."
tree=$PWD
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
git ls-files -z | tar --null --files-from=- --create | tar --extract --directory="$copy"
cd "$copy"

# The lines of the page from one that has the words to the next empty one.
lines() {
    awk -v words="$1" 'index($0, words) { on = 1 } /^ *$/ { on = 0 } on' docs/adding-an-opcode.md
}

# Puts lines before the first one of a file that has the words.
insert() {
    lines "$1" > lines
    [ -s lines ] || { echo "add-opcode: docs/adding-an-opcode.md has no line '$1'" >&2; exit 1; }
    awk -v words="$3" '!done && index($0, words) { while ((getline line < "lines") > 0) print line; done = 1 } 1
        END { exit !done }' "$2" > changed || { echo "add-opcode: $2 has no line '$3'" >&2; exit 1; }
    mv changed "$2"
}

insert 'Hypot "hypot"' lib/hlo-ir/src/opcode/table.rs 'Imag "imag"'
insert 'E::Hypot => float' lib/hlo-eval/src/ops/elementwise.rs 'E::Imag'
insert 'E::Hypot => match' lib/hlo-codegen/src/ops/elementwise.rs 'E::Power'

cat > hypot.hlo <<'HLO'
HloModule hypot

ENTRY e {
  x = f32[2] parameter(0)
  y = f32[2] parameter(1)
  ROOT h = f32[2] hypot(x, y)
}
HLO
result=$(CARGO_TARGET_DIR="$tree/target/add-opcode" cargo run --locked -q --bin hlo-run -- hypot.hlo \
    --engine=both --input 'f32[2] {3, 5}' --input 'f32[2] {4, 12}')
echo "$result"
[ "$result" = 'f32[2] {5, 13}' ] || { echo "add-opcode: expected f32[2] {5, 13}" >&2; exit 1; }
