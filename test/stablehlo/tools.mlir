// Every tool reads StableHLO, as text and as bytecode.
// RUN: hlo-opt %s | FileCheck %s
// RUN: hlo-run %s --engine=eval --input 'f32[3] {1,2,3}' --input 'f32[3] {4,5,6}' | FileCheck %s --check-prefix=VALUE
// RUN: hlo-opt %s --emit=vhlo -o %t.bc
// RUN: hlo-opt %t.bc | FileCheck %s
// RUN: hlo-run %t.bc --engine=eval --input 'f32[3] {1,2,3}' --input 'f32[3] {4,5,6}' | FileCheck %s --check-prefix=VALUE
// RUN: hlo-diff %s %t.bc --ignore=metadata,names
// RUN: hlo-opt %t.bc --emit=stablehlo | FileCheck %s --check-prefix=BACK
// RUN: hlo-opt %s --emit=vhlo --target=0.9.0 -o %t.old.bc
// RUN: hlo-opt %t.old.bc | FileCheck %s

// CHECK-LABEL: HloModule jit_f, entry_computation_layout={(f32[3]{0}, f32[3]{0})->f32[]}
// CHECK: ENTRY
// CHECK: multiply
// CHECK: ROOT {{.*}} reduce({{.*}}), dimensions={0}, to_apply=

// VALUE: f32[] 32

// BACK: func.func public @main(%arg0: tensor<3xf32>, %arg1: tensor<3xf32>) -> tensor<f32>
// BACK: stablehlo.multiply
// BACK: stablehlo.reduce
// BACK: return
module @jit_f {
  func.func public @main(%arg0: tensor<3xf32>, %arg1: tensor<3xf32>) -> (tensor<f32> {jax.result_info = "result"}) {
    %0 = stablehlo.multiply %arg0, %arg1 : tensor<3xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1 = stablehlo.reduce(%0 init: %cst) applies stablehlo.add across dimensions = [0] : (tensor<3xf32>, tensor<f32>) -> tensor<f32>
    return %1 : tensor<f32>
  }
}
