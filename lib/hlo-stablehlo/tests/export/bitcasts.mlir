module @bitcasts attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x3xf32> {mhlo.layout_mode = "{0,1}"}, %arg1: tensor<4x2xui8>) -> (tensor<3x2xf32>, tensor<2x3xf32>, tensor<2x3x4xui8>, tensor<4xi16>, tensor<2x3xi32> {mhlo.layout_mode = "{0,1}"}) {
    %0 = stablehlo.transpose %arg0, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
    %1 = stablehlo.transpose %arg0, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
    %2 = stablehlo.reshape %1 : (tensor<3x2xf32>) -> tensor<2x3xf32>
    %3 = stablehlo.bitcast_convert %2 : (tensor<2x3xf32>) -> tensor<2x3x4xui8>
    %4 = stablehlo.bitcast_convert %arg1 : (tensor<4x2xui8>) -> tensor<4xi16>
    %5 = stablehlo.bitcast_convert %2 : (tensor<2x3xf32>) -> tensor<2x3xi32>
    %6 = stablehlo.reshape %5 : (tensor<2x3xi32>) -> tensor<3x2xi32>
    %7 = stablehlo.transpose %6, dims = [1, 0] : (tensor<3x2xi32>) -> tensor<2x3xi32>
    return %0, %2, %3, %4, %7 : tensor<3x2xf32>, tensor<2x3xf32>, tensor<2x3x4xui8>, tensor<4xi16>, tensor<2x3xi32>
  }
}
