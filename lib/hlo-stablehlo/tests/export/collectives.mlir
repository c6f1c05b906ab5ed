module @collectives attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4x8xf32>) -> (tensor<ui32>, tensor<4x8xf32>, tensor<16x8xf32>, tensor<4x8xf32>, tuple<tensor<1x8xf32>, tensor<1x8xf32>>, tensor<4x8xf32>, tuple<tensor<4x8xf32>, tensor<4x8xf32>>, tensor<4x8xf32>) {
    %0 = stablehlo.partition_id : tensor<ui32>
    %1 = "stablehlo.all_reduce"(%arg0) <{channel_handle = #stablehlo.channel_handle<handle = 2, type = 1>, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, use_global_device_ids}> ({
    ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
      %19 = stablehlo.add %arg1, %arg2 : tensor<f32>
      stablehlo.return %19 : tensor<f32>
    }) : (tensor<4x8xf32>) -> tensor<4x8xf32>
    %2 = "stablehlo.all_gather"(%arg0) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 3, type = 1>, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, use_global_device_ids}> : (tensor<4x8xf32>) -> tensor<16x8xf32>
    %3 = "stablehlo.collective_permute"(%arg0) <{channel_handle = #stablehlo.channel_handle<handle = 4, type = 1>, source_target_pairs = dense<[[0, 1], [1, 0]]> : tensor<2x2xi64>}> : (tensor<4x8xf32>) -> tensor<4x8xf32>
    %4 = "stablehlo.all_reduce"(%arg0) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>, use_global_device_ids}> ({
    ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
      %19 = stablehlo.add %arg1, %arg2 : tensor<f32>
      stablehlo.return %19 : tensor<f32>
    }) : (tensor<4x8xf32>) -> tensor<4x8xf32>
    %5 = "stablehlo.reduce_scatter"(%arg0) <{channel_handle = #stablehlo.channel_handle<handle = 5, type = 1>, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, scatter_dimension = 0 : i64, use_global_device_ids}> ({
    ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
      %19 = stablehlo.add %arg1, %arg2 : tensor<f32>
      stablehlo.return %19 : tensor<f32>
    }) : (tensor<4x8xf32>) -> tensor<1x8xf32>
    %6 = "stablehlo.reduce_scatter"(%4) <{channel_handle = #stablehlo.channel_handle<handle = 5, type = 1>, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, scatter_dimension = 0 : i64, use_global_device_ids}> ({
    ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
      %19 = stablehlo.add %arg1, %arg2 : tensor<f32>
      stablehlo.return %19 : tensor<f32>
    }) : (tensor<4x8xf32>) -> tensor<1x8xf32>
    %7 = "stablehlo.all_to_all"(%arg0) <{channel_handle = #stablehlo.channel_handle<handle = 6, type = 1>, concat_dimension = 1 : i64, replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>, split_count = 2 : i64, split_dimension = 1 : i64}> : (tensor<4x8xf32>) -> tensor<4x8xf32>
    %8 = stablehlo.reshape %arg0 : (tensor<4x8xf32>) -> tensor<1x4x8xf32>
    %9 = stablehlo.reshape %4 : (tensor<4x8xf32>) -> tensor<1x4x8xf32>
    %10 = stablehlo.concatenate %8, %9, dim = 0 : (tensor<1x4x8xf32>, tensor<1x4x8xf32>) -> tensor<2x4x8xf32>
    %11 = "stablehlo.all_to_all"(%10) <{channel_handle = #stablehlo.channel_handle<handle = 7, type = 1>, concat_dimension = 0 : i64, replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>, split_count = 2 : i64, split_dimension = 0 : i64}> : (tensor<2x4x8xf32>) -> tensor<2x4x8xf32>
    %12 = stablehlo.slice %11 [0:1, 0:4, 0:8] : (tensor<2x4x8xf32>) -> tensor<1x4x8xf32>
    %13 = stablehlo.reshape %12 : (tensor<1x4x8xf32>) -> tensor<4x8xf32>
    %14 = stablehlo.slice %11 [1:2, 0:4, 0:8] : (tensor<2x4x8xf32>) -> tensor<1x4x8xf32>
    %15 = stablehlo.reshape %14 : (tensor<1x4x8xf32>) -> tensor<4x8xf32>
    %16 = "stablehlo.collective_broadcast"(%arg0) <{channel_handle = #stablehlo.channel_handle<handle = 8, type = 1>, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>}> : (tensor<4x8xf32>) -> tensor<4x8xf32>
    %17 = stablehlo.tuple %5, %6 : tuple<tensor<1x8xf32>, tensor<1x8xf32>>
    %18 = stablehlo.tuple %13, %15 : tuple<tensor<4x8xf32>, tensor<4x8xf32>>
    return %0, %1, %2, %3, %17, %7, %18, %16 : tensor<ui32>, tensor<4x8xf32>, tensor<16x8xf32>, tensor<4x8xf32>, tuple<tensor<1x8xf32>, tensor<1x8xf32>>, tensor<4x8xf32>, tuple<tensor<4x8xf32>, tensor<4x8xf32>>, tensor<4x8xf32>
  }
}
