module @dynamic {
  func.func public @main(%x: tensor<4x2xf32>, %n: tensor<i32>) -> (tensor<?x2xf32, #stablehlo.bounds<4, ?>>, tensor<i32>, tensor<?x2xf32, #stablehlo.bounds<4, ?>>) {
    %0 = stablehlo.set_dimension_size %x, %n, dim = 0 : (tensor<4x2xf32>, tensor<i32>) -> tensor<?x2xf32, #stablehlo.bounds<4, ?>>
    %1 = stablehlo.get_dimension_size %0, dim = 0 : (tensor<?x2xf32, #stablehlo.bounds<4, ?>>) -> tensor<i32>
    %2 = stablehlo.add %0, %0 : tensor<?x2xf32, #stablehlo.bounds<4, ?>>
    return %0, %1, %2 : tensor<?x2xf32, #stablehlo.bounds<4, ?>>, tensor<i32>, tensor<?x2xf32, #stablehlo.bounds<4, ?>>
  }
}
