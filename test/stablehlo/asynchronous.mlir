// Asynchronous collectives. The size of an all-gather's result is that of its type.
// RUN: hlo-opt %s | FileCheck %s

// CHECK: [[S:%.*]] = (f32[4,4]{1,0}, f32[8,4]{1,0}) all-gather-start(%{{.*}}), channel_id=1, replica_groups={{.*}}, dimensions={0}, use_global_device_ids=true
// CHECK: [[G:%.*]] = f32[8,4]{1,0} all-gather-done([[S]])
// CHECK: [[P:%.*]] = (f32[8,4]{1,0}, f32[8,4]{1,0}) collective-permute-start([[G]]), channel_id=2, source_target_pairs=
// CHECK: ROOT %{{.*}} = f32[8,4]{1,0} collective-permute-done([[P]])
module @m attributes {mhlo.num_partitions = 2 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4x4xf32>) -> tensor<8x4xf32> {
    %0 = "stablehlo.async_start"(%arg0) ({
    ^bb0(%a: tensor<4x4xf32>):
      %g = "stablehlo.all_gather"(%a) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, use_global_device_ids}> : (tensor<4x4xf32>) -> tensor<8x4xf32>
      stablehlo.return %g : tensor<8x4xf32>
    }) : (tensor<4x4xf32>) -> !stablehlo.future<tensor<8x4xf32>>
    %1 = "stablehlo.async_done"(%0) : (!stablehlo.future<tensor<8x4xf32>>) -> tensor<8x4xf32>
    %2 = "stablehlo.async_start"(%1) ({
    ^bb0(%a: tensor<8x4xf32>):
      %p = "stablehlo.collective_permute"(%a) <{channel_handle = #stablehlo.channel_handle<handle = 2, type = 1>, source_target_pairs = dense<[[0, 1], [1, 0]]> : tensor<2x2xi64>}> : (tensor<8x4xf32>) -> tensor<8x4xf32>
      stablehlo.return %p : tensor<8x4xf32>
    }) : (tensor<8x4xf32>) -> !stablehlo.future<tensor<8x4xf32>>
    %3 = "stablehlo.async_done"(%2) : (!stablehlo.future<tensor<8x4xf32>>) -> tensor<8x4xf32>
    return %3 : tensor<8x4xf32>
  }
}
