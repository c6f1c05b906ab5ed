module @indexing attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4x6xf32>, %arg1: tensor<2x1xi32>, %arg2: tensor<2xi32>, %arg3: tensor<2x6xf32>, %arg4: tensor<i32>) -> (tensor<2x6xf32>, tensor<4x6xf32>, tensor<2x3xf32>, tensor<4x6xf32>, tensor<?x6xf32, #stablehlo.bounds<4, ?>>, tensor<5x12xf32>, tensor<2x6xf32>, tensor<6x4xf32>, tensor<4x6xf32>, tensor<4x2x6xf32>, tensor<4x6xui8>, tensor<8x6xf32>) {
    %0 = "stablehlo.gather"(%arg0, %arg1) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 6>}> : (tensor<4x6xf32>, tensor<2x1xi32>) -> tensor<2x6xf32>
    %1 = "stablehlo.scatter"(%arg0, %arg1, %arg3) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = true}> ({
    ^bb0(%arg5: tensor<f32>, %arg6: tensor<f32>):
      %21 = stablehlo.add %arg5, %arg6 : tensor<f32>
      stablehlo.return %21 : tensor<f32>
    }) : (tensor<4x6xf32>, tensor<2x1xi32>, tensor<2x6xf32>) -> tensor<4x6xf32>
    %2 = stablehlo.slice %arg2 [0:1] : (tensor<2xi32>) -> tensor<1xi32>
    %3 = stablehlo.reshape %2 : (tensor<1xi32>) -> tensor<i32>
    %4 = stablehlo.slice %arg2 [1:2] : (tensor<2xi32>) -> tensor<1xi32>
    %5 = stablehlo.reshape %4 : (tensor<1xi32>) -> tensor<i32>
    %6 = stablehlo.dynamic_slice %arg0, %3, %5, sizes = [2, 3] : (tensor<4x6xf32>, tensor<i32>, tensor<i32>) -> tensor<2x3xf32>
    %7 = stablehlo.dynamic_update_slice %arg0, %arg3, %arg4, %arg4 : (tensor<4x6xf32>, tensor<2x6xf32>, tensor<i32>, tensor<i32>) -> tensor<4x6xf32>
    %8 = stablehlo.set_dimension_size %arg0, %arg4, dim = 0 : (tensor<4x6xf32>, tensor<i32>) -> tensor<?x6xf32, #stablehlo.bounds<4, ?>>
    %9 = stablehlo.get_dimension_size %8, dim = 0 : (tensor<?x6xf32, #stablehlo.bounds<4, ?>>) -> tensor<i32>
    %c = stablehlo.constant dense<6> : tensor<i32>
    %10 = stablehlo.reshape %9 : (tensor<i32>) -> tensor<1xi32>
    %11 = stablehlo.reshape %c : (tensor<i32>) -> tensor<1xi32>
    %12 = stablehlo.concatenate %10, %11, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %13 = stablehlo.dynamic_reshape %8, %12 : (tensor<?x6xf32, #stablehlo.bounds<4, ?>>, tensor<2xi32>) -> tensor<?x6xf32, #stablehlo.bounds<4, ?>>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %14 = stablehlo.pad %arg0, %cst, low = [0, 1], high = [1, 0], interior = [0, 1] : (tensor<4x6xf32>, tensor<f32>) -> tensor<5x12xf32>
    %15 = stablehlo.slice %arg0 [1:4:2, 0:6] : (tensor<4x6xf32>) -> tensor<2x6xf32>
    %16 = stablehlo.transpose %arg0, dims = [1, 0] : (tensor<4x6xf32>) -> tensor<6x4xf32>
    %17 = stablehlo.reverse %arg0, dims = [1] : tensor<4x6xf32>
    %18 = stablehlo.broadcast_in_dim %arg0, dims = [0, 2] : (tensor<4x6xf32>) -> tensor<4x2x6xf32>
    %19 = stablehlo.iota dim = 1 : tensor<4x6xui8>
    %20 = stablehlo.concatenate %arg0, %arg0, dim = 0 : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<8x6xf32>
    return %0, %1, %6, %7, %13, %14, %15, %16, %17, %18, %19, %20 : tensor<2x6xf32>, tensor<4x6xf32>, tensor<2x3xf32>, tensor<4x6xf32>, tensor<?x6xf32, #stablehlo.bounds<4, ?>>, tensor<5x12xf32>, tensor<2x6xf32>, tensor<6x4xf32>, tensor<4x6xf32>, tensor<4x2x6xf32>, tensor<4x6xui8>, tensor<8x6xf32>
  }
}
