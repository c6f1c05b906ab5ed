module @random attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<f32>, %arg1: tensor<f32>, %arg2: tensor<2xui64>) -> (tensor<2x3xf32>, tuple<tensor<2xui64>, tensor<4xui32>>, tensor<4xui32>, tensor<2x3xi1>) {
    %c = stablehlo.constant dense<[2, 3]> : tensor<2xi64>
    %0 = stablehlo.rng %arg0, %arg1, %c, distribution = UNIFORM : (tensor<f32>, tensor<f32>, tensor<2xi64>) -> tensor<2x3xf32>
    %1 = chlo.erf %0 : tensor<2x3xf32> -> tensor<2x3xf32>
    %2 = chlo.sinh %1 : tensor<2x3xf32> -> tensor<2x3xf32>
    %3 = stablehlo.exponential %2 {result_accuracy = #stablehlo.result_accuracy<atol = 1.000000e-01, ulps = 2, mode = #stablehlo.result_accuracy_mode<TOLERANCE>>} : tensor<2x3xf32>
    %4 = stablehlo.log %3 {result_accuracy = #stablehlo.result_accuracy<mode = #stablehlo.result_accuracy_mode<HIGHEST>>} : tensor<2x3xf32>
    %5 = stablehlo.reduce_precision %4, format = e5m10 : tensor<2x3xf32>
    %6 = stablehlo.complex %5, %5 : tensor<2x3xcomplex<f32>>
    %7 = stablehlo.abs %6 : (tensor<2x3xcomplex<f32>>) -> tensor<2x3xf32>
    %8 = stablehlo.clamp %arg0, %7, %arg1 : (tensor<f32>, tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
    %output_state, %output = stablehlo.rng_bit_generator %arg2, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<4xui32>)
    %output_state_0, %output_1 = stablehlo.rng_bit_generator %arg2, algorithm = PHILOX : (tensor<2xui64>) -> (tensor<2xui64>, tensor<4xui32>)
    %9 = chlo.mulhi %output_1, %output_1 : tensor<4xui32>, tensor<4xui32> -> tensor<4xui32>
    %10 = stablehlo.is_finite %5 : (tensor<2x3xf32>) -> tensor<2x3xi1>
    %11 = stablehlo.add %10, %10 : tensor<2x3xi1>
    %12 = stablehlo.tuple %output_state, %output : tuple<tensor<2xui64>, tensor<4xui32>>
    return %8, %12, %9, %11 : tensor<2x3xf32>, tuple<tensor<2xui64>, tensor<4xui32>>, tensor<4xui32>, tensor<2x3xi1>
  }
}
