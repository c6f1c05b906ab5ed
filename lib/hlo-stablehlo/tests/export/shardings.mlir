module @shardings attributes {mhlo.frontend_attributes = {fe = "m"}, mhlo.input_output_alias = [{alias = {kind = "must_alias", parameter_index = array<i64>, parameter_number = 2 : i64}, output_index = array<i64: 1>}], mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["a"=2, "b"=2]>
  sdy.mesh @mesh_0 = <["c"=4]>
  func.func public @main(%arg0: tensor<8x4xf32> {mhlo.sharding = "{devices=[4,1]<=[4]}", tf.aliasing_output = 0 : i32}, %arg1: tensor<8x4xf32> {jax.buffer_donor = true, mhlo.frontend_attributes = {k = "v"}, mhlo.layout_mode = "{0,1}", sdy.sharding = #sdy.sharding<@mesh, [{"a", "b"}, {?}]>}, %arg2: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], replicated={"a"}>}) -> (tensor<8x4xf32> {mhlo.layout_mode = "{0,1}", mhlo.sharding = "{devices=[4,1]<=[4]}"}, tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh_0, [{"c"}]>}) {
    %0 = stablehlo.custom_call @Sharding(%arg0) {mhlo.sharding = "{devices=[2,1,2]<=[4] last_tile_dim_replicate}"} : (tensor<8x4xf32>) -> tensor<8x4xf32>
    %1 = stablehlo.add %0, %arg1 {mhlo.frontend_attributes = {k = "w"}, sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a"}, {}], unreduced={"b"}>]>} : tensor<8x4xf32>
    %2 = stablehlo.negate %arg2 {mhlo.sharding = "{manual}"} : tensor<4xf32>
    return %1, %2 : tensor<8x4xf32>, tensor<4xf32>
  }
}
