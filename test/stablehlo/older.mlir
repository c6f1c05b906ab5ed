// Forms of older programs and other front ends: MHLO's operations, booleans in bits, integer comparisons of floats,
// constants of another dialect.
// RUN: hlo-opt %s | FileCheck %s
// RUN: hlo-run %s --engine=eval --input 'f32[4] {-1,0,1,2}' | FileCheck %s --check-prefix=VALUE

// CHECK-DAG: copy(%Arg_0
// CHECK-DAG: constant({0, 1, 0, 0, 0, 0, 0, 0, 1, 1})
// CHECK-DAG: erf(
// CHECK-DAG: compare(%{{.*}}, %{{.*}}), direction=LT
// CHECK-NOT: type=
// VALUE: f32[4] {-1, 0, 1, 2}
// VALUE: pred[10] {0, 1, 0, 0, 0, 0, 0, 0, 1, 1}
// VALUE: pred[4] {1, 1, 0, 0}
func.func @main(%a: tensor<4xf32>) -> (tensor<4xf32>, tensor<10xi1>, tensor<4xi1>, tensor<4xf32>) {
  %0 = mhlo.copy %a : tensor<4xf32>
  %1 = stablehlo.constant dense<"0x0203"> : tensor<10xi1>
  %one = arith.constant dense<1.0> : tensor<4xf32>
  %2 = stablehlo.compare LT, %a, %one, SIGNED : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  %3 = mhlo.erf %a : tensor<4xf32> -> tensor<4xf32>
  return %0, %1, %2, %3 : tensor<4xf32>, tensor<10xi1>, tensor<4xi1>, tensor<4xf32>
}
