module @movement {
  func.func public @main(%x: tensor<2x3xf32>, %row: tensor<5x3xf32>, %s: tensor<f32>, %k: tensor<i32>, %i: tensor<2x1xi32>, %u: tensor<2x3xf32>) -> (tensor<3x2xf32>, tensor<4x5x3xf32>, tensor<2x3x4xf32>, tensor<5x7xf32>, tensor<1x2xf32>, tensor<2x6xf32>, tensor<3xi32>, tensor<1x2xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<6xf32>, tensor<2x3x4xi8>, tensor<3x2xf32>) {
    %0 = stablehlo.transpose %x, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
    %1 = stablehlo.broadcast_in_dim %row, dims = [1, 2] : (tensor<5x3xf32>) -> tensor<4x5x3xf32>
    %2 = stablehlo.broadcast_in_dim %0, dims = [1, 0] : (tensor<3x2xf32>) -> tensor<2x3x4xf32>
    %3 = stablehlo.pad %x, %s, low = [1, -1], high = [2, 1], interior = [0, 2] : (tensor<2x3xf32>, tensor<f32>) -> tensor<5x7xf32>
    %4 = stablehlo.slice %x [1:2, 0:3:2] : (tensor<2x3xf32>) -> tensor<1x2xf32>
    %5 = stablehlo.concatenate %x, %u, dim = 1 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x6xf32>
    %6 = stablehlo.iota dim = 0 : tensor<3xi32>
    %7 = stablehlo.dynamic_slice %x, %k, %k, sizes = [1, 2] : (tensor<2x3xf32>, tensor<i32>, tensor<i32>) -> tensor<1x2xf32>
    %8 = stablehlo.dynamic_update_slice %x, %7, %k, %k : (tensor<2x3xf32>, tensor<1x2xf32>, tensor<i32>, tensor<i32>) -> tensor<2x3xf32>
    %9 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 3>}> : (tensor<2x3xf32>, tensor<2x1xi32>) -> tensor<2x3xf32>
    %10 = "stablehlo.scatter"(%x, %i, %u) <{indices_are_sorted = true, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %sum = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %sum : tensor<f32>
    }) : (tensor<2x3xf32>, tensor<2x1xi32>, tensor<2x3xf32>) -> tensor<2x3xf32>
    %11 = stablehlo.reshape %x : (tensor<2x3xf32>) -> tensor<6xf32>
    %12 = stablehlo.bitcast_convert %x : (tensor<2x3xf32>) -> tensor<2x3x4xi8>
    %13 = stablehlo.reverse %0, dims = [0] : tensor<3x2xf32>
    return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13 : tensor<3x2xf32>, tensor<4x5x3xf32>, tensor<2x3x4xf32>, tensor<5x7xf32>, tensor<1x2xf32>, tensor<2x6xf32>, tensor<3xi32>, tensor<1x2xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<6xf32>, tensor<2x3x4xi8>, tensor<3x2xf32>
  }
}
