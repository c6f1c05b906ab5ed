// Two unknown sizes in one result. As jax.export writes it; the results are those of jaxlib.
// RUN: hlo-run %s -q --engine=both --rtol=1e-5 --atol=1e-6 \
// RUN:   --input='f32[1,4] {{-0.65, 0.04, -0.56, 0.31}}' \
// RUN:   --input='f32[2,4] {{-0.39, 0.99, -0.78, 0.13}, {-0.63, -0.41, 0.72, 0.0}}' \
// RUN:   --expect 'f32[4,4] {{-0.65, 0.04, -0.56, 0.31}, {-0.39, 0.99, -0.78, 0.13}, {-0.63, -0.41, 0.72, 0.0}, {-0.65, 0.04, -0.56, 0.31}}'
// RUN: hlo-run %s -q --engine=both --rtol=1e-5 --atol=1e-6 \
// RUN:   --input='f32[3,4] {{-0.82, 0.46, -0.11, -0.83}, {-0.03, -0.11, 0.17, -0.13}, {0.2, 0.41, 0.98, 0.12}}' \
// RUN:   --input='f32[3,4] {{-0.12, 0.42, 0.83, -0.95}, {-0.93, 0.95, 0.09, -0.9}, {0.32, -0.81, -0.79, -0.19}}' \
// RUN:   --expect 'f32[9,4] {{-0.82, 0.46, -0.11, -0.83}, {-0.03, -0.11, 0.17, -0.13}, {0.2, 0.41, 0.98, 0.12}, {-0.12, 0.42, 0.83, -0.95}, {-0.93, 0.95, 0.09, -0.9}, {0.32, -0.81, -0.79, -0.19}, {-0.82, 0.46, -0.11, -0.83}, {-0.03, -0.11, 0.17, -0.13}, {0.2, 0.41, 0.98, 0.12}}'

module @jit__lambda attributes {jax.uses_shape_polymorphism = true, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<?x4xf32>, %arg1: tensor<?x4xf32>) -> (tensor<?x4xf32>) {
    %c = stablehlo.constant dense<1> : tensor<i32>
    %0 = stablehlo.get_dimension_size %arg0, dim = 0 : (tensor<?x4xf32>) -> tensor<i32>
    %1 = stablehlo.get_dimension_size %arg1, dim = 0 : (tensor<?x4xf32>) -> tensor<i32>
    %2 = stablehlo.compare GE, %0, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.custom_call @shape_assertion(%2, %0) {api_version = 2 : i32, error_message = "Input shapes do not match the polymorphic shapes specification. Expected value >= 1 for dimension variable 'a'. Using the following polymorphic shapes specifications: args[0].shape = (a, 4),args[1].shape = (b, 4). Obtained dimension variables: 'a' = {0} from specification 'a' for dimension args[0].shape[0] (= {0}), . ", has_side_effect = true} : (tensor<i1>, tensor<i32>) -> ()
    %3 = stablehlo.compare GE, %1, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.custom_call @shape_assertion(%3, %0, %1) {api_version = 2 : i32, error_message = "Input shapes do not match the polymorphic shapes specification. Expected value >= 1 for dimension variable 'b'. Using the following polymorphic shapes specifications: args[0].shape = (a, 4),args[1].shape = (b, 4). Obtained dimension variables: 'a' = {0} from specification 'a' for dimension args[0].shape[0] (= {0}), 'b' = {1} from specification 'b' for dimension args[1].shape[0] (= {1}), . ", has_side_effect = true} : (tensor<i1>, tensor<i32>, tensor<i32>) -> ()
    %4 = call @_wrapped_jax_export_main(%0, %1, %arg0, %arg1) : (tensor<i32>, tensor<i32>, tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
    return %4 : tensor<?x4xf32>
  }
  func.func private @_wrapped_jax_export_main(%arg0: tensor<i32> {jax.global_constant = "a"}, %arg1: tensor<i32> {jax.global_constant = "b"}, %arg2: tensor<?x4xf32>, %arg3: tensor<?x4xf32>) -> (tensor<?x4xf32>) {
    %0 = stablehlo.concatenate %arg2, %arg3, %arg2, dim = 0 : (tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
    return %0 : tensor<?x4xf32>
  }
}
