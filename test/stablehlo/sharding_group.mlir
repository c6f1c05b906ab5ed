// Values of one group are sharded alike.
// RUN: hlo-opt %s --passes=sharding-propagation | FileCheck %s

// CHECK: %[[X:.*]] = f32[8,2]{1,0} parameter(0), sharding={devices=[2,2]<=[4] shard_as 0}
// CHECK: %[[R:.*]] = f32[8,2]{1,0} reshape(%{{.*}}), sharding={devices=[2,2]<=[4]}
// CHECK: ROOT %{{.*}} = f32[8,2]{1,0} negate(%[[R]])
module @m attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=2, "y"=2]>
  func.func public @main(%arg0: tensor<8x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) -> tensor<8x2xf32> {
    %0 = stablehlo.iota dim = 0 : tensor<16xf32>
    %1 = stablehlo.reshape %0 : (tensor<16xf32>) -> tensor<8x2xf32>
    sdy.sharding_group %arg0 group_id=0 : tensor<8x2xf32>
    sdy.sharding_group %1 group_id=0 : tensor<8x2xf32>
    %2 = stablehlo.negate %1 : tensor<8x2xf32>
    return %2 : tensor<8x2xf32>
  }
}
