// `--fn` selects the function that becomes the module, if there is no `main` or another one is wanted.
// RUN: not hlo-opt %s 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not hlo-opt %s --fn=h 2>&1 | FileCheck %s --check-prefix=OTHER
// RUN: hlo-opt %s --fn=f | FileCheck %s --check-prefix=F
// RUN: hlo-run %s --fn=g --engine=both -q --input='f32[2] {1,2}' --expect 'f32[2] {-1,-2}'
// RUN: not hlo-opt %s --fn=f --arg=3 2>&1 | FileCheck %s --check-prefix=ARG

// NONE: error{{.*}}: `builtin.module`: it has no function `main`, nor only one function
// NONE: its functions: f, g; `--fn=NAME` chooses one
// OTHER: error{{.*}}: `builtin.module`: it has no function `h`
// F: ROOT {{.*}} f32[4]{0} add(
// ARG: --arg is for files of Tile, and this is StableHLO
func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.add %a, %a : tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func @g(%a: tensor<2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.negate %a : tensor<2xf32>
  return %0 : tensor<2xf32>
}
