#!/bin/sh
# Checks docs/adding-an-opcode.md: adds the opcode of the page to a copy of the tree, with the lines from the page, and runs
# it on both engines. This shows that the lines are correct, and that no other change is necessary to compile and run it.
set -eu
cd "$(dirname "$0")/.."
tree=$PWD
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
git ls-files -z | tar --null --files-from=- --create | tar --extract --directory="$copy"
cd "$copy"

# Prints the lines of the page from the first line that contains the words up to the next empty line.
lines() {
    awk -v words="$1" 'index($0, words) { on = 1 } /^ *$/ { on = 0 } on' docs/adding-an-opcode.md
}

# insert WORDS FILE PLACE: inserts the lines of the page that start at WORDS before the first line of FILE that contains PLACE.
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
