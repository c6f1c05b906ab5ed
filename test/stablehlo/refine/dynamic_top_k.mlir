// The number of elements follows from a size: stablehlo.dynamic_top_k. As jax.export writes it; the results are those of jaxlib.
// RUN: hlo-run %s -q --engine=both --rtol=1e-5 --atol=1e-6 \
// RUN:   --input='f32[4,3] {{-0.18, -0.55, 0.19}, {0.68, 0.49, -0.75}, {0.0, -0.07, -0.12}, {-0.26, 0.37, -0.76}}' \
// RUN:   --expect 'f32[4,2] {{0.19, -0.18}, {0.68, 0.49}, {0.0, -0.07}, {0.37, -0.26}}' \
// RUN:   --expect 's32[4,2] {{2, 0}, {0, 1}, {0, 1}, {1, 0}}'
// RUN: hlo-run %s -q --engine=both --rtol=1e-5 --atol=1e-6 \
// RUN:   --input='f32[4,9] {{-0.9, 0.29, -0.6, -0.28, 0.84, -0.72, 0.7, -0.19, -0.62}, {0.97, 0.22, -0.56, 0.53, -0.26, 0.06, -0.29, -0.67, 0.66}, {0.41, -0.48, 0.06, -0.97, 0.69, -0.56, -0.38, 0.78, -0.61}, {0.35, -0.89, 0.14, 0.54, 0.13, 0.99, 0.18, -0.16, -0.41}}' \
// RUN:   --expect 'f32[4,8] {{0.84, 0.7, 0.29, -0.19, -0.28, -0.6, -0.62, -0.72}, {0.97, 0.66, 0.53, 0.22, 0.06, -0.26, -0.29, -0.56}, {0.78, 0.69, 0.41, 0.06, -0.38, -0.48, -0.56, -0.61}, {0.99, 0.54, 0.35, 0.18, 0.14, 0.13, -0.16, -0.41}}' \
// RUN:   --expect 's32[4,8] {{4, 6, 1, 7, 3, 2, 8, 5}, {0, 8, 3, 1, 5, 4, 6, 2}, {7, 4, 0, 2, 6, 1, 5, 8}, {5, 3, 0, 6, 2, 4, 7, 8}}'

module @jit__lambda attributes {jax.uses_shape_polymorphism = true, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4x?xf32>) -> (tensor<4x?xf32> {jax.result_info = "result[0]"}, tensor<4x?xi32> {jax.result_info = "result[1]"}) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<-2> : tensor<i32>
    %c_1 = stablehlo.constant dense<1> : tensor<i32>
    %0 = stablehlo.get_dimension_size %arg0, dim = 1 : (tensor<4x?xf32>) -> tensor<i32>
    %1 = stablehlo.compare GE, %0, %c_1, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.custom_call @shape_assertion(%1, %0) {api_version = 2 : i32, error_message = "Input shapes do not match the polymorphic shapes specification. Expected value >= 1 for dimension variable 'n'. Using the following polymorphic shapes specifications: args[0].shape = (4, n). Obtained dimension variables: 'n' = {0} from specification 'n' for dimension args[0].shape[1] (= {0}), . ", has_side_effect = true} : (tensor<i1>, tensor<i32>) -> ()
    %2 = stablehlo.convert %0 : tensor<i32>
    %3 = stablehlo.add %2, %c_0 : tensor<i32>
    %4 = stablehlo.compare GE, %3, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %5 = stablehlo.convert %0 : tensor<i32>
    %6 = stablehlo.add %5, %c_0 : tensor<i32>
    stablehlo.custom_call @shape_assertion(%4, %6, %0) {api_version = 2 : i32, error_message = "Input shapes do not match the symbolic shape constraint n >= 2. Expected 'n - 2' to be greater or equal to 0, but found {0}.  Using the following polymorphic shapes specifications: args[0].shape = (4, n). Obtained dimension variables: 'n' = {1} from specification 'n' for dimension args[0].shape[1] (= {1}), . ", has_side_effect = true} : (tensor<i1>, tensor<i32>, tensor<i32>) -> ()
    %7:2 = call @_wrapped_jax_export_main(%0, %arg0) : (tensor<i32>, tensor<4x?xf32>) -> (tensor<4x?xf32>, tensor<4x?xi32>)
    return %7#0, %7#1 : tensor<4x?xf32>, tensor<4x?xi32>
  }
  func.func private @_wrapped_jax_export_main(%arg0: tensor<i32> {jax.global_constant = "n"}, %arg1: tensor<4x?xf32>) -> (tensor<4x?xf32> {jax.result_info = "result[0]"}, tensor<4x?xi32> {jax.result_info = "result[1]"}) {
    %c = stablehlo.constant dense<-1> : tensor<i32>
    %0 = stablehlo.convert %arg0 : tensor<i32>
    %1 = stablehlo.add %0, %c : tensor<i32>
    %2:2 = stablehlo.custom_call @stablehlo.dynamic_top_k(%arg1, %1) {api_version = 2 : i32} : (tensor<4x?xf32>, tensor<i32>) -> (tensor<4x?xf32>, tensor<4x?xi32>)
    return %2#0, %2#1 : tensor<4x?xf32>, tensor<4x?xi32>
  }
}
