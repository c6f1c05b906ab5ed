module @linear_algebra {
  func.func public @main(%a: tensor<3x4x5xf32>, %b: tensor<3x5x6xf32>, %m: tensor<4x4xf32>, %x: tensor<1x8x8x4xf32>, %k: tensor<3x3x2x8xf32>, %c: tensor<4xf32>, %key: tensor<2xui64>, %z: tensor<5xcomplex<f32>>) -> (tensor<3x4x6xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<1x4x7x8xf32>, tensor<8xf32>, tensor<1x8x8x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<1x8x8x4xf32>, tensor<2xui64>, tensor<3xui32>, tensor<4xf32>) {
    %0 = stablehlo.dot_general %a, %b, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [HIGHEST, DEFAULT] : (tensor<3x4x5xf32>, tensor<3x5x6xf32>) -> tensor<3x4x6xf32>
    %1 = stablehlo.dot %m, %m, precision = [DEFAULT, DEFAULT] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %2 = stablehlo.cholesky %1, lower = true : tensor<4x4xf32>
    %3 = "stablehlo.triangular_solve"(%2, %m) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose ADJOINT>, unit_diagonal = false}> : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %4 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [2, 1], pad = [[1, 1], [0, 1]], rhs_dilate = [1, 1], reverse = [false, true]} {batch_group_count = 1 : i64, feature_group_count = 2 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<1x8x8x4xf32>, tensor<3x3x2x8xf32>) -> tensor<1x4x7x8xf32>
    %5 = stablehlo.fft %z, type = IRFFT, length = [8] : (tensor<5xcomplex<f32>>) -> tensor<8xf32>
    %6:3 = "stablehlo.batch_norm_training"(%x, %c, %c) <{epsilon = 1.0e-3 : f32, feature_index = 3 : i64}> : (tensor<1x8x8x4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<1x8x8x4xf32>, tensor<4xf32>, tensor<4xf32>)
    %7 = "stablehlo.batch_norm_inference"(%x, %c, %c, %6#1, %6#2) <{epsilon = 1.0e-3 : f32, feature_index = 3 : i64}> : (tensor<1x8x8x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<1x8x8x4xf32>
    %8:2 = stablehlo.rng_bit_generator %key, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<3xui32>)
    %lo = stablehlo.constant dense<0.0> : tensor<f32>
    %hi = stablehlo.constant dense<1.0> : tensor<f32>
    %shape = stablehlo.constant dense<4> : tensor<1xi64>
    %9 = stablehlo.rng %lo, %hi, %shape, distribution = UNIFORM : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<4xf32>
    return %0, %1, %2, %3, %4, %5, %6#0, %6#1, %6#2, %7, %8#0, %8#1, %9 : tensor<3x4x6xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<1x4x7x8xf32>, tensor<8xf32>, tensor<1x8x8x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<1x8x8x4xf32>, tensor<2xui64>, tensor<3xui32>, tensor<4xf32>
  }
}
