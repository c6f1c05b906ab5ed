// Operands of elementwise operations must have the same element type.
// RUN: not hlo-opt %s 2>&1 | FileCheck %s

// CHECK: error: `stablehlo.add`: its operands have elements of one type, found f64 and f32
func.func @main(%a: tensor<4xf64>, %b: tensor<4xf32>) -> tensor<4xf64> {
  %0 = "stablehlo.add"(%a, %b) : (tensor<4xf64>, tensor<4xf32>) -> tensor<4xf64>
  return %0 : tensor<4xf64>
}
