// A loop over a dimension of any size: stablehlo.real_dynamic_slice at an index, updates in place. As jax.export writes it; the results are those of jaxlib.
// RUN: hlo-run %s -q --engine=both --rtol=1e-5 --atol=1e-6 \
// RUN:   --input='f32[1,2,4] {{{-0.88, 0.36, 0.38, 0.15}, {-0.54, 0.33, -0.79, 0.26}}}' \
// RUN:   --input='f32[2,4] {{0.14, -0.29, -0.56, 0.45}, {-0.64, -0.69, 0.27, 0.32}}' \
// RUN:   --expect 'f32[2,4] {{-0.6291452, 0.0698859, -0.17808086, 0.5370496}, {-0.8274516, -0.345214, -0.4777, 0.52266544}}' \
// RUN:   --expect 'f32[1,2] {{-0.20029056, -1.1277001}}'
// RUN: hlo-run %s -q --engine=both --rtol=1e-5 --atol=1e-6 \
// RUN:   --input='f32[6,3,4] {{{-0.8, -0.48, -0.8, 0.83}, {-0.98, -0.3, -0.69, -0.07}, {0.81, 0.41, -0.28, -0.63}}, {{0.41, 0.08, 0.44, -0.91}, {-0.65, -0.36, -0.07, 0.14}, {0.12, 0.09, 0.13, -0.17}}, {{-0.44, 0.04, -0.76, 0.5}, {0.91, -0.89, 0.56, -0.55}, {-0.33, -0.93, 0.94, 0.12}}, {{-0.84, -0.36, 0.95, -0.88}, {0.84, -0.44, -0.84, 0.25}, {0.79, -0.27, -0.31, -0.48}}, {{-0.38, -0.86, 0.01, -0.32}, {-0.67, 0.44, 0.79, 0.61}, {-0.73, 0.83, -0.18, 0.83}}, {{-0.83, 0.97, -0.81, 0.49}, {0.43, 0.51, -0.51, 0.5}, {0.03, -0.91, -0.8, -0.44}}}' \
// RUN:   --input='f32[3,4] {{0.69, -0.15, -0.45, 0.07}, {-0.34, -0.38, -0.6, -0.3}, {-0.67, 0.15, -0.25, -0.92}}' \
// RUN:   --expect 'f32[3,4] {{-0.9279074, 0.06629776, -0.5839933, -0.19498074}, {0.4192599, 0.097860895, -0.450376, 0.6248713}, {-0.08632603, -0.5744894, -0.63964313, -0.3788607}}' \
// RUN:   --expect 'f32[6,3] {{-0.7995964, -2.6714218, -0.75209665}, {-0.7312955, -2.5895762, -0.34668252}, {-1.048677, -1.7343645, -0.5033022}, {-1.7784564, -1.328864, -0.52171165}, {-2.2627358, -0.1372456, 0.22296202}, {-1.6405836, 0.69161606, -1.6793194}}'

