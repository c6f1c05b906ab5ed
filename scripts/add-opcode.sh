#!/bin/sh
# Adds the two opcodes of docs/adding-an-opcode.md to a copy of the tree, with the lines of that page, and runs them on both
# engines. So the lines are correct, and an opcode needs no edit that the page does not mention.
set -eu
cd "$(dirname "$0")/.."
tree=$PWD
page=docs/adding-an-opcode.md
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
git ls-files -z | tar --null --files-from=- --create | tar --extract --directory="$copy"
cd "$copy"

# insert WORDS FILE BEFORE inserts the lines of the page from the line that contains WORDS to the next empty line, before the
# first line of FILE that contains BEFORE.
insert() {
    awk -v words="$1" 'index($0, words) { on = 1 } /^ *$/ { on = 0 } on' "$page" > lines
    [ -s lines ] || { echo "add-opcode: $page has no line '$1'" >&2; exit 1; }
    awk -v words="$3" '!done && index($0, words) { while ((getline line < "lines") > 0) print line; done = 1 } 1
        END { exit !done }' "$2" > changed || { echo "add-opcode: $2 has no line '$3'" >&2; exit 1; }
    mv changed "$2"
}

insert 'Hypot "hypot"' lib/hlo-ir/src/opcode/table.rs 'Imag "imag"'
insert 'E::Hypot => float' lib/hlo-eval/src/ops/elementwise.rs 'E::Imag'
insert 'E::Hypot => match' lib/hlo-codegen/src/ops/elementwise.rs 'E::Power'

insert 'Diagonal "diagonal"' lib/hlo-ir/src/opcode/table.rs 'Iota "iota"'
insert '/// `diagonal`.' lib/hlo-ir/src/attr/structs.rs '/// `iota`.'
insert 'Op::Diagonal(a) => data_movement::diagonal(cx, a)' lib/hlo-ir/src/ops/mod.rs 'Op::Iota(a)'
insert '/// Checks `diagonal`' lib/hlo-ir/src/ops/data_movement.rs '/// Checks `slice`'
insert 'Op::Diagonal(a) => along_each' lib/hlo-ir/src/access/operands.rs 'Op::Pad(a) if'
insert 'Op::Diagonal(a) => data_movement::diagonal(cx, instr' lib/hlo-eval/src/ops/mod.rs 'Op::Iota(a)'
insert '/// `diagonal`: element' lib/hlo-eval/src/ops/data_movement.rs '/// `slice` (semantics'

cat > added.hlo <<'HLO'
HloModule added

ENTRY e {
  x = f32[2,3] parameter(0)
  y = f32[2,3] parameter(1)
  h = f32[2,3] hypot(x, y)
  d = f32[2] diagonal(h), offset=1
  ROOT n = f32[2] negate(d)
}
HLO
run() {
    CARGO_TARGET_DIR="$tree/target/add-opcode" cargo run --locked -q --bin "$@"
}
# The module as it comes back from a protocol buffer.
run hlo-opt -- added.hlo --emit=proto -o added.pb
for module in added.hlo added.pb; do
    result=$(run hlo-run -- "$module" --engine=both --input 'f32[2,3] {{0, 3, 0}, {0, 0, 5}}' \
        --input 'f32[2,3] {{0, 4, 0}, {0, 0, 12}}')
    echo "$result"
    [ "$result" = 'f32[2] {-5, -13}' ] || { echo "add-opcode: expected f32[2] {-5, -13} of $module" >&2; exit 1; }
done
