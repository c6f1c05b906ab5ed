#!/bin/sh
# The example of `make run`: compiles and runs gradient descent written in HLO, and shows the output of some passes.
set -eu
cd "$(dirname "$0")/.."
tools=${1-target/release}
example=docs/examples/fit_line.hlo

show() {
    echo
    echo "\$ $*"
}

echo "docs/examples/fit_line.hlo fits a line through points by 1000 steps of gradient descent."
echo "The points below lie on y = 2x + 1, so that the slope must come out as 2 and the intercept as 1."

show "hlo-run $example --input 'f32[5] {0,1,2,3,4}' --input 'f32[5] {1,3,5,7,9}' --time"
"$tools/hlo-run" "$example" --input 'f32[5] {0,1,2,3,4}' --input 'f32[5] {1,3,5,7,9}' --time

show "hlo-opt $example --passes=algsimp,cse,dce | tail -n 6"
"$tools/hlo-opt" "$example" --passes=algsimp,cse,dce | tail -n 6
