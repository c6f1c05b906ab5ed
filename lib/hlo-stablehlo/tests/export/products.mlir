module @products attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x3x4xf32>, %arg1: tensor<2x4x5xf32>, %arg2: tensor<1x8x8x2xf32>, %arg3: tensor<3x3x2x6xbf16>, %arg4: tensor<2xi32>, %arg5: tensor<7x4xf32>, %arg6: tensor<3x3xf32>, %arg7: tensor<4x8xcomplex<f32>>, %arg8: tensor<2xf32>) -> (tensor<2x3x5xf32>, tensor<2x3x5xf32>, tensor<1x4x4x6xf32>, tensor<7x5xf32>, tensor<3x3xf32>, tensor<4x8xcomplex<f32>>, tuple<tensor<1x8x8x2xf32>, tensor<2xf32>, tensor<2xf32>>) {
    %0 = stablehlo.dot_general %arg0, %arg1, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT], algorithm = <lhs_precision_type = bf16, rhs_precision_type = bf16, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 3, allow_imprecise_accumulation = false> : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
    %1 = stablehlo.dot_general %arg0, %arg1, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [HIGHEST, HIGH] : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
    %2 = stablehlo.convert %arg3 : (tensor<3x3x2x6xbf16>) -> tensor<3x3x2x6xf32>
    %3 = stablehlo.convolution(%arg2, %2) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [2, 2], pad = [[0, 1], [1, 0]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [true, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<1x8x8x2xf32>, tensor<3x3x2x6xf32>) -> tensor<1x4x4x6xf32>
    %4 = "chlo.ragged_dot"(%arg5, %arg1, %arg4) <{precision_config = [#chlo<precision DEFAULT>, #chlo<precision DEFAULT>], ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>}> : (tensor<7x4xf32>, tensor<2x4x5xf32>, tensor<2xi32>) -> tensor<7x5xf32>
    %5 = stablehlo.cholesky %arg6, lower = true : tensor<3x3xf32>
    %6 = "stablehlo.triangular_solve"(%5, %arg6) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose TRANSPOSE>, unit_diagonal = false}> : (tensor<3x3xf32>, tensor<3x3xf32>) -> tensor<3x3xf32>
    %7 = stablehlo.fft %arg7, type = IFFT, length = [8] : (tensor<4x8xcomplex<f32>>) -> tensor<4x8xcomplex<f32>>
    %output, %batch_mean, %batch_var = "stablehlo.batch_norm_training"(%arg2, %arg8, %arg8) <{epsilon = 1.000000e-03 : f32, feature_index = 3 : i64}> : (tensor<1x8x8x2xf32>, tensor<2xf32>, tensor<2xf32>) -> (tensor<1x8x8x2xf32>, tensor<2xf32>, tensor<2xf32>)
    %8 = stablehlo.tuple %output, %batch_mean, %batch_var : tuple<tensor<1x8x8x2xf32>, tensor<2xf32>, tensor<2xf32>>
    return %0, %1, %3, %4, %6, %7, %8 : tensor<2x3x5xf32>, tensor<2x3x5xf32>, tensor<1x4x4x6xf32>, tensor<7x5xf32>, tensor<3x3xf32>, tensor<4x8xcomplex<f32>>, tuple<tensor<1x8x8x2xf32>, tensor<2xf32>, tensor<2xf32>>
  }
}
