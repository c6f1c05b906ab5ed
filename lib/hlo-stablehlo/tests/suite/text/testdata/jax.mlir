module @jit_f attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4x3xf32>, %arg1: tensor<3x3xf32>, %arg2: tensor<4xui32>, %arg3: tensor<i32>) -> (tensor<4x3xf32> {jax.result_info = "result[0]"}, tensor<4x3xf32> {jax.result_info = "result[1]"}, tensor<3xf32> {jax.result_info = "result[2]"}, tensor<4x2xf32> {jax.result_info = "result[3]"}, tensor<4x2xi32> {jax.result_info = "result[4]"}, tensor<1x4x3x1xf32> {jax.result_info = "result[5]"}, tensor<3x2xf32> {jax.result_info = "result[6]"}, tensor<4x3xf32> {jax.result_info = "result[7]"}, tensor<4x3xf32> {jax.result_info = "result[8]"}, tensor<4xui32> {jax.result_info = "result[9]"}, tensor<i32> {jax.result_info = "result[10]"}, tensor<3xf32> {jax.result_info = "result[11][0]"}, tensor<3xf32> {jax.result_info = "result[11][1]"}, tensor<4x3xcomplex<f32>> {jax.result_info = "result[12]"}, tensor<1x2xf32> {jax.result_info = "result[13]"}, tensor<7x4xf32> {jax.result_info = "result[14]"}, tensor<4x3xf32> {jax.result_info = "result[15]"}, tensor<4xbf16> {jax.result_info = "result[16]"}, tensor<4x3xf32> {jax.result_info = "result[17]"}, tensor<4xi32> {jax.result_info = "result[18]"}, tensor<4x3xf32> {jax.result_info = "result[19]"}, tensor<4x2xcomplex<f32>> {jax.result_info = "result[20]"}, tensor<12xf32> {jax.result_info = "result[21]"}, tensor<3x4xf32> {jax.result_info = "result[22]"}, tensor<8x3xf32> {jax.result_info = "result[23]"}) {
    %cst = stablehlo.constant dense<[1.000980e-01, 2.000000e+00, 0x7FC0, 0x7F80]> : tensor<4xbf16>
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0], precision = [HIGHEST, HIGHEST] : (tensor<4x3xf32>, tensor<3x3xf32>) -> tensor<4x3xf32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %1 = stablehlo.reduce(%0 init: %cst_0) applies stablehlo.maximum across dimensions = [1] : (tensor<4x3xf32>, tensor<f32>) -> tensor<4xf32>
    %cst_1 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %3 = stablehlo.maximum %2, %1 : tensor<4xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0] : (tensor<4xf32>) -> tensor<4x1xf32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0, 1] : (tensor<4x1xf32>) -> tensor<4x3xf32>
    %6 = stablehlo.subtract %0, %5 : tensor<4x3xf32>
    %7 = stablehlo.exponential %6 : tensor<4x3xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %8 = stablehlo.reduce(%7 init: %cst_2) applies stablehlo.add across dimensions = [1] : (tensor<4x3xf32>, tensor<f32>) -> tensor<4xf32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [0] : (tensor<4xf32>) -> tensor<4x1xf32>
    %10 = stablehlo.broadcast_in_dim %9, dims = [0, 1] : (tensor<4x1xf32>) -> tensor<4x3xf32>
    %11 = stablehlo.divide %7, %10 : tensor<4x3xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_3 = stablehlo.constant dense<0> : tensor<i32>
    %12:3 = stablehlo.while(%iterArg = %c_3, %iterArg_24 = %c, %iterArg_25 = %11) : tensor<i32>, tensor<i32>, tensor<4x3xf32>
    cond {
      %c_26 = stablehlo.constant dense<3> : tensor<i32>
      %66 = stablehlo.compare LT, %iterArg, %c_26, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %66 : tensor<i1>
    } do {
      %66:2 = func.call @closed_call(%iterArg_24, %iterArg_25) : (tensor<i32>, tensor<4x3xf32>) -> (tensor<i32>, tensor<4x3xf32>)
      %c_26 = stablehlo.constant dense<1> : tensor<i32>
      %67 = stablehlo.add %iterArg, %c_26 : tensor<i32>
      stablehlo.return %67, %66#0, %66#1 : tensor<i32>, tensor<i32>, tensor<4x3xf32>
    }
    %13 = call @sort(%12#2) : (tensor<4x3xf32>) -> tensor<4x3xf32>
    %c_4 = stablehlo.constant dense<0> : tensor<i32>
    %14 = stablehlo.compare LT, %arg3, %c_4, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_5 = stablehlo.constant dense<4> : tensor<i32>
    %15 = stablehlo.add %arg3, %c_5 : tensor<i32>
    %16 = stablehlo.select %14, %15, %arg3 : tensor<i1>, tensor<i32>
    %c_6 = stablehlo.constant dense<0> : tensor<i32>
    %c_7 = stablehlo.constant dense<0> : tensor<i32>
    %17 = stablehlo.compare LT, %c_6, %c_7, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_8 = stablehlo.constant dense<0> : tensor<i32>
    %c_9 = stablehlo.constant dense<3> : tensor<i32>
    %18 = stablehlo.add %c_8, %c_9 : tensor<i32>
    %c_10 = stablehlo.constant dense<0> : tensor<i32>
    %19 = stablehlo.select %17, %18, %c_10 : tensor<i1>, tensor<i32>
    %20 = stablehlo.dynamic_slice %13, %16, %19, sizes = [1, 3] : (tensor<4x3xf32>, tensor<i32>, tensor<i32>) -> tensor<1x3xf32>
    %21 = stablehlo.reshape %20 : (tensor<1x3xf32>) -> tensor<3xf32>
    %values, %indices = chlo.top_k(%12#2, k = 2) : tensor<4x3xf32> -> (tensor<4x2xf32>, tensor<4x2xi32>)
    %22 = stablehlo.broadcast_in_dim %arg0, dims = [1, 2] : (tensor<4x3xf32>) -> tensor<1x4x3x1xf32>
    %23 = stablehlo.slice %arg1 [0:2, 0:2] : (tensor<3x3xf32>) -> tensor<2x2xf32>
    %24 = stablehlo.broadcast_in_dim %23, dims = [1, 2] : (tensor<2x2xf32>) -> tensor<1x2x2xf32>
    %25 = stablehlo.reshape %24 : (tensor<1x2x2xf32>) -> tensor<2x2x1x1xf32>
    %26 = stablehlo.convolution(%22, %25) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[0, 1], [0, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<1x4x3x1xf32>, tensor<2x2x1x1xf32>) -> tensor<1x4x3x1xf32>
    %cst_11 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %27 = stablehlo.broadcast_in_dim %cst_11, dims = [] : (tensor<f32>) -> tensor<f32>
    %28 = "stablehlo.reduce_window"(%12#2, %27) <{base_dilations = array<i64: 1, 1>, padding = dense<0> : tensor<2x2xi64>, window_dilations = array<i64: 1, 1>, window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 1, 1>}> ({
    ^bb0(%arg4: tensor<f32>, %arg5: tensor<f32>):
      %66 = stablehlo.maximum %arg4, %arg5 : tensor<f32>
      stablehlo.return %66 : tensor<f32>
    }) : (tensor<4x3xf32>, tensor<f32>) -> tensor<3x2xf32>
    %29 = chlo.erf %12#2 : tensor<4x3xf32> -> tensor<4x3xf32>
    %cst_12 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %30 = stablehlo.broadcast_in_dim %cst_12, dims = [] : (tensor<f32>) -> tensor<4x3xf32>
    %31 = stablehlo.compare GT, %12#2, %30, FLOAT : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xi1>
    %32 = stablehlo.negate %12#2 : tensor<4x3xf32>
    %33 = call @_where(%31, %12#2, %32) : (tensor<4x3xi1>, tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
    %34 = stablehlo.add %29, %33 : tensor<4x3xf32>
    %c_13 = stablehlo.constant dense<0> : tensor<i32>
    %35 = stablehlo.compare LT, %arg3, %c_13, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_14 = stablehlo.constant dense<4> : tensor<i32>
    %36 = stablehlo.add %arg3, %c_14 : tensor<i32>
    %37 = stablehlo.select %35, %36, %arg3 : tensor<i1>, tensor<i32>
    %38 = stablehlo.broadcast_in_dim %37, dims = [] : (tensor<i32>) -> tensor<1xi32>
    %cst_15 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %39 = stablehlo.broadcast_in_dim %cst_15, dims = [] : (tensor<f32>) -> tensor<3xf32>
    %40 = "stablehlo.scatter"(%12#2, %38, %39) <{indices_are_sorted = true, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0]>, unique_indices = true}> ({
    ^bb0(%arg4: tensor<f32>, %arg5: tensor<f32>):
      %66 = stablehlo.add %arg4, %arg5 : tensor<f32>
      stablehlo.return %66 : tensor<f32>
    }) : (tensor<4x3xf32>, tensor<1xi32>, tensor<3xf32>) -> tensor<4x3xf32>
    %41 = stablehlo.reshape %arg2 : (tensor<4xui32>) -> tensor<2x2xui32>
    %42 = stablehlo.bitcast_convert %41 : (tensor<2x2xui32>) -> tensor<2xui64>
    %output_state, %output = stablehlo.rng_bit_generator %42, algorithm = DEFAULT : (tensor<2xui64>) -> (tensor<2xui64>, tensor<4xui32>)
    %43 = stablehlo.bitcast_convert %output_state : (tensor<2xui64>) -> tensor<2x2xui32>
    %44 = stablehlo.reshape %43 : (tensor<2x2xui32>) -> tensor<4xui32>
    %c_16 = stablehlo.constant dense<0> : tensor<i32>
    %45 = stablehlo.compare GT, %arg3, %c_16, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %46 = stablehlo.convert %45 : (tensor<i1>) -> tensor<i32>
    %47 = "stablehlo.case"(%46) ({
      %c_24 = stablehlo.constant dense<1> : tensor<i32>
      %66 = stablehlo.subtract %arg3, %c_24 : tensor<i32>
      stablehlo.return %66 : tensor<i32>
    }, {
      %c_24 = stablehlo.constant dense<1> : tensor<i32>
      %66 = stablehlo.add %arg3, %c_24 : tensor<i32>
      stablehlo.return %66 : tensor<i32>
    }) : (tensor<i32>) -> tensor<i32>
    %cst_17 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %cst_18 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %48:2 = stablehlo.reduce(%12#2 init: %cst_17), (%12#2 init: %cst_18) across dimensions = [0] : (tensor<4x3xf32>, tensor<4x3xf32>, tensor<f32>, tensor<f32>) -> (tensor<3xf32>, tensor<3xf32>)
     reducer(%arg4: tensor<f32>, %arg6: tensor<f32>) (%arg5: tensor<f32>, %arg7: tensor<f32>)  {
      %66 = stablehlo.add %arg4, %arg6 : tensor<f32>
      %67 = stablehlo.multiply %arg5, %arg7 : tensor<f32>
      stablehlo.return %66, %67 : tensor<f32>, tensor<f32>
    }
    %49 = stablehlo.complex %12#2, %12#2 : tensor<4x3xcomplex<f32>>
    %cst_19 = stablehlo.constant dense<(1.000000e+00,2.000000e+00)> : tensor<complex<f32>>
    %50 = stablehlo.broadcast_in_dim %cst_19, dims = [] : (tensor<complex<f32>>) -> tensor<4x3xcomplex<f32>>
    %51 = stablehlo.multiply %49, %50 : tensor<4x3xcomplex<f32>>
    %c_20 = stablehlo.constant dense<0> : tensor<i32>
    %52 = stablehlo.compare LT, %arg3, %c_20, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_21 = stablehlo.constant dense<4> : tensor<i32>
    %53 = stablehlo.add %arg3, %c_21 : tensor<i32>
    %54 = stablehlo.select %52, %53, %arg3 : tensor<i1>, tensor<i32>
    %c_22 = stablehlo.constant dense<0> : tensor<i32>
    %55 = stablehlo.dynamic_slice %12#2, %54, %c_22, sizes = [1, 2] : (tensor<4x3xf32>, tensor<i32>, tensor<i32>) -> tensor<1x2xf32>
    %c_23 = stablehlo.constant dense<0> : tensor<i32>
    %56 = call @_pad(%12#2, %c_23) : (tensor<4x3xf32>, tensor<i32>) -> tensor<7x4xf32>
    %57 = stablehlo.convert %12#2 : (tensor<4x3xf32>) -> tensor<4x3xf8E4M3FN>
    %58 = stablehlo.convert %57 : (tensor<4x3xf8E4M3FN>) -> tensor<4x3xf32>
    %59 = stablehlo.reduce_precision %12#2, format = e5m10 : tensor<4x3xf32>
    %60 = call @argmax(%12#2) : (tensor<4x3xf32>) -> tensor<4xi32>
    %61 = stablehlo.reverse %12#2, dims = [0] : tensor<4x3xf32>
    %62 = call @fft(%12#2) : (tensor<4x3xf32>) -> tensor<4x2xcomplex<f32>>
    %63 = call @cumsum(%12#2) : (tensor<4x3xf32>) -> tensor<12xf32>
    %64 = stablehlo.transpose %12#2, dims = [1, 0] : (tensor<4x3xf32>) -> tensor<3x4xf32>
    %65 = stablehlo.concatenate %12#2, %12#2, dim = 0 : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<8x3xf32>
    return %11, %13, %21, %values, %indices, %26, %28, %34, %40, %output, %47, %48#0, %48#1, %51, %55, %56, %58, %cst, %59, %60, %61, %62, %63, %64, %65 : tensor<4x3xf32>, tensor<4x3xf32>, tensor<3xf32>, tensor<4x2xf32>, tensor<4x2xi32>, tensor<1x4x3x1xf32>, tensor<3x2xf32>, tensor<4x3xf32>, tensor<4x3xf32>, tensor<4xui32>, tensor<i32>, tensor<3xf32>, tensor<3xf32>, tensor<4x3xcomplex<f32>>, tensor<1x2xf32>, tensor<7x4xf32>, tensor<4x3xf32>, tensor<4xbf16>, tensor<4x3xf32>, tensor<4xi32>, tensor<4x3xf32>, tensor<4x2xcomplex<f32>>, tensor<12xf32>, tensor<3x4xf32>, tensor<8x3xf32>
  }
  func.func private @closed_call(%arg0: tensor<i32>, %arg1: tensor<4x3xf32>) -> (tensor<i32>, tensor<4x3xf32>) {
    %c = stablehlo.constant dense<1> : tensor<i32>
    %0 = stablehlo.add %arg0, %c : tensor<i32>
    %cst = stablehlo.constant dense<1.500000e+00> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x3xf32>
    %2 = stablehlo.multiply %arg1, %1 : tensor<4x3xf32>
    %3 = stablehlo.convert %arg0 : (tensor<i32>) -> tensor<f32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [] : (tensor<f32>) -> tensor<4x3xf32>
    %5 = stablehlo.add %2, %4 : tensor<4x3xf32>
    return %0, %5 : tensor<i32>, tensor<4x3xf32>
  }
  func.func private @sort(%arg0: tensor<4x3xf32>) -> tensor<4x3xf32> {
    %0 = "stablehlo.sort"(%arg0) <{dimension = 1 : i64, is_stable = true}> ({
    ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
      %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %1 = stablehlo.compare EQ, %arg1, %cst, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %2 = stablehlo.select %1, %cst_0, %arg1 : tensor<i1>, tensor<f32>
      %3 = stablehlo.compare NE, %arg1, %arg1, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %cst_1 = stablehlo.constant dense<0x7FC00000> : tensor<f32>
      %4 = stablehlo.select %3, %cst_1, %2 : tensor<i1>, tensor<f32>
      %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %5 = stablehlo.compare EQ, %arg2, %cst_2, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %6 = stablehlo.select %5, %cst_3, %arg2 : tensor<i1>, tensor<f32>
      %7 = stablehlo.compare NE, %arg2, %arg2, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %cst_4 = stablehlo.constant dense<0x7FC00000> : tensor<f32>
      %8 = stablehlo.select %7, %cst_4, %6 : tensor<i1>, tensor<f32>
      %9 = stablehlo.compare LT, %4, %8, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %9 : tensor<i1>
    }) : (tensor<4x3xf32>) -> tensor<4x3xf32>
    return %0 : tensor<4x3xf32>
  }
  func.func private @_where(%arg0: tensor<4x3xi1>, %arg1: tensor<4x3xf32>, %arg2: tensor<4x3xf32>) -> tensor<4x3xf32> {
    %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<4x3xi1>, tensor<4x3xf32>
    return %0 : tensor<4x3xf32>
  }
  func.func private @_pad(%arg0: tensor<4x3xf32>, %arg1: tensor<i32>) -> tensor<7x4xf32> {
    %0 = stablehlo.convert %arg1 : (tensor<i32>) -> tensor<f32>
    %1 = stablehlo.pad %arg0, %0, low = [1, 0], high = [2, 1], interior = [0, 0] : (tensor<4x3xf32>, tensor<f32>) -> tensor<7x4xf32>
    return %1 : tensor<7x4xf32>
  }
  func.func private @argmax(%arg0: tensor<4x3xf32>) -> tensor<4xi32> {
    %0 = stablehlo.iota dim = 1 : tensor<4x3xi32>
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1:2 = stablehlo.reduce(%arg0 init: %cst), (%0 init: %c) across dimensions = [1] : (tensor<4x3xf32>, tensor<4x3xi32>, tensor<f32>, tensor<i32>) -> (tensor<4xf32>, tensor<4xi32>)
     reducer(%arg1: tensor<f32>, %arg3: tensor<f32>) (%arg2: tensor<i32>, %arg4: tensor<i32>)  {
      %2 = stablehlo.compare GT, %arg1, %arg3, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %3 = stablehlo.compare NE, %arg1, %arg1, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %4 = stablehlo.or %2, %3 : tensor<i1>
      %5 = stablehlo.compare EQ, %arg1, %arg3, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %6 = stablehlo.compare LT, %arg2, %arg4, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %7 = stablehlo.and %5, %6 : tensor<i1>
      %8 = stablehlo.or %4, %7 : tensor<i1>
      %9 = stablehlo.select %4, %arg1, %arg3 : tensor<i1>, tensor<f32>
      %10 = stablehlo.select %8, %arg2, %arg4 : tensor<i1>, tensor<i32>
      stablehlo.return %9, %10 : tensor<f32>, tensor<i32>
    }
    return %1#1 : tensor<4xi32>
  }
  func.func private @fft(%arg0: tensor<4x3xf32>) -> tensor<4x2xcomplex<f32>> {
    %0 = stablehlo.fft %arg0, type = RFFT, length = [3] : (tensor<4x3xf32>) -> tensor<4x2xcomplex<f32>>
    return %0 : tensor<4x2xcomplex<f32>>
  }
  func.func private @cumsum(%arg0: tensor<4x3xf32>) -> tensor<12xf32> {
    %0 = stablehlo.reshape %arg0 : (tensor<4x3xf32>) -> tensor<12xf32>
    %1 = call @cumsum_0(%0) : (tensor<12xf32>) -> tensor<12xf32>
    return %1 : tensor<12xf32>
  }
  func.func private @cumsum_0(%arg0: tensor<12xf32>) -> tensor<12xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<f32>
    %1 = "stablehlo.reduce_window"(%arg0, %0) <{base_dilations = array<i64: 1>, padding = dense<[[11, 0]]> : tensor<1x2xi64>, window_dilations = array<i64: 1>, window_dimensions = array<i64: 12>, window_strides = array<i64: 1>}> ({
    ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
      %2 = stablehlo.add %arg1, %arg2 : tensor<f32>
      stablehlo.return %2 : tensor<f32>
    }) : (tensor<12xf32>, tensor<f32>) -> tensor<12xf32>
    return %1 : tensor<12xf32>
  }
}
