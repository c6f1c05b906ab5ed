module @constants {
  func.func public @main() -> (tensor<3xi32>, tensor<1000000x1000000xf32>, tensor<1xf32>, tensor<0x4xf32>, tensor<4xi4>, tensor<2xui4>, tensor<2xi1>, tensor<2xcomplex<f64>>, tensor<2xbf16>, tensor<2xf8E4M3FN>, tensor<i64>) {
    %0 = stablehlo.constant dense<[1, -2, 3]> : tensor<3xi32>
    %1 = stablehlo.constant dense<1.5> : tensor<1000000x1000000xf32>
    %2 = stablehlo.constant dense<2.0> : tensor<1xf32>
    %3 = stablehlo.constant dense<> : tensor<0x4xf32>
    %4 = stablehlo.constant dense<[-8, 7, -1, 0]> : tensor<4xi4>
    %5 = stablehlo.constant dense<[15, 1]> : tensor<2xui4>
    %6 = stablehlo.constant dense<[true, false]> : tensor<2xi1>
    %7 = stablehlo.constant dense<[(1.0, 2.0), (0.0, -1.0)]> : tensor<2xcomplex<f64>>
    %8 = stablehlo.constant dense<[1.0, 0xFFC0]> : tensor<2xbf16>
    %9 = stablehlo.constant dense<[1.0, -448.0]> : tensor<2xf8E4M3FN>
    %10 = stablehlo.constant dense<-9223372036854775808> : tensor<i64>
    return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10 : tensor<3xi32>, tensor<1000000x1000000xf32>, tensor<1xf32>, tensor<0x4xf32>, tensor<4xi4>, tensor<2xui4>, tensor<2xi1>, tensor<2xcomplex<f64>>, tensor<2xbf16>, tensor<2xf8E4M3FN>, tensor<i64>
  }
}
