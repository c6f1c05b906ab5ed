module @calls attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4xf32>, %arg1: tensor<i32>, %arg2: tensor<i1>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<2x2xf32> {mhlo.layout_mode = "{0,1}"}) {
    %0 = call @half_step(%arg0, %arg0) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %1 = stablehlo.multiply %0, %0 : tensor<4xf32>
    %2 = stablehlo.negate %1 : tensor<4xf32>
    %3 = "stablehlo.if"(%arg2) ({
      %8 = stablehlo.negate %2 : tensor<4xf32>
      stablehlo.return %8 : tensor<4xf32>
    }, {
      stablehlo.return %arg0 : tensor<4xf32>
    }) : (tensor<i1>) -> tensor<4xf32>
    %4 = "stablehlo.case"(%arg1) ({
      %8 = func.call @applied(%arg0) : (tensor<4xf32>) -> tensor<4xf32>
      stablehlo.return %8 : tensor<4xf32>
    }, {
      %8 = func.call @applied(%arg0) : (tensor<4xf32>) -> tensor<4xf32>
      stablehlo.return %8 : tensor<4xf32>
    }, {
      stablehlo.return %arg0 : tensor<4xf32>
    }) : (tensor<i32>) -> tensor<4xf32>
    %5 = stablehlo.composite "my.op" %arg0 {composite_attributes = {k = 3 : i64}, decomposition = @negative, mhlo.frontend_attributes = {other = "kept"}, version = 2 : i32} : (tensor<4xf32>) -> tensor<4xf32>
    %6:2 = stablehlo.custom_call @solve(%arg0) {api_version = 4 : i32, backend_config = {n = 1 : i32, uplo = 76 : ui8}} : (tensor<4xf32>) -> (tensor<4xf32>, tensor<i32>)
    %7 = stablehlo.custom_call @old(%arg0, %arg1) {backend_config = "text", called_computations = [@negative], has_side_effect = true, operand_layouts = [dense<0> : tensor<1xindex>, dense<> : tensor<0xindex>], result_layouts = [dense<[0, 1]> : tensor<2xindex>]} : (tensor<4xf32>, tensor<i32>) -> tensor<2x2xf32>
    return %3, %4, %5, %6#0, %7 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<2x2xf32>
  }
  func.func private @half_step(%arg0: tensor<4xf32>, %arg1: tensor<4xf32>) -> tensor<4xf32> {
    %0 = stablehlo.add %arg0, %arg1 : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
  func.func private @applied(%arg0: tensor<4xf32>) -> tensor<4xf32> {
    %0 = call @negative(%arg0) : (tensor<4xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
  func.func private @negative(%arg0: tensor<4xf32>) -> tensor<4xf32> {
    %0 = stablehlo.negate %arg0 : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}
