// A branch that computes with a size. As jax.export writes it; the results are those of jaxlib.
// RUN: hlo-run %s -q --engine=both --rtol=1e-5 --atol=1e-6 \
// RUN:   --input='pred[] false' \
// RUN:   --input='f32[1,4] {{-0.84, 0.83, -0.14, -0.01}}' \
// RUN:   --expect 'f32[1,4] {{-0.84, 0.83, -0.14, -0.01}}'
// RUN: hlo-run %s -q --engine=both --rtol=1e-5 --atol=1e-6 \
// RUN:   --input='pred[] true' \
// RUN:   --input='f32[6,4] {{-0.43, 0.87, -0.6, 0.56}, {0.05, -0.37, 0.36, 0.59}, {0.76, -0.88, -0.96, -0.46}, {-0.34, -0.46, -0.62, -0.44}, {0.46, -0.28, 0.17, 0.1}, {0.63, 0.33, 0.64, 0.11}}' \
// RUN:   --expect 'f32[6,4] {{0.57, 1.87, 0.39999998, 1.56}, {1.05, 0.63, 1.36, 1.5899999}, {1.76, 0.120000005, 0.04000002, 0.53999996}, {0.65999997, 0.53999996, 0.38, 0.56}, {1.46, 0.72, 1.17, 1.1}, {1.63, 1.33, 1.64, 1.11}}'

module @jit__lambda attributes {jax.uses_shape_polymorphism = true, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<i1>, %arg1: tensor<?x4xf32>) -> (tensor<?x4xf32>) {
    %c = stablehlo.constant dense<1> : tensor<i32>
    %0 = stablehlo.get_dimension_size %arg1, dim = 0 : (tensor<?x4xf32>) -> tensor<i32>
    %1 = stablehlo.compare GE, %0, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.custom_call @shape_assertion(%1, %0) {api_version = 2 : i32, error_message = "Input shapes do not match the polymorphic shapes specification. Expected value >= 1 for dimension variable 'b'. Using the following polymorphic shapes specifications: args[1].shape = (b, 4). Obtained dimension variables: 'b' = {0} from specification 'b' for dimension args[1].shape[0] (= {0}), . ", has_side_effect = true} : (tensor<i1>, tensor<i32>) -> ()
    %2 = call @_wrapped_jax_export_main(%0, %arg0, %arg1) : (tensor<i32>, tensor<i1>, tensor<?x4xf32>) -> tensor<?x4xf32>
    return %2 : tensor<?x4xf32>
  }
  func.func private @_wrapped_jax_export_main(%arg0: tensor<i32> {jax.global_constant = "b"}, %arg1: tensor<i1>, %arg2: tensor<?x4xf32>) -> (tensor<?x4xf32>) {
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %c = stablehlo.constant dense<4> : tensor<1xi32>
    %0 = stablehlo.convert %arg1 : (tensor<i1>) -> tensor<i32>
    %1 = "stablehlo.case"(%0) ({
      %2 = stablehlo.convert %arg0 : (tensor<i32>) -> tensor<f32>
      %3 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
      %4 = stablehlo.concatenate %3, %c, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
      %5 = stablehlo.dynamic_broadcast_in_dim %2, %4, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x4xf32>
      %6 = stablehlo.multiply %arg2, %5 : tensor<?x4xf32>
      stablehlo.return %6 : tensor<?x4xf32>
    }, {
      %2 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
      %3 = stablehlo.concatenate %2, %c, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
      %4 = stablehlo.dynamic_broadcast_in_dim %cst, %3, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x4xf32>
      %5 = stablehlo.add %arg2, %4 : tensor<?x4xf32>
      stablehlo.return %5 : tensor<?x4xf32>
    }) : (tensor<i32>) -> tensor<?x4xf32>
    return %1 : tensor<?x4xf32>
  }
}
