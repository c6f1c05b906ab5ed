"builtin.module"() <{sym_name = "jit_numbers"}> ({
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<9xf32>) -> (tensor<9xi4>, tensor<9xf8E4M3FN>, tensor<9xbf16>, tensor<9xf32>, tensor<9xf32>, tensor<2xf32>, tensor<2xi32>, tensor<9xui8>, tensor<5xcomplex<f32>>), res_attrs = [{jax.result_info = "result[0]"}, {jax.result_info = "result[1]"}, {jax.result_info = "result[2]"}, {jax.result_info = "result[3]"}, {jax.result_info = "result[4]"}, {jax.result_info = "result[5][0]"}, {jax.result_info = "result[5][1]"}, {jax.result_info = "result[6]"}, {jax.result_info = "result[7]"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg9: tensor<9xf32>):
    %7 = "stablehlo.constant"() <{value = dense<255> : tensor<ui8>}> : () -> tensor<ui8>
    %8 = "stablehlo.constant"() <{value = dense<(1.000000e+00,2.000000e+00)> : tensor<complex<f32>>}> : () -> tensor<complex<f32>>
    %9 = "stablehlo.constant"() <{value = dense<3.000000e+00> : tensor<bf16>}> : () -> tensor<bf16>
    %10 = "stablehlo.constant"() <{value = dense<[true, false, true, true, false, false, true, false, true]> : tensor<9xi1>}> : () -> tensor<9xi1>
    %11 = "stablehlo.constant"() <{value = dense<[0.000000e+00, 2.500000e-01, 5.000000e-01, 7.500000e-01, 1.000000e+00, 1.250000e+00, 1.500000e+00, 1.750000e+00, 2.000000e+00]> : tensor<9xf32>}> : () -> tensor<9xf32>
    %12 = "func.call"(%10, %arg9, %11) <{callee = @_where}> : (tensor<9xi1>, tensor<9xf32>, tensor<9xf32>) -> tensor<9xf32>
    %13 = "stablehlo.convert"(%12) : (tensor<9xf32>) -> tensor<9xi4>
    %14 = "stablehlo.convert"(%12) : (tensor<9xf32>) -> tensor<9xf8E4M3FN>
    %15 = "stablehlo.convert"(%12) : (tensor<9xf32>) -> tensor<9xbf16>
    %16 = "stablehlo.broadcast_in_dim"(%9) <{broadcast_dimensions = array<i64>}> : (tensor<bf16>) -> tensor<9xbf16>
    %17 = "stablehlo.multiply"(%15, %16) : (tensor<9xbf16>, tensor<9xbf16>) -> tensor<9xbf16>
    %18 = "stablehlo.exponential"(%arg9) <{result_accuracy = #stablehlo.result_accuracy<atol = 1.000000e-05, ulps = 2, mode = #stablehlo.result_accuracy_mode<TOLERANCE>>}> : (tensor<9xf32>) -> tensor<9xf32>
    %19 = "stablehlo.convert"(%arg9) : (tensor<9xf32>) -> tensor<9xcomplex<f32>>
    %20 = "stablehlo.broadcast_in_dim"(%8) <{broadcast_dimensions = array<i64>}> : (tensor<complex<f32>>) -> tensor<9xcomplex<f32>>
    %21 = "stablehlo.multiply"(%19, %20) : (tensor<9xcomplex<f32>>, tensor<9xcomplex<f32>>) -> tensor<9xcomplex<f32>>
    %22 = "stablehlo.imag"(%21) : (tensor<9xcomplex<f32>>) -> tensor<9xf32>
    %23:2 = "stablehlo.composite"(%arg9) <{composite_attributes = {k = 2 : i64}, decomposition = @chlo.top_k.impl, name = "chlo.top_k", version = 1 : i32}> : (tensor<9xf32>) -> (tensor<2xf32>, tensor<2xi32>)
    %24 = "stablehlo.convert"(%arg9) : (tensor<9xf32>) -> tensor<9xui8>
    %25 = "stablehlo.broadcast_in_dim"(%7) <{broadcast_dimensions = array<i64>}> : (tensor<ui8>) -> tensor<9xui8>
    %26 = "stablehlo.add"(%24, %25) : (tensor<9xui8>, tensor<9xui8>) -> tensor<9xui8>
    %27 = "func.call"(%arg9) <{callee = @fft}> : (tensor<9xf32>) -> tensor<5xcomplex<f32>>
    "func.return"(%13, %14, %17, %18, %22, %23#0, %23#1, %26, %27) : (tensor<9xi4>, tensor<9xf8E4M3FN>, tensor<9xbf16>, tensor<9xf32>, tensor<9xf32>, tensor<2xf32>, tensor<2xi32>, tensor<9xui8>, tensor<5xcomplex<f32>>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<9xf32>) -> (tensor<2xf32>, tensor<2xi32>), sym_name = "chlo.top_k.impl", sym_visibility = "private"}> ({
  ^bb0(%arg4: tensor<9xf32>):
    %2 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<9xi32>
    %3:2 = "stablehlo.sort"(%arg4, %2) <{dimension = 0 : i64, is_stable = true}> ({
    ^bb0(%arg5: tensor<f32>, %arg6: tensor<f32>, %arg7: tensor<i32>, %arg8: tensor<i32>):
      %6 = "stablehlo.compare"(%arg5, %arg6) <{compare_type = #stablehlo<comparison_type TOTALORDER>, comparison_direction = #stablehlo<comparison_direction GT>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
      "stablehlo.return"(%6) : (tensor<i1>) -> ()
    }) : (tensor<9xf32>, tensor<9xi32>) -> (tensor<9xf32>, tensor<9xi32>)
    %4 = "stablehlo.slice"(%3#0) <{limit_indices = array<i64: 2>, start_indices = array<i64: 0>, strides = array<i64: 1>}> : (tensor<9xf32>) -> tensor<2xf32>
    %5 = "stablehlo.slice"(%3#1) <{limit_indices = array<i64: 2>, start_indices = array<i64: 0>, strides = array<i64: 1>}> : (tensor<9xi32>) -> tensor<2xi32>
    "func.return"(%4, %5) : (tensor<2xf32>, tensor<2xi32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}, {}], function_type = (tensor<9xi1>, tensor<9xf32>, tensor<9xf32>) -> tensor<9xf32>, res_attrs = [{}], sym_name = "_where", sym_visibility = "private"}> ({
  ^bb0(%arg1: tensor<9xi1>, %arg2: tensor<9xf32>, %arg3: tensor<9xf32>):
    %1 = "stablehlo.select"(%arg1, %arg2, %arg3) : (tensor<9xi1>, tensor<9xf32>, tensor<9xf32>) -> tensor<9xf32>
    "func.return"(%1) : (tensor<9xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<9xf32>) -> tensor<5xcomplex<f32>>, res_attrs = [{}], sym_name = "fft", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<9xf32>):
    %0 = "stablehlo.fft"(%arg0) <{fft_length = array<i64: 9>, fft_type = #stablehlo<fft_type RFFT>}> : (tensor<9xf32>) -> tensor<5xcomplex<f32>>
    "func.return"(%0) : (tensor<5xcomplex<f32>>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
