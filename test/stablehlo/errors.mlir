// Errors in StableHLO point at the error in the source.
// RUN: not hlo-opt %s 2>&1 | FileCheck %s

// CHECK: error{{.*}}: {{.*}}dynamic_broadcast_in_dim
// CHECK: errors.mlir:{{[0-9]+}}:
// CHECK: stablehlo.dynamic_broadcast_in_dim
func.func @main(%x: tensor<3xf32>, %n: tensor<2xi64>) -> tensor<?x?xf32> {
  %y = stablehlo.dynamic_broadcast_in_dim %x, %n, dims = [1] : (tensor<3xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}
