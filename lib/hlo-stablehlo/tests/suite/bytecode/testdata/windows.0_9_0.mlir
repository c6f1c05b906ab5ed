"builtin.module"() <{sym_name = "jit_windows"}> ({
  "func.func"() <{arg_attrs = [{}, {}], function_type = (tensor<1x8x8x2xf32>, tensor<3x3x2x4xf32>) -> (tensor<1x4x8x4xf32>, tensor<1x4x8x4xf32>, tensor<3x10x10x4xf32>, tensor<1x3x4x4xf32>), res_attrs = [{jax.result_info = "result[0]"}, {jax.result_info = "result[1]"}, {jax.result_info = "result[2]"}, {jax.result_info = "result[3]"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg3: tensor<1x8x8x2xf32>, %arg4: tensor<3x3x2x4xf32>):
    %3 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %4 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %5 = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
    %6 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %7 = "stablehlo.convolution"(%arg3, %arg4) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, padding = dense<[[0, 1], [1, 1]]> : tensor<2x2xi64>, window_strides = array<i64: 2, 1>}> : (tensor<1x8x8x2xf32>, tensor<3x3x2x4xf32>) -> tensor<1x4x8x4xf32>
    %8 = "stablehlo.broadcast_in_dim"(%6) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x2x8x4xf32>
    %9 = "stablehlo.pad"(%7, %5) <{edge_padding_high = array<i64: 0, 0, 0, 0>, edge_padding_low = array<i64: 0, 0, 0, 0>, interior_padding = array<i64: 0, 0, 0, 0>}> : (tensor<1x4x8x4xf32>, tensor<f32>) -> tensor<1x4x8x4xf32>
    %10 = "stablehlo.select_and_scatter"(%9, %8, %4) <{window_dimensions = array<i64: 1, 2, 1, 1>, window_strides = array<i64: 1, 2, 1, 1>}> ({
    ^bb0(%arg7: tensor<f32>, %arg8: tensor<f32>):
      %16 = "stablehlo.compare"(%arg7, %arg8) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
      "stablehlo.return"(%16) : (tensor<i1>) -> ()
    }, {
    ^bb0(%arg5: tensor<f32>, %arg6: tensor<f32>):
      %15 = "stablehlo.add"(%arg5, %arg6) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%15) : (tensor<f32>) -> ()
    }) : (tensor<1x4x8x4xf32>, tensor<1x2x8x4xf32>, tensor<f32>) -> tensor<1x4x8x4xf32>
    %11 = "stablehlo.slice"(%10) <{limit_indices = array<i64: 1, 4, 8, 4>, start_indices = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1, 1, 1>}> : (tensor<1x4x8x4xf32>) -> tensor<1x4x8x4xf32>
    %12 = "func.call"(%arg3, %3) <{callee = @_pad}> : (tensor<1x8x8x2xf32>, tensor<i32>) -> tensor<3x10x10x4xf32>
    %13 = "func.call"(%7) <{callee = @_flip}> : (tensor<1x4x8x4xf32>) -> tensor<1x4x8x4xf32>
    %14 = "stablehlo.slice"(%13) <{limit_indices = array<i64: 1, 4, 8, 4>, start_indices = array<i64: 0, 1, 0, 0>, strides = array<i64: 1, 1, 2, 1>}> : (tensor<1x4x8x4xf32>) -> tensor<1x3x4x4xf32>
    "func.return"(%7, %11, %12, %14) : (tensor<1x4x8x4xf32>, tensor<1x4x8x4xf32>, tensor<3x10x10x4xf32>, tensor<1x3x4x4xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}], function_type = (tensor<1x8x8x2xf32>, tensor<i32>) -> tensor<3x10x10x4xf32>, res_attrs = [{}], sym_name = "_pad", sym_visibility = "private"}> ({
  ^bb0(%arg1: tensor<1x8x8x2xf32>, %arg2: tensor<i32>):
    %1 = "stablehlo.convert"(%arg2) : (tensor<i32>) -> tensor<f32>
    %2 = "stablehlo.pad"(%arg1, %1) <{edge_padding_high = array<i64: 1, 1, 1, 1>, edge_padding_low = array<i64: 1, 1, 1, 1>, interior_padding = array<i64: 0, 0, 0, 0>}> : (tensor<1x8x8x2xf32>, tensor<f32>) -> tensor<3x10x10x4xf32>
    "func.return"(%2) : (tensor<3x10x10x4xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<1x4x8x4xf32>) -> tensor<1x4x8x4xf32>, res_attrs = [{}], sym_name = "_flip", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<1x4x8x4xf32>):
    %0 = "stablehlo.reverse"(%arg0) <{dimensions = array<i64: 1>}> : (tensor<1x4x8x4xf32>) -> tensor<1x4x8x4xf32>
    "func.return"(%0) : (tensor<1x4x8x4xf32>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
