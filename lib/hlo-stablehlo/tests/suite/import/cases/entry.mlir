module @entry attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%x: tensor<8x4xf32> {mhlo.sharding = "{devices=[2,4]<=[8]}", tf.aliasing_output = 1 : i32}, %y: tensor<4xf32> {jax.buffer_donor = true, mhlo.frontend_attributes = {a = "1"}}, %z: tensor<4xf32> {mhlo.parameter_replication = [true]}) -> (tensor<4xf32> {jax.result_info = "a"}, tensor<8x4xf32> {mhlo.sharding = "{devices=[8,1]<=[8]}"}) {
    %0 = stablehlo.add %y, %z {mhlo.sharding = "{devices=[2,4]<=[8] last_tile_dim_replicate}"} : tensor<4xf32>
    %1 = stablehlo.custom_call @Sharding(%x) {mhlo.sharding = "{replicated}"} : (tensor<8x4xf32>) -> tensor<8x4xf32>
    return %0, %1 : tensor<4xf32>, tensor<8x4xf32>
  }
}
