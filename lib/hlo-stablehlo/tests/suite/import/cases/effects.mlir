module @effects {
  func.func public @main(%x: tensor<4x2xf32>, %t: !stablehlo.token) -> (tensor<4x2xf32>, !stablehlo.token, tensor<ui32>, tensor<2x4xf32>, tensor<3xf32>) {
    %0:3 = "stablehlo.infeed"(%t) <{infeed_config = "in", layout = [[0, 1], [0]]}> : (!stablehlo.token) -> (tensor<4x2xf32>, tensor<3xf32>, !stablehlo.token)
    %1 = "stablehlo.outfeed"(%0#0, %0#1, %0#2) <{outfeed_config = "out"}> : (tensor<4x2xf32>, tensor<3xf32>, !stablehlo.token) -> !stablehlo.token
    %2 = "stablehlo.send"(%x, %1) <{channel_handle = #stablehlo.channel_handle<handle = 5, type = 2>, is_host_transfer = true}> : (tensor<4x2xf32>, !stablehlo.token) -> !stablehlo.token
    %3:2 = "stablehlo.recv"(%2) <{channel_handle = #stablehlo.channel_handle<handle = 6, type = 3>, is_host_transfer = true}> : (!stablehlo.token) -> (tensor<4x2xf32>, !stablehlo.token)
    %4 = stablehlo.create_token : !stablehlo.token
    %5 = stablehlo.after_all %3#1, %4 : !stablehlo.token
    %6 = stablehlo.replica_id : tensor<ui32>
    %7:2 = stablehlo.custom_call @f(%x) {api_version = 4 : i32, backend_config = {alpha = 1.0 : f32, n = 3 : i64}, has_side_effect = true, operand_layouts = [dense<[0, 1]> : tensor<2xindex>], result_layouts = [dense<[1, 0]> : tensor<2xindex>, dense<0> : tensor<1xindex>]} : (tensor<4x2xf32>) -> (tensor<2x4xf32>, tensor<3xf32>)
    %8 = stablehlo.custom_call @g(%x) {backend_config = "text", output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, operand_tuple_indices = []>]} : (tensor<4x2xf32>) -> tensor<4x2xf32>
    %9 = stablehlo.add %8, %3#0 : tensor<4x2xf32>
    return %9, %5, %6, %7#0, %7#1 : tensor<4x2xf32>, !stablehlo.token, tensor<ui32>, tensor<2x4xf32>, tensor<3xf32>
  }
}
