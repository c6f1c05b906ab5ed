"builtin.module"() <{sym_name = "jit_f"}> ({
  "func.func"() <{function_type = (tensor<4x3xf32>, tensor<3x3xf32>, tensor<4xui32>, tensor<i32>) -> (tensor<4x3xf32>, tensor<4x3xf32>, tensor<3xf32>, tensor<4x2xf32>, tensor<4x2xi32>, tensor<1x4x3x1xf32>, tensor<3x2xf32>, tensor<4x3xf32>, tensor<4x3xf32>, tensor<4xui32>, tensor<i32>, tensor<3xf32>, tensor<3xf32>, tensor<4x3xcomplex<f32>>, tensor<1x2xf32>, tensor<7x4xf32>, tensor<4x3xf32>, tensor<4xbf16>, tensor<4x3xf32>, tensor<4xi32>, tensor<4x3xf32>, tensor<4x2xcomplex<f32>>, tensor<12xf32>, tensor<3x4xf32>, tensor<8x3xf32>), res_attrs = [{jax.result_info = "result[0]"}, {jax.result_info = "result[1]"}, {jax.result_info = "result[2]"}, {jax.result_info = "result[3]"}, {jax.result_info = "result[4]"}, {jax.result_info = "result[5]"}, {jax.result_info = "result[6]"}, {jax.result_info = "result[7]"}, {jax.result_info = "result[8]"}, {jax.result_info = "result[9]"}, {jax.result_info = "result[10]"}, {jax.result_info = "result[11][0]"}, {jax.result_info = "result[11][1]"}, {jax.result_info = "result[12]"}, {jax.result_info = "result[13]"}, {jax.result_info = "result[14]"}, {jax.result_info = "result[15]"}, {jax.result_info = "result[16]"}, {jax.result_info = "result[17]"}, {jax.result_info = "result[18]"}, {jax.result_info = "result[19]"}, {jax.result_info = "result[20]"}, {jax.result_info = "result[21]"}, {jax.result_info = "result[22]"}, {jax.result_info = "result[23]"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg20: tensor<4x3xf32>, %arg21: tensor<3x3xf32>, %arg22: tensor<4xui32>, %arg23: tensor<i32>):
    %47 = "stablehlo.constant"() <{value = dense<[1.000980e-01, 2.000000e+00, 0x7FC0, 0x7F80]> : tensor<4xbf16>}> : () -> tensor<4xbf16>
    %48 = "stablehlo.dot_general"(%arg20, %arg21) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision HIGHEST>, #stablehlo<precision HIGHEST>]}> : (tensor<4x3xf32>, tensor<3x3xf32>) -> tensor<4x3xf32>
    %49 = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
    %50 = "stablehlo.reduce"(%48, %49) <{dimensions = array<i64: 1>}> ({
    ^bb0(%arg40: tensor<f32>, %arg41: tensor<f32>):
      %155 = "stablehlo.maximum"(%arg40, %arg41) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%155) : (tensor<f32>) -> ()
    }) : (tensor<4x3xf32>, tensor<f32>) -> tensor<4xf32>
    %51 = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
    %52 = "stablehlo.broadcast_in_dim"(%51) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4xf32>
    %53 = "stablehlo.maximum"(%52, %50) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %54 = "stablehlo.broadcast_in_dim"(%53) <{broadcast_dimensions = array<i64: 0>}> : (tensor<4xf32>) -> tensor<4x1xf32>
    %55 = "stablehlo.broadcast_in_dim"(%54) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<4x1xf32>) -> tensor<4x3xf32>
    %56 = "stablehlo.subtract"(%48, %55) : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
    %57 = "stablehlo.exponential"(%56) : (tensor<4x3xf32>) -> tensor<4x3xf32>
    %58 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %59 = "stablehlo.reduce"(%57, %58) <{dimensions = array<i64: 1>}> ({
    ^bb0(%arg38: tensor<f32>, %arg39: tensor<f32>):
      %154 = "stablehlo.add"(%arg38, %arg39) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%154) : (tensor<f32>) -> ()
    }) : (tensor<4x3xf32>, tensor<f32>) -> tensor<4xf32>
    %60 = "stablehlo.broadcast_in_dim"(%59) <{broadcast_dimensions = array<i64: 0>}> : (tensor<4xf32>) -> tensor<4x1xf32>
    %61 = "stablehlo.broadcast_in_dim"(%60) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<4x1xf32>) -> tensor<4x3xf32>
    %62 = "stablehlo.divide"(%57, %61) : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
    %63 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %64 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %65:3 = "stablehlo.while"(%64, %63, %62) ({
    ^bb0(%arg35: tensor<i32>, %arg36: tensor<i32>, %arg37: tensor<4x3xf32>):
      %152 = "stablehlo.constant"() <{value = dense<3> : tensor<i32>}> : () -> tensor<i32>
      %153 = "stablehlo.compare"(%arg35, %152) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
      "stablehlo.return"(%153) : (tensor<i1>) -> ()
    }, {
    ^bb0(%arg32: tensor<i32>, %arg33: tensor<i32>, %arg34: tensor<4x3xf32>):
      %149:2 = "func.call"(%arg33, %arg34) <{callee = @closed_call}> : (tensor<i32>, tensor<4x3xf32>) -> (tensor<i32>, tensor<4x3xf32>)
      %150 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
      %151 = "stablehlo.add"(%arg32, %150) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      "stablehlo.return"(%151, %149#0, %149#1) : (tensor<i32>, tensor<i32>, tensor<4x3xf32>) -> ()
    }) : (tensor<i32>, tensor<i32>, tensor<4x3xf32>) -> (tensor<i32>, tensor<i32>, tensor<4x3xf32>)
    %66 = "func.call"(%65#2) <{callee = @sort}> : (tensor<4x3xf32>) -> tensor<4x3xf32>
    %67 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %68 = "stablehlo.compare"(%arg23, %67) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %69 = "stablehlo.constant"() <{value = dense<4> : tensor<i32>}> : () -> tensor<i32>
    %70 = "stablehlo.add"(%arg23, %69) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %71 = "stablehlo.select"(%68, %70, %arg23) : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
    %72 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %73 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %74 = "stablehlo.compare"(%72, %73) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %75 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %76 = "stablehlo.constant"() <{value = dense<3> : tensor<i32>}> : () -> tensor<i32>
    %77 = "stablehlo.add"(%75, %76) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %78 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %79 = "stablehlo.select"(%74, %77, %78) : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
    %80 = "stablehlo.dynamic_slice"(%66, %71, %79) <{slice_sizes = array<i64: 1, 3>}> : (tensor<4x3xf32>, tensor<i32>, tensor<i32>) -> tensor<1x3xf32>
    %81 = "stablehlo.reshape"(%80) : (tensor<1x3xf32>) -> tensor<3xf32>
    %82:2 = "chlo.top_k"(%65#2) <{k = 2 : i64}> : (tensor<4x3xf32>) -> (tensor<4x2xf32>, tensor<4x2xi32>)
    %83 = "stablehlo.broadcast_in_dim"(%arg20) <{broadcast_dimensions = array<i64: 1, 2>}> : (tensor<4x3xf32>) -> tensor<1x4x3x1xf32>
    %84 = "stablehlo.slice"(%arg21) <{limit_indices = array<i64: 2, 2>, start_indices = array<i64: 0, 0>, strides = array<i64: 1, 1>}> : (tensor<3x3xf32>) -> tensor<2x2xf32>
    %85 = "stablehlo.broadcast_in_dim"(%84) <{broadcast_dimensions = array<i64: 1, 2>}> : (tensor<2x2xf32>) -> tensor<1x2x2xf32>
    %86 = "stablehlo.reshape"(%85) : (tensor<1x2x2xf32>) -> tensor<2x2x1x1xf32>
    %87 = "stablehlo.convolution"(%83, %86) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, lhs_dilation = array<i64: 1, 1>, padding = dense<[[0, 1], [0, 1]]> : tensor<2x2xi64>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>], rhs_dilation = array<i64: 1, 1>, window_reversal = array<i1: false, false>, window_strides = array<i64: 1, 1>}> : (tensor<1x4x3x1xf32>, tensor<2x2x1x1xf32>) -> tensor<1x4x3x1xf32>
    %88 = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
    %89 = "stablehlo.broadcast_in_dim"(%88) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<f32>
    %90 = "stablehlo.reduce_window"(%65#2, %89) <{base_dilations = array<i64: 1, 1>, padding = dense<0> : tensor<2x2xi64>, window_dilations = array<i64: 1, 1>, window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 1, 1>}> ({
    ^bb0(%arg30: tensor<f32>, %arg31: tensor<f32>):
      %148 = "stablehlo.maximum"(%arg30, %arg31) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%148) : (tensor<f32>) -> ()
    }) : (tensor<4x3xf32>, tensor<f32>) -> tensor<3x2xf32>
    %91 = "chlo.erf"(%65#2) : (tensor<4x3xf32>) -> tensor<4x3xf32>
    %92 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %93 = "stablehlo.broadcast_in_dim"(%92) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4x3xf32>
    %94 = "stablehlo.compare"(%65#2, %93) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction GT>}> : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xi1>
    %95 = "stablehlo.negate"(%65#2) : (tensor<4x3xf32>) -> tensor<4x3xf32>
    %96 = "func.call"(%94, %65#2, %95) <{callee = @_where}> : (tensor<4x3xi1>, tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
    %97 = "stablehlo.add"(%91, %96) : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
    %98 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %99 = "stablehlo.compare"(%arg23, %98) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %100 = "stablehlo.constant"() <{value = dense<4> : tensor<i32>}> : () -> tensor<i32>
    %101 = "stablehlo.add"(%arg23, %100) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %102 = "stablehlo.select"(%99, %101, %arg23) : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
    %103 = "stablehlo.broadcast_in_dim"(%102) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<1xi32>
    %104 = "stablehlo.constant"() <{value = dense<2.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %105 = "stablehlo.broadcast_in_dim"(%104) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<3xf32>
    %106 = "stablehlo.scatter"(%65#2, %103, %105) <{indices_are_sorted = true, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0]>, unique_indices = true}> ({
    ^bb0(%arg28: tensor<f32>, %arg29: tensor<f32>):
      %147 = "stablehlo.add"(%arg28, %arg29) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%147) : (tensor<f32>) -> ()
    }) : (tensor<4x3xf32>, tensor<1xi32>, tensor<3xf32>) -> tensor<4x3xf32>
    %107 = "stablehlo.reshape"(%arg22) : (tensor<4xui32>) -> tensor<2x2xui32>
    %108 = "stablehlo.bitcast_convert"(%107) : (tensor<2x2xui32>) -> tensor<2xui64>
    %109:2 = "stablehlo.rng_bit_generator"(%108) <{rng_algorithm = #stablehlo<rng_algorithm DEFAULT>}> : (tensor<2xui64>) -> (tensor<2xui64>, tensor<4xui32>)
    %110 = "stablehlo.bitcast_convert"(%109#0) : (tensor<2xui64>) -> tensor<2x2xui32>
    %111 = "stablehlo.reshape"(%110) : (tensor<2x2xui32>) -> tensor<4xui32>
    %112 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %113 = "stablehlo.compare"(%arg23, %112) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction GT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %114 = "stablehlo.convert"(%113) : (tensor<i1>) -> tensor<i32>
    %115 = "stablehlo.case"(%114) ({
      %145 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
      %146 = "stablehlo.subtract"(%arg23, %145) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      "stablehlo.return"(%146) : (tensor<i32>) -> ()
    }, {
      %143 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
      %144 = "stablehlo.add"(%arg23, %143) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      "stablehlo.return"(%144) : (tensor<i32>) -> ()
    }) : (tensor<i32>) -> tensor<i32>
    %116 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %117 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %118:2 = "stablehlo.reduce"(%65#2, %65#2, %116, %117) <{dimensions = array<i64: 0>}> ({
    ^bb0(%arg24: tensor<f32>, %arg25: tensor<f32>, %arg26: tensor<f32>, %arg27: tensor<f32>):
      %141 = "stablehlo.add"(%arg24, %arg26) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      %142 = "stablehlo.multiply"(%arg25, %arg27) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%141, %142) : (tensor<f32>, tensor<f32>) -> ()
    }) : (tensor<4x3xf32>, tensor<4x3xf32>, tensor<f32>, tensor<f32>) -> (tensor<3xf32>, tensor<3xf32>)
    %119 = "stablehlo.complex"(%65#2, %65#2) : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xcomplex<f32>>
    %120 = "stablehlo.constant"() <{value = dense<(1.000000e+00,2.000000e+00)> : tensor<complex<f32>>}> : () -> tensor<complex<f32>>
    %121 = "stablehlo.broadcast_in_dim"(%120) <{broadcast_dimensions = array<i64>}> : (tensor<complex<f32>>) -> tensor<4x3xcomplex<f32>>
    %122 = "stablehlo.multiply"(%119, %121) : (tensor<4x3xcomplex<f32>>, tensor<4x3xcomplex<f32>>) -> tensor<4x3xcomplex<f32>>
    %123 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %124 = "stablehlo.compare"(%arg23, %123) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %125 = "stablehlo.constant"() <{value = dense<4> : tensor<i32>}> : () -> tensor<i32>
    %126 = "stablehlo.add"(%arg23, %125) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %127 = "stablehlo.select"(%124, %126, %arg23) : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
    %128 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %129 = "stablehlo.dynamic_slice"(%65#2, %127, %128) <{slice_sizes = array<i64: 1, 2>}> : (tensor<4x3xf32>, tensor<i32>, tensor<i32>) -> tensor<1x2xf32>
    %130 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %131 = "func.call"(%65#2, %130) <{callee = @_pad}> : (tensor<4x3xf32>, tensor<i32>) -> tensor<7x4xf32>
    %132 = "stablehlo.convert"(%65#2) : (tensor<4x3xf32>) -> tensor<4x3xf8E4M3FN>
    %133 = "stablehlo.convert"(%132) : (tensor<4x3xf8E4M3FN>) -> tensor<4x3xf32>
    %134 = "stablehlo.reduce_precision"(%65#2) <{exponent_bits = 5 : i32, mantissa_bits = 10 : i32}> : (tensor<4x3xf32>) -> tensor<4x3xf32>
    %135 = "func.call"(%65#2) <{callee = @argmax}> : (tensor<4x3xf32>) -> tensor<4xi32>
    %136 = "stablehlo.reverse"(%65#2) <{dimensions = array<i64: 0>}> : (tensor<4x3xf32>) -> tensor<4x3xf32>
    %137 = "func.call"(%65#2) <{callee = @fft}> : (tensor<4x3xf32>) -> tensor<4x2xcomplex<f32>>
    %138 = "func.call"(%65#2) <{callee = @cumsum}> : (tensor<4x3xf32>) -> tensor<12xf32>
    %139 = "stablehlo.transpose"(%65#2) <{permutation = array<i64: 1, 0>}> : (tensor<4x3xf32>) -> tensor<3x4xf32>
    %140 = "stablehlo.concatenate"(%65#2, %65#2) <{dimension = 0 : i64}> : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<8x3xf32>
    "func.return"(%62, %66, %81, %82#0, %82#1, %87, %90, %97, %106, %109#1, %115, %118#0, %118#1, %122, %129, %131, %133, %47, %134, %135, %136, %137, %138, %139, %140) : (tensor<4x3xf32>, tensor<4x3xf32>, tensor<3xf32>, tensor<4x2xf32>, tensor<4x2xi32>, tensor<1x4x3x1xf32>, tensor<3x2xf32>, tensor<4x3xf32>, tensor<4x3xf32>, tensor<4xui32>, tensor<i32>, tensor<3xf32>, tensor<3xf32>, tensor<4x3xcomplex<f32>>, tensor<1x2xf32>, tensor<7x4xf32>, tensor<4x3xf32>, tensor<4xbf16>, tensor<4x3xf32>, tensor<4xi32>, tensor<4x3xf32>, tensor<4x2xcomplex<f32>>, tensor<12xf32>, tensor<3x4xf32>, tensor<8x3xf32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<i32>, tensor<4x3xf32>) -> (tensor<i32>, tensor<4x3xf32>), sym_name = "closed_call", sym_visibility = "private"}> ({
  ^bb0(%arg18: tensor<i32>, %arg19: tensor<4x3xf32>):
    %39 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %40 = "stablehlo.add"(%arg18, %39) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %41 = "stablehlo.constant"() <{value = dense<1.500000e+00> : tensor<f32>}> : () -> tensor<f32>
    %42 = "stablehlo.broadcast_in_dim"(%41) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4x3xf32>
    %43 = "stablehlo.multiply"(%arg19, %42) : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
    %44 = "stablehlo.convert"(%arg18) : (tensor<i32>) -> tensor<f32>
    %45 = "stablehlo.broadcast_in_dim"(%44) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4x3xf32>
    %46 = "stablehlo.add"(%43, %45) : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
    "func.return"(%40, %46) : (tensor<i32>, tensor<4x3xf32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<4x3xf32>) -> tensor<4x3xf32>, sym_name = "sort", sym_visibility = "private"}> ({
  ^bb0(%arg15: tensor<4x3xf32>):
    %23 = "stablehlo.sort"(%arg15) <{dimension = 1 : i64, is_stable = true}> ({
    ^bb0(%arg16: tensor<f32>, %arg17: tensor<f32>):
      %24 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
      %25 = "stablehlo.compare"(%arg16, %24) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %26 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
      %27 = "stablehlo.select"(%25, %26, %arg16) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
      %28 = "stablehlo.compare"(%arg16, %arg16) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction NE>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %29 = "stablehlo.constant"() <{value = dense<0x7FC00000> : tensor<f32>}> : () -> tensor<f32>
      %30 = "stablehlo.select"(%28, %29, %27) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
      %31 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
      %32 = "stablehlo.compare"(%arg17, %31) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %33 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
      %34 = "stablehlo.select"(%32, %33, %arg17) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
      %35 = "stablehlo.compare"(%arg17, %arg17) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction NE>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %36 = "stablehlo.constant"() <{value = dense<0x7FC00000> : tensor<f32>}> : () -> tensor<f32>
      %37 = "stablehlo.select"(%35, %36, %34) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
      %38 = "stablehlo.compare"(%30, %37) <{compare_type = #stablehlo<comparison_type TOTALORDER>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
      "stablehlo.return"(%38) : (tensor<i1>) -> ()
    }) : (tensor<4x3xf32>) -> tensor<4x3xf32>
    "func.return"(%23) : (tensor<4x3xf32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<4x3xi1>, tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>, sym_name = "_where", sym_visibility = "private"}> ({
  ^bb0(%arg12: tensor<4x3xi1>, %arg13: tensor<4x3xf32>, %arg14: tensor<4x3xf32>):
    %22 = "stablehlo.select"(%arg12, %arg13, %arg14) : (tensor<4x3xi1>, tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
    "func.return"(%22) : (tensor<4x3xf32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<4x3xf32>, tensor<i32>) -> tensor<7x4xf32>, sym_name = "_pad", sym_visibility = "private"}> ({
  ^bb0(%arg10: tensor<4x3xf32>, %arg11: tensor<i32>):
    %20 = "stablehlo.convert"(%arg11) : (tensor<i32>) -> tensor<f32>
    %21 = "stablehlo.pad"(%arg10, %20) <{edge_padding_high = array<i64: 2, 1>, edge_padding_low = array<i64: 1, 0>, interior_padding = array<i64: 0, 0>}> : (tensor<4x3xf32>, tensor<f32>) -> tensor<7x4xf32>
    "func.return"(%21) : (tensor<7x4xf32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<4x3xf32>) -> tensor<4xi32>, sym_name = "argmax", sym_visibility = "private"}> ({
  ^bb0(%arg5: tensor<4x3xf32>):
    %7 = "stablehlo.iota"() <{iota_dimension = 1 : i64}> : () -> tensor<4x3xi32>
    %8 = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
    %9 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %10:2 = "stablehlo.reduce"(%arg5, %7, %8, %9) <{dimensions = array<i64: 1>}> ({
    ^bb0(%arg6: tensor<f32>, %arg7: tensor<i32>, %arg8: tensor<f32>, %arg9: tensor<i32>):
      %11 = "stablehlo.compare"(%arg6, %arg8) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction GT>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %12 = "stablehlo.compare"(%arg6, %arg6) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction NE>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %13 = "stablehlo.or"(%11, %12) : (tensor<i1>, tensor<i1>) -> tensor<i1>
      %14 = "stablehlo.compare"(%arg6, %arg8) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %15 = "stablehlo.compare"(%arg7, %arg9) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %16 = "stablehlo.and"(%14, %15) : (tensor<i1>, tensor<i1>) -> tensor<i1>
      %17 = "stablehlo.or"(%13, %16) : (tensor<i1>, tensor<i1>) -> tensor<i1>
      %18 = "stablehlo.select"(%13, %arg6, %arg8) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
      %19 = "stablehlo.select"(%17, %arg7, %arg9) : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
      "stablehlo.return"(%18, %19) : (tensor<f32>, tensor<i32>) -> ()
    }) : (tensor<4x3xf32>, tensor<4x3xi32>, tensor<f32>, tensor<i32>) -> (tensor<4xf32>, tensor<4xi32>)
    "func.return"(%10#1) : (tensor<4xi32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<4x3xf32>) -> tensor<4x2xcomplex<f32>>, sym_name = "fft", sym_visibility = "private"}> ({
  ^bb0(%arg4: tensor<4x3xf32>):
    %6 = "stablehlo.fft"(%arg4) <{fft_length = array<i64: 3>, fft_type = #stablehlo<fft_type RFFT>}> : (tensor<4x3xf32>) -> tensor<4x2xcomplex<f32>>
    "func.return"(%6) : (tensor<4x2xcomplex<f32>>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<4x3xf32>) -> tensor<12xf32>, sym_name = "cumsum", sym_visibility = "private"}> ({
  ^bb0(%arg3: tensor<4x3xf32>):
    %4 = "stablehlo.reshape"(%arg3) : (tensor<4x3xf32>) -> tensor<12xf32>
    %5 = "func.call"(%4) <{callee = @cumsum_0}> : (tensor<12xf32>) -> tensor<12xf32>
    "func.return"(%5) : (tensor<12xf32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<12xf32>) -> tensor<12xf32>, sym_name = "cumsum_0", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<12xf32>):
    %0 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %1 = "stablehlo.broadcast_in_dim"(%0) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<f32>
    %2 = "stablehlo.reduce_window"(%arg0, %1) <{base_dilations = array<i64: 1>, padding = dense<[[11, 0]]> : tensor<1x2xi64>, window_dilations = array<i64: 1>, window_dimensions = array<i64: 12>, window_strides = array<i64: 1>}> ({
    ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
      %3 = "stablehlo.add"(%arg1, %arg2) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%3) : (tensor<f32>) -> ()
    }) : (tensor<12xf32>, tensor<f32>) -> tensor<12xf32>
    "func.return"(%2) : (tensor<12xf32>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