module @jit_scan attributes {jax.uses_shape_polymorphism = true, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<?x?x4xf32>, %arg1: tensor<?x4xf32>) -> (tensor<?x4xf32> {jax.result_info = "result[0]"}, tensor<?x?xf32> {jax.result_info = "result[1]"}) {
    %c = stablehlo.constant dense<1> : tensor<i32>
    %0 = stablehlo.get_dimension_size %arg0, dim = 0 : (tensor<?x?x4xf32>) -> tensor<i32>
    %1 = stablehlo.get_dimension_size %arg0, dim = 1 : (tensor<?x?x4xf32>) -> tensor<i32>
    %2 = stablehlo.get_dimension_size %arg1, dim = 0 : (tensor<?x4xf32>) -> tensor<i32>
    %3 = stablehlo.compare GE, %0, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.custom_call @shape_assertion(%3, %0) {api_version = 2 : i32, error_message = "Input shapes do not match the polymorphic shapes specification. Expected value >= 1 for dimension variable 't'. Using the following polymorphic shapes specifications: args[0].shape = (t, b, 4),args[1].shape = (b, 4). Obtained dimension variables: 't' = {0} from specification 't' for dimension args[0].shape[0] (= {0}), . ", has_side_effect = true} : (tensor<i1>, tensor<i32>) -> ()
    %4 = stablehlo.compare GE, %1, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.custom_call @shape_assertion(%4, %0, %1) {api_version = 2 : i32, error_message = "Input shapes do not match the polymorphic shapes specification. Expected value >= 1 for dimension variable 'b'. Using the following polymorphic shapes specifications: args[0].shape = (t, b, 4),args[1].shape = (b, 4). Obtained dimension variables: 't' = {0} from specification 't' for dimension args[0].shape[0] (= {0}), 'b' = {1} from specification 'b' for dimension args[0].shape[1] (= {1}), . ", has_side_effect = true} : (tensor<i1>, tensor<i32>, tensor<i32>) -> ()
    %5 = stablehlo.compare EQ, %2, %1, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.custom_call @shape_assertion(%5, %2, %1, %0) {api_version = 2 : i32, error_message = "Input shapes do not match the polymorphic shapes specification. Found inconsistency between dimension size args[1].shape[0] (= {0}) and the specification 'b' (= {1}). Using the following polymorphic shapes specifications: args[0].shape = (t, b, 4),args[1].shape = (b, 4). Obtained dimension variables: 't' = {2} from specification 't' for dimension args[0].shape[0] (= {2}), 'b' = {1} from specification 'b' for dimension args[0].shape[1] (= {1}), . ", has_side_effect = true} : (tensor<i1>, tensor<i32>, tensor<i32>, tensor<i32>) -> ()
    %6:2 = call @_wrapped_jax_export_main(%1, %0, %arg0, %arg1) : (tensor<i32>, tensor<i32>, tensor<?x?x4xf32>, tensor<?x4xf32>) -> (tensor<?x4xf32>, tensor<?x?xf32>)
    return %6#0, %6#1 : tensor<?x4xf32>, tensor<?x?xf32>
  }
  func.func private @_wrapped_jax_export_main(%arg0: tensor<i32> {jax.global_constant = "b"}, %arg1: tensor<i32> {jax.global_constant = "t"}, %arg2: tensor<?x?x4xf32>, %arg3: tensor<?x4xf32>) -> (tensor<?x4xf32> {jax.result_info = "result[0]"}, tensor<?x?xf32> {jax.result_info = "result[1]"}) {
    %c = stablehlo.constant dense<1> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
    %1 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %2 = stablehlo.concatenate %0, %1, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %3 = stablehlo.dynamic_broadcast_in_dim %cst, %2, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x?xf32>
    %4:4 = stablehlo.while(%iterArg = %arg2, %iterArg_1 = %c_0, %iterArg_2 = %arg3, %iterArg_3 = %3) : tensor<?x?x4xf32>, tensor<i32>, tensor<?x4xf32>, tensor<?x?xf32>
    cond {
      %5 = stablehlo.compare LT, %iterArg_1, %arg1, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %5 : tensor<i1>
    } do {
      %5 = func.call @dynamic_index_in_dim(%arg0, %arg1, %iterArg, %iterArg_1) : (tensor<i32>, tensor<i32>, tensor<?x?x4xf32>, tensor<i32>) -> tensor<?x4xf32>
      %6:2 = func.call @closed_call(%arg0, %arg1, %iterArg_2, %5) : (tensor<i32>, tensor<i32>, tensor<?x4xf32>, tensor<?x4xf32>) -> (tensor<?x4xf32>, tensor<?xf32>)
      %7 = func.call @dynamic_update_index_in_dim(%arg0, %arg1, %iterArg_3, %6#1, %iterArg_1) : (tensor<i32>, tensor<i32>, tensor<?x?xf32>, tensor<?xf32>, tensor<i32>) -> tensor<?x?xf32>
      %8 = stablehlo.add %iterArg_1, %c : tensor<i32>
      stablehlo.return %iterArg, %8, %6#0, %7 : tensor<?x?x4xf32>, tensor<i32>, tensor<?x4xf32>, tensor<?x?xf32>
    }
    return %4#2, %4#3 : tensor<?x4xf32>, tensor<?x?xf32>
  }
  func.func private @dynamic_index_in_dim(%arg0: tensor<i32> {jax.global_constant = "b"}, %arg1: tensor<i32> {jax.global_constant = "t"}, %arg2: tensor<?x?x4xf32>, %arg3: tensor<i32>) -> tensor<?x4xf32> {
    %c = stablehlo.constant dense<0> : tensor<1xi32>
    %c_0 = stablehlo.constant dense<4> : tensor<1xi32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %c_2 = stablehlo.constant dense<1> : tensor<1xi32>
    %0 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %1 = stablehlo.concatenate %c_2, %0, %c_0, dim = 0 : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<3xi32>
    %2 = stablehlo.concatenate %c, %c, %c, dim = 0 : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<3xi32>
    %3 = stablehlo.reshape %arg3 : (tensor<i32>) -> tensor<1xi32>
    %4 = stablehlo.reshape %c_1 : (tensor<i32>) -> tensor<1xi32>
    %5 = stablehlo.reshape %c_1 : (tensor<i32>) -> tensor<1xi32>
    %6 = stablehlo.concatenate %3, %4, %5, dim = 0 : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<3xi32>
    %7 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
    %8 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %9 = stablehlo.concatenate %7, %8, %c_0, dim = 0 : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<3xi32>
    %10 = stablehlo.subtract %9, %1 : tensor<3xi32>
    %11 = stablehlo.clamp %2, %6, %10 : tensor<3xi32>
    %12 = stablehlo.add %11, %1 : tensor<3xi32>
    %13 = stablehlo.concatenate %c_2, %c_2, %c_2, dim = 0 : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<3xi32>
    %14 = stablehlo.real_dynamic_slice %arg2, %11, %12, %13 : (tensor<?x?x4xf32>, tensor<3xi32>, tensor<3xi32>, tensor<3xi32>) -> tensor<1x?x4xf32>
    %15 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %16 = stablehlo.concatenate %15, %c_0, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %17 = stablehlo.dynamic_reshape %14, %16 : (tensor<1x?x4xf32>, tensor<2xi32>) -> tensor<?x4xf32>
    return %17 : tensor<?x4xf32>
  }
  func.func private @closed_call(%arg0: tensor<i32> {jax.global_constant = "b"}, %arg1: tensor<i32> {jax.global_constant = "t"}, %arg2: tensor<?x4xf32>, %arg3: tensor<?x4xf32>) -> (tensor<?x4xf32>, tensor<?xf32>) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.add %arg2, %arg3 : tensor<?x4xf32>
    %1 = stablehlo.tanh %0 : tensor<?x4xf32>
    %2 = stablehlo.reduce(%1 init: %cst) applies stablehlo.add across dimensions = [1] : (tensor<?x4xf32>, tensor<f32>) -> tensor<?xf32>
    return %1, %2 : tensor<?x4xf32>, tensor<?xf32>
  }
  func.func private @dynamic_update_index_in_dim(%arg0: tensor<i32> {jax.global_constant = "b"}, %arg1: tensor<i32> {jax.global_constant = "t"}, %arg2: tensor<?x?xf32>, %arg3: tensor<?xf32>, %arg4: tensor<i32>) -> tensor<?x?xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<1> : tensor<1xi32>
    %0 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %1 = stablehlo.concatenate %c_0, %0, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %2 = stablehlo.dynamic_broadcast_in_dim %arg3, %1, dims = [1] : (tensor<?xf32>, tensor<2xi32>) -> tensor<1x?xf32>
    %3 = stablehlo.dynamic_update_slice %arg2, %2, %arg4, %c : (tensor<?x?xf32>, tensor<1x?xf32>, tensor<i32>, tensor<i32>) -> tensor<?x?xf32>
    return %3 : tensor<?x?xf32>
  }
}
