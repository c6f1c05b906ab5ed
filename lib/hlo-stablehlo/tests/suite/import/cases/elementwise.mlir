module @elementwise {
  func.func public @main(%x: tensor<2x3xf32>, %i: tensor<2x3xi32>, %u: tensor<4xui8>, %p: tensor<4xi1>, %z: tensor<2xcomplex<f32>>) -> (tensor<2x3xf32>, tensor<2x3xi32>, tensor<4xui8>, tensor<4xi1>, tensor<2xcomplex<f32>>, tensor<2xf32>, tensor<2x3xi1>) {
    %0 = stablehlo.abs %x : tensor<2x3xf32>
    %1 = stablehlo.cbrt %0 : tensor<2x3xf32>
    %2 = stablehlo.ceil %1 : tensor<2x3xf32>
    %3 = stablehlo.cosine %2 : tensor<2x3xf32>
    %4 = stablehlo.exponential %3 : tensor<2x3xf32>
    %5 = stablehlo.exponential_minus_one %4 : tensor<2x3xf32>
    %6 = stablehlo.floor %5 : tensor<2x3xf32>
    %7 = stablehlo.log %6 : tensor<2x3xf32>
    %8 = stablehlo.log_plus_one %7 : tensor<2x3xf32>
    %9 = stablehlo.logistic %8 : tensor<2x3xf32>
    %10 = stablehlo.negate %9 : tensor<2x3xf32>
    %11 = stablehlo.round_nearest_afz %10 : tensor<2x3xf32>
    %12 = stablehlo.round_nearest_even %11 : tensor<2x3xf32>
    %13 = stablehlo.rsqrt %12 : tensor<2x3xf32>
    %14 = stablehlo.sign %13 : tensor<2x3xf32>
    %15 = stablehlo.sine %14 : tensor<2x3xf32>
    %16 = stablehlo.sqrt %15 : tensor<2x3xf32>
    %17 = stablehlo.tan %16 : tensor<2x3xf32>
    %18 = stablehlo.tanh %17 : tensor<2x3xf32>
    %19 = stablehlo.add %18, %x : tensor<2x3xf32>
    %20 = stablehlo.atan2 %19, %x : tensor<2x3xf32>
    %21 = stablehlo.divide %20, %x : tensor<2x3xf32>
    %22 = stablehlo.maximum %21, %x : tensor<2x3xf32>
    %23 = stablehlo.minimum %22, %x : tensor<2x3xf32>
    %24 = stablehlo.multiply %23, %x : tensor<2x3xf32>
    %25 = stablehlo.power %24, %x : tensor<2x3xf32>
    %26 = stablehlo.remainder %25, %x : tensor<2x3xf32>
    %27 = stablehlo.subtract %26, %x : tensor<2x3xf32>
    %28 = stablehlo.clamp %x, %27, %x : tensor<2x3xf32>
    %29 = stablehlo.reduce_precision %28, format = e5m10 : tensor<2x3xf32>
    %30 = stablehlo.is_finite %29 : (tensor<2x3xf32>) -> tensor<2x3xi1>
    %31 = stablehlo.select %30, %29, %x : tensor<2x3xi1>, tensor<2x3xf32>
    %32 = stablehlo.compare LT, %31, %x, TOTALORDER : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
    %40 = stablehlo.count_leading_zeros %i : tensor<2x3xi32>
    %41 = stablehlo.not %40 : tensor<2x3xi32>
    %42 = stablehlo.popcnt %41 : tensor<2x3xi32>
    %43 = stablehlo.and %42, %i : tensor<2x3xi32>
    %44 = stablehlo.or %43, %i : tensor<2x3xi32>
    %45 = stablehlo.shift_left %44, %i : tensor<2x3xi32>
    %46 = stablehlo.shift_right_arithmetic %45, %i : tensor<2x3xi32>
    %47 = stablehlo.shift_right_logical %46, %i : tensor<2x3xi32>
    %33 = stablehlo.compare GE, %47, %i, SIGNED : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2x3xi1>
    %34 = stablehlo.xor %32, %33 : tensor<2x3xi1>
    %50 = stablehlo.convert %p : (tensor<4xi1>) -> tensor<4xui8>
    %51 = stablehlo.add %50, %u : tensor<4xui8>
    %60 = stablehlo.real %z : (tensor<2xcomplex<f32>>) -> tensor<2xf32>
    %61 = stablehlo.imag %z : (tensor<2xcomplex<f32>>) -> tensor<2xf32>
    %62 = stablehlo.complex %61, %60 : tensor<2xcomplex<f32>>
    %63 = stablehlo.multiply %62, %z : tensor<2xcomplex<f32>>
    %64 = stablehlo.abs %63 : (tensor<2xcomplex<f32>>) -> tensor<2xf32>
    %70 = stablehlo.exponential %31 {result_accuracy = #stablehlo.result_accuracy<ulps = 10, mode = #stablehlo.result_accuracy_mode<TOLERANCE>>} : tensor<2x3xf32>
    return %70, %47, %51, %p, %63, %64, %34 : tensor<2x3xf32>, tensor<2x3xi32>, tensor<4xui8>, tensor<4xi1>, tensor<2xcomplex<f32>>, tensor<2xf32>, tensor<2x3xi1>
  }
}
