// Shardy's partitioning rules of a call are kept in both directions.
// RUN: hlo-opt %s | FileCheck %s
// RUN: hlo-opt %s --emit=stablehlo | hlo-opt - | FileCheck %s

// CHECK: custom-call(%{{.*}}), custom_call_target="f", {{.*}}frontend_attributes={num_batch_dims="1",xla.sdy.sharding_rule="#sdy.op_sharding_rule<([i, jk])->([i, j], [i]) {i=8, j=2, k=3} reduction={k}, custom>"}
module @m {
  func.func public @main(%arg0: tensor<8x6xf32>) -> (tensor<8x2xf32>, tensor<8xf32>) {
    %0:2 = stablehlo.custom_call @f(%arg0) {mhlo.frontend_attributes = {num_batch_dims = "1"}, sdy.sharding_rule = #sdy.op_sharding_rule<([i, jk])->([i, j], [i]) {i=8, j=2, k=3} reduction={k}, custom>} : (tensor<8x6xf32>) -> (tensor<8x2xf32>, tensor<8xf32>)
    return %0#0, %0#1 : tensor<8x2xf32>, tensor<8xf32>
  }
}
