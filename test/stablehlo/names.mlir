// Names that HLO text can't express are changed as XLA changes them, whatever form they come in.
// RUN: hlo-opt %s | FileCheck %s
// RUN: hlo-opt %s -o %t.hlo
// RUN: hlo-opt %t.hlo | FileCheck %s
// RUN: hlo-run %s --engine=eval --input 'f32[4] {1,2,3,4}' | FileCheck %s --check-prefix=VALUE
// A name that contains a whole instruction does not change the program, which computes a square as in the protocol buffer.
// RUN: hlo-opt %S/injected_name.pbtxt -o %t.square.hlo
// RUN: hlo-run %S/injected_name.pbtxt --engine=eval --input 'f32[4] {1,2,3,4}' | FileCheck %s --check-prefix=SQUARE
// RUN: hlo-run %t.square.hlo --engine=eval --input 'f32[4] {1,2,3,4}' | FileCheck %s --check-prefix=SQUARE

// CHECK: %_lambda_ (a_x.1: f32[4]) -> f32[4] {
// CHECK: ROOT %{{.*}} = f32[4]{0} add(%a_x.1, %a_x.1)
// CHECK: call(%{{.*}}), to_apply=%_lambda_
// VALUE: f32[4] {2, 4, 6, 8}
// SQUARE: f32[4] {1, 4, 9, 16}
func.func public @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = call @"<lambda>"(%a) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @"<lambda>"(%a: tensor<4xf32> loc("__x")) -> tensor<4xf32> {
  %0 = stablehlo.add %a, %a : tensor<4xf32>
  return %0 : tensor<4xf32>
}
