module @composite {
  func.func public @main(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<2xf32>, tensor<2xi32>) {
    %0 = stablehlo.composite "my.op" %x {composite_attributes = {n = 3 : i64}, decomposition = @my_op, version = 2 : i32} : (tensor<4xf32>) -> tensor<4xf32>
    %1 = stablehlo.composite "chlo.erf" %0 {decomposition = @my_op, version = 1 : i32} : (tensor<4xf32>) -> tensor<4xf32>
    %2:2 = stablehlo.composite "chlo.top_k" %x {composite_attributes = {k = 2 : i64, largest = true}, decomposition = @top, version = 1 : i32} : (tensor<4xf32>) -> (tensor<2xf32>, tensor<2xi32>)
    return %0, %1, %2#0, %2#1 : tensor<4xf32>, tensor<4xf32>, tensor<2xf32>, tensor<2xi32>
  }
  func.func private @my_op(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = stablehlo.negate %x : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
  func.func private @top(%x: tensor<4xf32>) -> (tensor<2xf32>, tensor<2xi32>) {
    %0 = stablehlo.slice %x [0:2] : (tensor<4xf32>) -> tensor<2xf32>
    %1 = stablehlo.iota dim = 0 : tensor<2xi32>
    return %0, %1 : tensor<2xf32>, tensor<2xi32>
  }
}
