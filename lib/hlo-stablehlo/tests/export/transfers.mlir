module @transfers attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2xf32>) -> tensor<2xf32> {
    %0 = stablehlo.create_token : !stablehlo.token
    %1:3 = "stablehlo.infeed"(%0) <{infeed_config = "from"}> : (!stablehlo.token) -> (tensor<2xf32>, tensor<i32>, !stablehlo.token)
    %2 = "stablehlo.outfeed"(%1#0, %1#1, %1#2) <{outfeed_config = "to"}> : (tensor<2xf32>, tensor<i32>, !stablehlo.token) -> !stablehlo.token
    %3 = "stablehlo.send"(%arg0, %2) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 2>, is_host_transfer = true}> {mhlo.frontend_attributes = {_xla_host_transfer_rendezvous = "a"}} : (tensor<2xf32>, !stablehlo.token) -> !stablehlo.token
    %4:2 = "stablehlo.recv"(%3) <{channel_handle = #stablehlo.channel_handle<handle = 2, type = 3>, is_host_transfer = true}> : (!stablehlo.token) -> (tensor<2xf32>, !stablehlo.token)
    %5 = stablehlo.after_all %3, %4#1 : !stablehlo.token
    %6:2 = stablehlo.optimization_barrier %4#0, %5 : tensor<2xf32>, !stablehlo.token
    %7 = stablehlo.negate %6#0 : tensor<2xf32>
    return %7 : tensor<2xf32>
  }
}
